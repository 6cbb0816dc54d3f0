#include "machine/parts/event_opener.h"

#include <errno.h>
#include <stdlib.h>

#include "base/worker.h"

struct event_opener {
	struct worker *worker;
	bool is_opening;
	struct event_word event;
	struct cpulist online;
	uint32_t tgid;
	struct event_counter *old;
	struct event_counter *counter;
	struct diag why;
};

static void work(struct worker *w, void *state)
{
	struct event_opener *o = state;
	const struct event_counter_cfg cfg = { &o->event, &o->online, o->tgid };
	bool is_dropped;

	event_counter_close(o->old);
	if (o->is_opening && event_counter_open(&cfg, &o->why, &o->counter))
		o->counter = NULL;
	worker_lock(w);
	is_dropped = worker_is_cancelled(w);
	worker_unlock(w);
	if (!is_dropped)
		return;
	event_counter_close(o->counter);
	o->counter = NULL;
}

static void release(void *state)
{
	struct event_opener *o = state;

	event_counter_close(o->counter);
	cpulist_done(&o->online);
	free(o);
}

static int copy_online(const struct cpulist *from, struct cpulist *to)
{
	cpulist_for_each(cpu, from)
	{
		int err = cpulist_add(to, (uint32_t)cpu);

		if (err)
			return err;
	}
	return 0;
}

static int start(const struct event_counter_cfg *cfg, struct event_opener *o)
{
	const struct worker_job job = { .run = work, .free = release, .runs_anyway = true };

	if (cfg && copy_online(cfg->online, &o->online))
		return -ENOMEM;
	o->is_opening = cfg;
	if (cfg) {
		o->event = *cfg->event;
		o->tgid = cfg->tgid;
	}
	return worker_start(&job, o, &o->worker);
}

int event_opener_start(const struct event_counter_cfg *cfg, struct event_counter *old,
                       struct event_opener **out)
{
	struct event_opener *o = calloc(1, sizeof(*o));

	if (o)
		o->old = old;
	if (!o || start(cfg, o)) {
		if (o)
			release(o);
		event_counter_close(old);
		return -ENOMEM;
	}
	*out = o;
	return 0;
}

bool event_opener_poll(struct event_opener *o, uint32_t wait_ms, struct diag *d,
                       struct event_counter **out)
{
	if (!worker_poll(o->worker, wait_ms))
		return false;
	*d = o->why;
	*out = o->counter;
	o->counter = NULL;
	worker_end(o->worker);
	return true;
}

/* Too late: then the next poll or close finds the counter. */
void event_opener_drop(struct event_opener *o)
{
	worker_cancel(o->worker);
}

void event_opener_end(struct event_opener *o)
{
	if (o)
		worker_end(o->worker);
}
