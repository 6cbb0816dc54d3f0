/* Conditions on the stream: what each needs, whether this kernel has it, and for how long it is held. */
#include <errno.h>

#include "collect/scx_plan.h"
#include "live/live_feed_priv.h"

/* Beside what explains a hit. */
static uint64_t kinds_of(enum trigger_kind kind)
{
	switch (kind) {
	case TRIGGER_QUEUE_DEPTH: /* only sched_wakeup has the queue */
		return EV_BIT(EV_WAKEUP);
	case TRIGGER_DSQ_LATENCY:
		return EV_BIT(EV_DSQ_LEAVE);
	case TRIGGER_SCX_EJECT:
		return EV_BIT(EV_SCX_STATE);
	default:
		return 0;
	}
}

/* A condition that can never hold is worse than none. */
static int check(const struct live_feed *f, const struct trigger *t, struct diag *d)
{
	uint32_t quota = EV_MEASURES_QUOTA | EV_MEASURES_QUOTA_CPU;
	bool is_known = !(kinds_of(t->kind) & f->status.missing);

	if (t->kind == TRIGGER_THROTTLED)
		is_known = pair_measures(f->model.pair) & quota;
	return is_known ? 0
	                : diag_set(d, -ENOTSUP, "use another trigger; 'schedscope doctor' says why",
	                           "%s cannot be followed on this kernel",
	                           trigger_kind_names[t->kind]);
}

struct watch {
	const struct trigger *trigger;
	trigger_fire_fn *fire;
	void *ctx;
	uint32_t holder;
};

static int add(struct live_feed *f, const struct watch *w, struct diag *d, uint32_t *out)
{
	int err;

	(void)live_feed_lock(f); /* what the stream measures is one of its first records */
	err = check(f, w->trigger, d);
	if (!err)
		err = live_triggers_add(&f->model.triggers, w->trigger, w->fire, w->ctx, out);
	if (!err)
		f->watch_holders[*out] = w->holder;
	live_feed_unlock(f);
	if (err == -EUSERS)
		diag_set(d, err, "remove some of them", "too many triggers");
	return err;
}

int live_feed_watch(struct live_feed *f, const struct trigger *t, trigger_fire_fn *fire, void *ctx,
                    struct diag *d, uint32_t *out)
{
	struct watch w = { .trigger = t, .fire = fire, .ctx = ctx };
	int err;

	if (t->kind == TRIGGER_UPROBE)
		return diag_set(d, -ENOTSUP, "use 'schedscope record --trigger'",
		                "calls of functions are not watched live");
	err = live_feed_hold(f, LIVE_USE_WHY, live_feed_why_kinds() | kinds_of(t->kind), d,
	                     &w.holder);
	if (err)
		return err;
	err = add(f, &w, d, out);
	if (err)
		live_feed_drop(f, w.holder);
	return err;
}

void live_feed_unwatch(struct live_feed *f, uint32_t watch)
{
	uint32_t holder;

	(void)live_feed_lock_now(f);
	live_triggers_remove(&f->model.triggers, watch);
	holder = f->watch_holders[watch];
	live_feed_unlock(f);
	live_feed_drop(f, holder);
}
