#include "mcp/profile_desk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "render/profiler_json.h"

#define POLL_NS       100000000L
#define NS_PER_SECOND 1000000000L

struct profile_desk {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct profiler *profiler;
	char *event; /* what the profiler was told; it keeps the pointer */
	pthread_t thread;
	bool has_thread;
	bool is_ending;
};

int profile_desk_new(struct profile_desk **out)
{
	struct profile_desk *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	if (profiler_new(&p->profiler)) {
		free(p);
		return -ENOMEM;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->change, NULL);
	*out = p;
	return 0;
}

/* Until it is over, by itself or because somebody stopped it. */
static void *watch(void *ctx)
{
	struct profile_desk *p = ctx;
	struct diag d = { 0 };
	struct timespec until;
	bool is_over = false;

	pthread_mutex_lock(&p->lock);
	while (!p->is_ending && !profiler_poll(p->profiler, &is_over, &d) && !is_over) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += POLL_NS;
		until.tv_sec += until.tv_nsec / NS_PER_SECOND;
		until.tv_nsec %= NS_PER_SECOND;
		pthread_cond_timedwait(&p->change, &p->lock, &until);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* The thread of the last run, which is over or about to be. */
static void join(struct profile_desk *p)
{
	if (!p->has_thread)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_ending = true;
	pthread_cond_broadcast(&p->change);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	p->has_thread = false;
	p->is_ending = false;
}

void profile_desk_free(struct profile_desk *p)
{
	if (!p)
		return;
	join(p);
	profiler_free(p->profiler);
	free(p->event);
	pthread_cond_destroy(&p->change);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static int start_thread(struct profile_desk *p, struct diag *d)
{
	int err = thread_start(&p->thread, watch, p);

	p->has_thread = !err;
	return err ? diag_set(d, err, NULL, "cannot start a thread") : 0;
}

static int start(struct profile_desk *p, const struct profiler_cfg *cfg, struct diag *d)
{
	struct profiler_cfg mine = *cfg;
	char *event = cfg->event ? strdup(cfg->event) : NULL;
	int err;

	if (cfg->event && !event)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	mine.event = event;
	err = profiler_start(p->profiler, &mine, d);
	if (err) {
		free(event);
		return err;
	}
	free(p->event);
	p->event = event;
	err = start_thread(p, d);
	if (err)
		profiler_clear(p->profiler);
	return err;
}

/* The lock is given up to join the thread of the last run; another start may come between, and is told so. */
int profile_desk_start(struct profile_desk *p, const struct profiler_cfg *cfg, struct diag *d)
{
	struct profiler_status status;
	int err;

	pthread_mutex_lock(&p->lock);
	profiler_status(p->profiler, &status);
	pthread_mutex_unlock(&p->lock);
	if (status.state == PROFILER_RUNNING)
		return diag_set(d, -EBUSY, "stop it first, with stop_perf_profiling",
		                "profiling is already running");
	join(p);
	pthread_mutex_lock(&p->lock);
	err = start(p, cfg, d);
	pthread_mutex_unlock(&p->lock);
	return err;
}

int profile_desk_stop(struct profile_desk *p, struct diag *d)
{
	int err;

	pthread_mutex_lock(&p->lock);
	err = profiler_stop(p->profiler, d);
	pthread_cond_broadcast(&p->change);
	pthread_mutex_unlock(&p->lock);
	return err;
}

void profile_desk_status(struct profile_desk *p, struct json_writer *w, const char *key)
{
	struct profiler_status status;

	pthread_mutex_lock(&p->lock);
	profiler_status(p->profiler, &status);
	if (key)
		profiler_status_json(w, key, &status);
	else
		profiler_status_members(w, &status);
	pthread_mutex_unlock(&p->lock);
}

enum profiler_state profile_desk_state(struct profile_desk *p)
{
	struct profiler_status status;

	pthread_mutex_lock(&p->lock);
	profiler_status(p->profiler, &status);
	pthread_mutex_unlock(&p->lock);
	return status.state;
}

int profile_desk_profile(struct profile_desk *p, struct diag *d, struct profile **out,
                         uint64_t *collected)
{
	struct profiler_status status;
	int err;

	pthread_mutex_lock(&p->lock);
	err = profiler_profile(p->profiler, d, out);
	profiler_status(p->profiler, &status);
	pthread_mutex_unlock(&p->lock);
	*collected = status.samples;
	return err;
}

uint64_t profile_desk_revision(struct profile_desk *p)
{
	struct profiler_status status;

	pthread_mutex_lock(&p->lock);
	profiler_status(p->profiler, &status);
	pthread_mutex_unlock(&p->lock);
	return status.samples * 4 + (uint64_t)status.state;
}
