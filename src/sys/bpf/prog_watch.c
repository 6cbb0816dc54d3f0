#include "session/prog_watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL

struct prog_watch {
	pthread_mutex_t lock;
	pthread_cond_t change;
	pthread_t thread;
	bool has_thread;
	bool is_running;
	bool is_ending;
	uint64_t interval_ms;
	uint64_t nr_looks;
	int stats_fd; /* runs are counted while it is open */
	struct bpf_progs progs;
};

static void look(struct prog_watch *w)
{
	struct diag d = { 0 };

	if (bpf_progs_look(&w->progs, clock_boot_ns(), &d) == 0)
		w->nr_looks++;
}

static void *watch(void *ctx)
{
	struct prog_watch *w = ctx;
	struct timespec until;

	pthread_mutex_lock(&w->lock);
	while (!w->is_ending) {
		uint64_t wait_ns = w->interval_ms * NS_PER_MS;

		if (!w->is_running) {
			pthread_cond_wait(&w->change, &w->lock);
			continue;
		}
		look(w);
		clock_gettime(CLOCK_REALTIME, &until);
		wait_ns += (uint64_t)until.tv_nsec;
		until.tv_sec += (time_t)(wait_ns / NS_PER_S);
		until.tv_nsec = (long)(wait_ns % NS_PER_S);
		pthread_cond_timedwait(&w->change, &w->lock, &until);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int prog_watch_new(struct diag *d, struct prog_watch **out)
{
	struct prog_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->change, NULL);
	w->stats_fd = -1;
	*out = w;
	return 0;
}

static bool start_thread(struct prog_watch *w)
{
	w->has_thread = thread_start(&w->thread, watch, w) == 0;
	return w->has_thread;
}

int prog_watch_start(struct prog_watch *w, uint64_t interval_ms, struct diag *d)
{
	int err = 0;

	pthread_mutex_lock(&w->lock);
	if (w->stats_fd < 0)
		w->stats_fd = bpf_progs_count();
	if (w->stats_fd < 0)
		err = diag_set(d, w->stats_fd, "run as root, or with CAP_SYS_ADMIN",
		               "the kernel does not count runs of BPF programs for us: %s",
		               strerror(-w->stats_fd));
	else if (!w->has_thread && !start_thread(w))
		err = diag_set(d, -EAGAIN, NULL, "cannot start a thread");
	if (!err) {
		w->interval_ms = interval_ms;
		w->is_running = true;
		pthread_cond_signal(&w->change);
	}
	pthread_mutex_unlock(&w->lock);
	return err;
}

void prog_watch_stop(struct prog_watch *w)
{
	pthread_mutex_lock(&w->lock);
	if (w->stats_fd >= 0)
		close(w->stats_fd);
	w->stats_fd = -1;
	w->is_running = false;
	pthread_cond_signal(&w->change);
	pthread_mutex_unlock(&w->lock);
}

void prog_watch_free(struct prog_watch *w)
{
	if (!w)
		return;
	prog_watch_stop(w);
	pthread_mutex_lock(&w->lock);
	w->is_ending = true;
	pthread_cond_signal(&w->change);
	pthread_mutex_unlock(&w->lock);
	if (w->has_thread)
		pthread_join(w->thread, NULL);
	bpf_progs_done(&w->progs);
	pthread_cond_destroy(&w->change);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

bool prog_watch_runs(struct prog_watch *w, uint64_t *interval_ms, uint64_t *nr_looks)
{
	bool is_running;

	pthread_mutex_lock(&w->lock);
	is_running = w->is_running;
	*interval_ms = w->interval_ms;
	*nr_looks = w->nr_looks;
	pthread_mutex_unlock(&w->lock);
	return is_running;
}

int prog_watch_lock(struct prog_watch *w, struct diag *d, const struct bpf_progs **out)
{
	int err;

	pthread_mutex_lock(&w->lock);
	err = bpf_progs_look(&w->progs, clock_boot_ns(), d);
	if (err) {
		pthread_mutex_unlock(&w->lock);
		return err;
	}
	w->nr_looks++;
	*out = &w->progs;
	return 0;
}

void prog_watch_unlock(struct prog_watch *w)
{
	pthread_mutex_unlock(&w->lock);
}
