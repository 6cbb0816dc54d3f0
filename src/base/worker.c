#include "base/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"

#define NS_PER_MS 1000000ULL

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct worker_job job;
	void *state;
	pthread_t thread; /* of the one who started it */
	bool has_thread;
	bool is_cancelled, is_abandoned, is_done;
};

static void destroy(struct worker *w)
{
	pthread_cond_destroy(&w->change);
	pthread_mutex_destroy(&w->lock);
	if (w->job.free)
		w->job.free(w->state);
	free(w);
}

static void *run(void *ctx)
{
	struct worker *w = ctx;
	bool is_abandoned;

	w->job.run(w, w->state);
	pthread_mutex_lock(&w->lock);
	w->is_done = true;
	is_abandoned = w->is_abandoned;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
	if (is_abandoned)
		destroy(w);
	return NULL;
}

int worker_start(const struct worker_job *job, void *state, struct worker **out)
{
	struct worker *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->lock, NULL);
	thread_cond_init(&w->change);
	w->job = *job;
	w->state = state;
	err = thread_start(&w->thread, run, w);
	w->has_thread = !err;
	if (err && !job->runs_anyway) {
		w->job.free = NULL;
		destroy(w);
		return err;
	}
	if (err)
		(void)run(w);
	*out = w;
	return 0;
}

bool worker_poll(struct worker *w, uint64_t wait_ms)
{
	uint64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + wait_ms * NS_PER_MS;
	bool is_done;

	pthread_mutex_lock(&w->lock);
	while (!w->is_done && wait_ms &&
	       thread_cond_wait_until(&w->change, &w->lock, until_ns) == 0)
		;
	is_done = w->is_done;
	pthread_mutex_unlock(&w->lock);
	return is_done;
}

void worker_cancel(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->is_cancelled = true;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
}

void worker_end(struct worker *w)
{
	if (!w)
		return;
	worker_cancel(w);
	if (w->has_thread)
		pthread_join(w->thread, NULL);
	destroy(w);
}

void worker_abandon(struct worker *w)
{
	pthread_t thread;
	bool is_done;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	thread = w->thread;
	is_done = w->is_done;
	w->is_cancelled = true;
	w->is_abandoned = true;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
	if (is_done)
		worker_end(w);
	else
		pthread_detach(thread);
}

void worker_lock(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
}

void worker_unlock(struct worker *w)
{
	pthread_mutex_unlock(&w->lock);
}

bool worker_is_cancelled(const struct worker *w)
{
	return w->is_cancelled;
}

void worker_signal(struct worker *w)
{
	pthread_cond_broadcast(&w->change);
}

void worker_wait(struct worker *w, uint64_t ms)
{
	if (ms == WORKER_FOREVER)
		pthread_cond_wait(&w->change, &w->lock);
	else
		(void)thread_cond_wait_ms(&w->change, &w->lock, ms);
}
