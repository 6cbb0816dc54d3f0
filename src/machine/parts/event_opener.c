#include "session/event_opener.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/thread.h"

enum { AT_WORK, DONE, UNWANTED };

struct event_opener {
	pthread_t thread;
	bool has_thread;
	bool is_opening;
	struct event_word event;
	struct cpulist online;
	uint32_t tgid;
	struct event_counter *old;
	atomic_int state;
	struct event_counter *counter; /* ours until the thread is done */
	struct diag why;
};

static void *work(void *ctx)
{
	struct event_opener *o = ctx;
	const struct event_counter_cfg cfg = { &o->event, &o->online, o->tgid };
	int at_work = AT_WORK;

	event_counter_close(o->old);
	if (o->is_opening && event_counter_open(&cfg, &o->why, &o->counter))
		o->counter = NULL;
	if (atomic_compare_exchange_strong(&o->state, &at_work, DONE))
		return NULL;
	event_counter_close(o->counter);
	o->counter = NULL;
	return NULL;
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

static void opener_free(struct event_opener *o)
{
	cpulist_done(&o->online);
	free(o);
}

int event_opener_start(const struct event_counter_cfg *cfg, struct event_counter *old,
                       struct event_opener **out)
{
	struct event_opener *o = calloc(1, sizeof(*o));

	if (!o || (cfg && copy_online(cfg->online, &o->online))) {
		if (o)
			opener_free(o);
		event_counter_close(old);
		return -ENOMEM;
	}
	o->is_opening = cfg;
	if (cfg) {
		o->event = *cfg->event;
		o->tgid = cfg->tgid;
	}
	o->old = old;
	o->has_thread = thread_start(&o->thread, work, o) == 0;
	if (!o->has_thread)
		work(o);
	*out = o;
	return 0;
}

static bool has_ended(struct event_opener *o, uint32_t wait_ms)
{
	struct timespec until;

	if (!o->has_thread)
		return true;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)wait_ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(o->thread, NULL, &until) == 0;
}

bool event_opener_poll(struct event_opener *o, uint32_t wait_ms, struct diag *d,
                       struct event_counter **out)
{
	if (!has_ended(o, wait_ms))
		return false;
	*d = o->why;
	*out = o->counter;
	opener_free(o);
	return true;
}

void event_opener_drop(struct event_opener *o)
{
	int at_work = AT_WORK;

	/* Too late: then whoever polls or ends it finds the counter. */
	(void)atomic_compare_exchange_strong(&o->state, &at_work, UNWANTED);
}

void event_opener_end(struct event_opener *o)
{
	if (!o)
		return;
	if (o->has_thread)
		pthread_join(o->thread, NULL);
	event_counter_close(o->counter);
	opener_free(o);
}
