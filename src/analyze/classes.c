#include "analyze/classes.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/slice_facts.h"
#include "base/grow.h"

#define FAIR_PRIO 100 /* the first one; real time below */

/* Recorders that know no priorities say 0, which is the highest of real time. */
static bool has_priorities(const struct scope *sc)
{
	struct rows it = { .sc = sc };
	struct pair_slice row;

	while (rows_slice(&it, &row))
		if (row.prio)
			return true;
	return false;
}

static enum sched_class class_of(const struct pair_slice *slice, bool is_ext)
{
	if (slice->prio < 0)
		return CLASS_DEADLINE;
	if (slice->prio < FAIR_PRIO)
		return CLASS_REAL_TIME;
	if (is_ext)
		return CLASS_EXT;
	return slice->policy == ABI_POLICY_IDLE ? CLASS_IDLE : CLASS_FAIR;
}

static int add(struct classes *c, const struct pair_slice *slice, enum sched_class class)
{
	uint32_t before = c->last[slice->task];

	if (before && c->changes[before - 1].class == class)
		return 0;
	if (GROW(c->changes, c->room, c->nr))
		return -ENOMEM;
	c->changes[c->nr++] = (struct class_change){ slice->start_ns, before, (uint8_t) class };
	c->last[slice->task] = c->nr;
	return 0;
}

int classes_init(struct classes *c, const struct scope *sc)
{
	struct pass_args all;
	struct scope whole = scope_whole(sc, &all);
	struct rows it = { .sc = &whole };
	struct slice_facts facts = { 0 };
	struct pair_slice slice;
	int err;

	*c = (struct classes){ .nr_tasks = sc->nr_tasks };
	c->last = calloc(sc->nr_tasks ? sc->nr_tasks : 1, sizeof(*c->last));
	if (!c->last)
		return -ENOMEM;
	if (!has_priorities(&whole))
		return 0;
	err = slice_facts_init(&facts, &whole);
	while (!err && rows_slice(&it, &slice))
		if (slice.task < c->nr_tasks)
			err = add(c, &slice, class_of(&slice, slice_run(&facts, &slice) != NULL));
	slice_facts_done(&facts);
	return err;
}

void classes_done(struct classes *c)
{
	free(c->last);
	free(c->changes);
	*c = (struct classes){ 0 };
}

enum sched_class classes_at(const struct classes *c, uint32_t task, uint64_t ts_ns)
{
	uint32_t at = task < c->nr_tasks ? c->last[task] : 0;

	if (!at)
		return CLASS_UNKNOWN;
	while (c->changes[at - 1].from_ns > ts_ns && c->changes[at - 1].before)
		at = c->changes[at - 1].before;
	return c->changes[at - 1].class;
}

const char *class_name(enum sched_class class)
{
	static const char *const names[SCHED_CLASSES] = { "unknown", "deadline", "real-time",
		                                          "fair",    "idle",     "ext" };

	return names[class];
}
