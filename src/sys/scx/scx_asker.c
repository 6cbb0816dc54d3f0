#include "sys/scx/scx_asker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/worker.h"
#include "sys/scx/scx_stats.h"

#define ASK_EVERY_NS 1000000000ULL
#define NS_PER_MS    1000000ULL
#define TIMEOUT_MS   1000
#define REASON_BYTES 512

struct scx_asker {
	char *path;
	struct worker *worker; /* its lock is for all below but what the caller was lent */
	bool is_wanted;
	int fd; /* the connection; -1 = none. The thread alone opens and closes it */
	bool is_new;
	char *text;
	char reason[REASON_BYTES];
	uint64_t at_ns;
	/* Lent. */
	char *lent_text;
	char lent_reason[REASON_BYTES];
	uint64_t lent_at_ns;
};

static void set_fd(struct worker *w, struct scx_asker *a, int fd)
{
	int old;

	worker_lock(w);
	old = a->fd;
	a->fd = fd;
	worker_unlock(w);
	if (old >= 0)
		close(old);
}

static int ask(struct worker *w, struct scx_asker *a, struct diag *d, char **out)
{
	char *json = NULL;
	int err = 0, fd = a->fd;

	if (fd < 0) {
		err = scx_stats_connect(a->path, d, &fd);
		if (err)
			return err;
		set_fd(w, a, fd);
	}
	err = scx_stats_ask_on(fd, "stats", TIMEOUT_MS, d, &json);
	if (err) {
		set_fd(w, a, -1);
		return err;
	}
	*out = scx_stats_pretty(json);
	free(json);
	return *out ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

/* The lock is held, here and below. */
static void note(struct scx_asker *a, char *text, const struct diag *d)
{
	free(a->text);
	a->text = text;
	a->reason[0] = '\0';
	if (!text)
		diag_format(d, a->reason, sizeof(a->reason));
	a->at_ns = clock_boot_ns();
	a->is_new = true;
}

static void wait_until(struct worker *w, const struct scx_asker *a, uint64_t until_ns)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	while (!worker_is_cancelled(w) && (!a->is_wanted || now_ns < until_ns)) {
		worker_wait(w, a->is_wanted ? (until_ns - now_ns) / NS_PER_MS + 1 : WORKER_FOREVER);
		now_ns = clock_read_ns(CLOCK_MONOTONIC);
	}
}

static void run(struct worker *w, void *state)
{
	struct scx_asker *a = state;
	uint64_t next_ns = 0;

	worker_lock(w);
	for (;;) {
		struct diag d = { 0 };
		char *text = NULL;

		wait_until(w, a, next_ns);
		if (worker_is_cancelled(w))
			break;
		worker_unlock(w);
		next_ns = clock_read_ns(CLOCK_MONOTONIC) + ASK_EVERY_NS;
		if (ask(w, a, &d, &text))
			text = NULL;
		worker_lock(w);
		note(a, text, &d);
	}
	worker_unlock(w);
	set_fd(w, a, -1);
}

static void release(void *state)
{
	struct scx_asker *a = state;

	free(a->path);
	free(a->text);
	free(a->lent_text);
	free(a);
}

int scx_asker_open(const char *path, struct scx_asker **out)
{
	const struct worker_job job = { .run = run, .free = release };
	struct scx_asker *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->fd = -1;
	a->path = strdup(path);
	err = a->path ? worker_start(&job, a, &a->worker) : -ENOMEM;
	if (err) {
		release(a);
		return err;
	}
	*out = a;
	return 0;
}

void scx_asker_close(struct scx_asker *a)
{
	if (!a)
		return;
	worker_cancel(a->worker);
	worker_lock(a->worker);
	if (a->fd >= 0) /* the waiting thread wakes up */
		(void)shutdown(a->fd, SHUT_RDWR);
	worker_unlock(a->worker);
	worker_end(a->worker);
}

void scx_asker_want(struct scx_asker *a, bool is_wanted)
{
	worker_lock(a->worker);
	if (a->is_wanted != is_wanted) {
		a->is_wanted = is_wanted;
		worker_signal(a->worker);
	}
	worker_unlock(a->worker);
}

struct scx_answer scx_asker_answer(struct scx_asker *a)
{
	worker_lock(a->worker);
	if (a->is_new) {
		free(a->lent_text);
		a->lent_text = a->text;
		a->text = NULL;
		memcpy(a->lent_reason, a->reason, sizeof(a->reason));
		a->lent_at_ns = a->at_ns;
		a->is_new = false;
	}
	worker_unlock(a->worker);
	return (struct scx_answer){
		.text = a->lent_text,
		.reason = a->lent_reason[0] ? a->lent_reason : NULL,
		.at_ns = a->lent_at_ns,
	};
}
