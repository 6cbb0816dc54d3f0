#include "session/scx_asker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/thread.h"
#include "sys/scx_stats.h"

#define ASK_EVERY_NS 1000000000ULL
#define TIMEOUT_MS   1000
#define REASON_BYTES 512

struct scx_asker {
	char *path;
	pthread_t thread;
	pthread_mutex_t lock; /* for all below but what the caller was lent */
	pthread_cond_t change;
	bool is_wanted, is_over;
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

static void set_fd(struct scx_asker *a, int fd)
{
	int old;

	pthread_mutex_lock(&a->lock);
	old = a->fd;
	a->fd = fd;
	pthread_mutex_unlock(&a->lock);
	if (old >= 0)
		close(old);
}

static int ask(struct scx_asker *a, struct diag *d, char **out)
{
	char *json = NULL;
	int err = 0, fd = a->fd;

	if (fd < 0) {
		err = scx_stats_connect(a->path, d, &fd);
		if (err)
			return err;
		set_fd(a, fd);
	}
	err = scx_stats_ask_on(fd, "stats", TIMEOUT_MS, d, &json);
	if (err) {
		set_fd(a, -1);
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

static void wait_until(struct scx_asker *a, uint64_t until_ns)
{
	while (!a->is_over && (!a->is_wanted || clock_read_ns(CLOCK_MONOTONIC) < until_ns)) {
		struct timespec at = { (time_t)(until_ns / 1000000000ULL),
			               (long)(until_ns % 1000000000ULL) };

		if (a->is_wanted)
			(void)pthread_cond_timedwait(&a->change, &a->lock, &at);
		else
			(void)pthread_cond_wait(&a->change, &a->lock);
	}
}

static void *run(void *ctx)
{
	struct scx_asker *a = ctx;
	uint64_t next_ns = 0;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		struct diag d = { 0 };
		char *text = NULL;

		wait_until(a, next_ns);
		if (a->is_over)
			break;
		pthread_mutex_unlock(&a->lock);
		next_ns = clock_read_ns(CLOCK_MONOTONIC) + ASK_EVERY_NS;
		if (ask(a, &d, &text))
			text = NULL;
		pthread_mutex_lock(&a->lock);
		note(a, text, &d);
	}
	pthread_mutex_unlock(&a->lock);
	set_fd(a, -1);
	return NULL;
}

static int start(struct scx_asker *a)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->change, &attr);
	pthread_condattr_destroy(&attr);
	return thread_start(&a->thread, run, a);
}

int scx_asker_open(const char *path, struct scx_asker **out)
{
	struct scx_asker *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->fd = -1;
	a->path = strdup(path);
	err = a->path ? start(a) : -ENOMEM;
	if (err) {
		free(a->path);
		free(a);
		return err;
	}
	*out = a;
	return 0;
}

void scx_asker_close(struct scx_asker *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->is_over = true;
	if (a->fd >= 0) /* who waits for an answer wakes up */
		(void)shutdown(a->fd, SHUT_RDWR);
	pthread_cond_signal(&a->change);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_cond_destroy(&a->change);
	pthread_mutex_destroy(&a->lock);
	free(a->path);
	free(a->text);
	free(a->lent_text);
	free(a);
}

void scx_asker_want(struct scx_asker *a, bool is_wanted)
{
	pthread_mutex_lock(&a->lock);
	if (a->is_wanted != is_wanted) {
		a->is_wanted = is_wanted;
		pthread_cond_signal(&a->change);
	}
	pthread_mutex_unlock(&a->lock);
}

struct scx_answer scx_asker_answer(struct scx_asker *a)
{
	pthread_mutex_lock(&a->lock);
	if (a->is_new) {
		free(a->lent_text);
		a->lent_text = a->text;
		a->text = NULL;
		memcpy(a->lent_reason, a->reason, sizeof(a->reason));
		a->lent_at_ns = a->at_ns;
		a->is_new = false;
	}
	pthread_mutex_unlock(&a->lock);
	return (struct scx_answer){
		.text = a->lent_text,
		.reason = a->lent_reason[0] ? a->lent_reason : NULL,
		.at_ns = a->lent_at_ns,
	};
}
