#include "mcp/profile_service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/worker.h"
#include "render/profiler_json.h"

#define POLL_MS 100

struct profile_service {
	struct worker *worker; /* its lock is that of all below */
	struct profiler *profiler;
	char *event;    /* the profiler's configuration; it keeps the pointer */
	bool is_polled; /* until the run ends, by itself or by a stop */
};

static void watch(struct worker *worker, void *state)
{
	struct profile_service *p = state;
	struct diag d = { 0 };
	bool is_over = false;

	worker_lock(worker);
	while (!worker_is_cancelled(worker)) {
		if (p->is_polled && (profiler_poll(p->profiler, &is_over, &d) || is_over))
			p->is_polled = false;
		worker_wait(worker, p->is_polled ? POLL_MS : WORKER_FOREVER);
	}
	worker_unlock(worker);
}

static void free_state(void *state)
{
	struct profile_service *p = state;

	profiler_free(p->profiler);
	free(p->event);
	free(p);
}

int profile_service_new(struct profile_service **out)
{
	const struct worker_job job = { .run = watch, .free = free_state };
	struct profile_service *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	err = profiler_new(&p->profiler);
	if (!err)
		err = worker_start(&job, p, &p->worker);
	if (err) {
		free_state(p);
		return err;
	}
	*out = p;
	return 0;
}

void profile_service_free(struct profile_service *p)
{
	if (p)
		worker_end(p->worker);
}

static int start(struct profile_service *p, const struct profiler_cfg *cfg, struct diag *d)
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
	p->is_polled = true;
	worker_signal(p->worker);
	return 0;
}

int profile_service_start(struct profile_service *p, const struct profiler_cfg *cfg, struct diag *d)
{
	struct profiler_status status;
	int err;

	worker_lock(p->worker);
	profiler_status(p->profiler, &status);
	err = status.state == PROFILER_RUNNING
	              ? diag_set(d, -EINVAL, "stop it first, with stop_perf_profiling",
	                         "profiling is already running")
	              : start(p, cfg, d);
	worker_unlock(p->worker);
	return err;
}

int profile_service_stop(struct profile_service *p, struct diag *d)
{
	int err;

	worker_lock(p->worker);
	err = profiler_stop(p->profiler, d);
	worker_signal(p->worker);
	worker_unlock(p->worker);
	return err;
}

void profile_service_status(struct profile_service *p, struct json_writer *w, const char *key)
{
	struct profiler_status status;

	worker_lock(p->worker);
	profiler_status(p->profiler, &status);
	if (key)
		profiler_status_json(w, key, &status);
	else
		profiler_status_members(w, &status);
	worker_unlock(p->worker);
}

enum profiler_state profile_service_state(struct profile_service *p)
{
	struct profiler_status status;

	worker_lock(p->worker);
	profiler_status(p->profiler, &status);
	worker_unlock(p->worker);
	return status.state;
}

int profile_service_profile(struct profile_service *p, struct diag *d, struct profile **out,
                            uint64_t *collected)
{
	struct profiler_status status;
	int err;

	worker_lock(p->worker);
	err = profiler_profile(p->profiler, d, out);
	profiler_status(p->profiler, &status);
	worker_unlock(p->worker);
	*collected = status.samples;
	return err;
}

uint64_t profile_service_revision(struct profile_service *p)
{
	struct profiler_status status;

	worker_lock(p->worker);
	profiler_status(p->profiler, &status);
	worker_unlock(p->worker);
	return status.samples * 4 + (uint64_t)status.state;
}
