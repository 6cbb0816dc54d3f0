#include "live/live_triggers.h"

#include <errno.h>

/* Each row to those that ask for such rows. */
#define FORWARD(member)                                  \
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++) \
		if (t->at[i].out.member)                 \
	t->at[i].out.member(t->at[i].out.ctx, row)
#define FORWARDER(member, type)                                    \
	static void on_##member(void *ctx, const struct type *row) \
	{                                                          \
		const struct live_triggers *t = ctx;               \
                                                                   \
		FORWARD(member);                                   \
	}

FORWARDER(switched, pair_switch)
FORWARDER(slice, pair_slice)
FORWARDER(wait, pair_wait)
FORWARDER(sleep, pair_sleep)
FORWARDER(wakeup, pair_wakeup)
FORWARDER(queued, pair_queued)
FORWARDER(mark, pair_mark)
FORWARDER(dsq, pair_dsq)
FORWARDER(throttle, pair_throttle)

static void on_task_end(void *ctx, uint32_t task, uint64_t ts_ns)
{
	const struct live_triggers *t = ctx;

	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		if (t->at[i].out.task_end)
			t->at[i].out.task_end(t->at[i].out.ctx, task, ts_ns);
}

/* The callbacks that are asked for: without a condition rows cost nothing. */
static void change_out(struct live_triggers *t)
{
	struct pair_out all = { .ctx = t };

	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++) {
		const struct pair_out *one = &t->at[i].out;

		all.task_end = one->task_end ? on_task_end : all.task_end;
		all.switched = one->switched ? on_switched : all.switched;
		all.slice = one->slice ? on_slice : all.slice;
		all.wait = one->wait ? on_wait : all.wait;
		all.sleep = one->sleep ? on_sleep : all.sleep;
		all.wakeup = one->wakeup ? on_wakeup : all.wakeup;
		all.queued = one->queued ? on_queued : all.queued;
		all.mark = one->mark ? on_mark : all.mark;
		all.dsq = one->dsq ? on_dsq : all.dsq;
		all.throttle = one->throttle ? on_throttle : all.throttle;
	}
	pair_change_out(t->pair, &all);
}

int live_triggers_init(struct live_triggers *t, struct tasks *tasks, struct pair *pair)
{
	struct pair_out none = { .ctx = t };

	*t = (struct live_triggers){ .tasks = tasks, .pair = pair };
	return pair_add_out(pair, &none);
}

void live_triggers_done(struct live_triggers *t)
{
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		trigger_eval_free(t->at[i].eval);
}

int live_triggers_add(struct live_triggers *t, const struct trigger *one, trigger_fire_fn *fire,
                      void *ctx, uint32_t *out)
{
	struct trigger_eval_cfg cfg = { .triggers = one,
		                        .nr = 1,
		                        .tasks = t->tasks,
		                        .pair = t->pair,
		                        .fire = fire,
		                        .ctx = ctx };
	uint32_t i = 0;
	int err;

	while (i < LIVE_TRIGGERS_MAX && t->at[i].eval)
		i++;
	if (i == LIVE_TRIGGERS_MAX)
		return -EUSERS;
	err = trigger_eval_new(&cfg, &t->at[i].eval);
	if (err)
		return err;
	t->at[i].out = trigger_eval_out(t->at[i].eval);
	change_out(t);
	*out = i;
	return 0;
}

void live_triggers_remove(struct live_triggers *t, uint32_t at)
{
	trigger_eval_free(t->at[at].eval);
	t->at[at] = (struct live_trigger){ 0 };
	change_out(t);
}

void live_triggers_lost(struct live_triggers *t, const struct ev_lost *lost)
{
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		if (t->at[i].eval)
			trigger_eval_lost(t->at[i].eval, lost);
}

void live_triggers_advance(struct live_triggers *t, uint64_t now_ns)
{
	for (uint32_t i = 0; i < LIVE_TRIGGERS_MAX; i++)
		if (t->at[i].eval)
			trigger_eval_advance(t->at[i].eval, now_ns);
}
