/*
 * Locks of user space on which tasks sleep: futexes, by process and address, with who waits for each and who held it.
 *
 * The kernel knows neither the type of a futex nor its owner. But the task that wakes a waiter had the lock until then, or
 * fulfilled the condition: the time of all waiters since the release before is charged to that task. An end by an
 * interrupt is a timeout, and releases nothing. What no release followed has no holder. A futex that several processes share has a row
 * in each.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "abi/call.h"
#include "analyses/passes.h"
#include "analyses/sleep_ends.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "model/interrupt.h"

#define MAX_HOLDERS 5 /* of one lock */

struct lock_key {
	uint64_t address;
	uint32_t process; /* tgid; 0 = unknown */
	uint32_t pad_;
};

struct lock {
	struct lock_key key;
	uint64_t nr;
	uint64_t ns;
	uint64_t max_ns;
	uint64_t held_ns; /* of ns, what a task is charged with */
	uint64_t nr_open; /* not ended: they wait now */
	uint64_t nr_timeouts;
};

/* A waiter comes or goes. */
struct step {
	uint64_t ts_ns;
	uint32_t lock;
	uint32_t by; /* of one that goes: sleep_end(); TASKS_NONE = nothing is released */
	bool is_end;
};

struct locks {
	struct scope sc;
	struct units units;
	struct map *index;
	struct lock *locks;
	size_t nr, room;
	struct step *steps;
	size_t nr_steps, room_steps;
	struct edges waiters; /* by lock, to the task that waits */
	struct edges holders; /* by lock, to the task that released it */
};

static void done(void *work)
{
	struct locks *x = work;

	map_free(x->index);
	free(x->locks);
	free(x->steps);
	edges_done(&x->waiters);
	edges_done(&x->holders);
}

static int find(struct locks *x, const struct lock_key *key, uint32_t *out)
{
	int err;

	if (map_find(x->index, key, out))
		return 0;
	if (GROW(x->locks, x->room, x->nr))
		return -ENOMEM;
	err = map_insert(x->index, key, (uint32_t)x->nr);
	if (err)
		return err;
	x->locks[x->nr] = (struct lock){ .key = *key };
	*out = (uint32_t)x->nr++;
	return 0;
}

static int add_step(struct locks *x, const struct step *step)
{
	if (GROW(x->steps, x->room_steps, x->nr_steps))
		return -ENOMEM;
	x->steps[x->nr_steps++] = *step;
	return 0;
}

static int add_steps(struct locks *x, uint32_t at, const struct pair_sleep *s)
{
	uint32_t by = s->is_open ? TASKS_NONE : sleep_end(&x->units, s);
	struct step begin = { .lock = at, .by = TASKS_NONE, .ts_ns = s->start_ns };
	struct step end = { .lock = at, .by = by, .ts_ns = s->end_ns, .is_end = true };
	struct interrupt interrupt;
	int err;

	if (begin.ts_ns < x->sc.from_ns)
		begin.ts_ns = x->sc.from_ns;
	if (end.ts_ns > x->sc.to_ns)
		end.ts_ns = x->sc.to_ns;
	if (interrupt_of_key(by, &interrupt)) {
		x->locks[at].nr_timeouts++;
		end.by = TASKS_NONE;
	}
	err = add_step(x, &begin);
	return err ? err : add_step(x, &end);
}

static int take(struct locks *x, const struct pair_sleep *s)
{
	struct lock_key key = { .address = s->arg, .process = source_tgid(x->sc.s, s->task) };
	uint64_t ns = scope_cut(&x->sc, s->start_ns, s->end_ns);
	struct lock *lock;
	uint32_t at;
	int err = find(x, &key, &at);

	if (err)
		return err;
	lock = &x->locks[at];
	lock->nr++;
	lock->ns += ns;
	if (ns > lock->max_ns)
		lock->max_ns = ns;
	lock->nr_open += s->is_open;
	err = edges_add(&x->waiters, at, s->task, ns);
	return err ? err : add_steps(x, at, s);
}

static int by_lock_and_time(const void *a, const void *b)
{
	const struct step *left = a, *right = b;

	if (left->lock != right->lock)
		return left->lock < right->lock ? -1 : 1;
	if (left->ts_ns != right->ts_ns)
		return left->ts_ns < right->ts_ns ? -1 : 1;
	return right->is_end - left->is_end;
}

/* The time of all waiters of a lock, up to each of its releases. */
static int charge_holders(struct locks *x)
{
	uint64_t nr_waiting = 0, waited_ns = 0;
	int err = 0;

	if (x->nr_steps)
		qsort(x->steps, x->nr_steps, sizeof(*x->steps), by_lock_and_time);
	for (size_t i = 0; i < x->nr_steps && !err; i++) {
		const struct step *step = &x->steps[i];
		bool is_last = i + 1 == x->nr_steps || step[1].lock != step->lock;

		if (step->is_end)
			nr_waiting--;
		else
			nr_waiting++;
		if (step->by != TASKS_NONE || (is_last && waited_ns)) {
			err = edges_add(&x->holders, step->lock, step->by, waited_ns);
			if (step->by != TASKS_NONE)
				x->locks[step->lock].held_ns += waited_ns;
			waited_ns = 0;
		}
		if (!is_last)
			waited_ns += nr_waiting * (step[1].ts_ns - step->ts_ns);
	}
	return err;
}

static int collect(void *work)
{
	struct locks *x = work;
	struct rows it = { .sc = &x->sc };
	struct pair_sleep s;
	int err = map_new(sizeof(struct lock_key), MAP_MAX_CAP, &x->index);

	if (!err)
		err = edges_init(&x->waiters);
	if (!err)
		err = edges_init(&x->holders);
	while (!err && rows_sleep(&it, &s))
		if (s.call == ABI_CALL_futex && s.task != TASKS_NONE)
			err = take(x, &s);
	if (!err)
		err = charge_holders(x);
	edges_sort(&x->waiters);
	edges_sort(&x->holders);
	return err;
}

static void show_waiters(const struct locks *x, uint32_t lock, struct report *r)
{
	const struct edge *at;
	uint32_t nr = edges_of(&x->waiters, lock, &at);

	report_u64(r, "waiters", nr);
	report_begin_object(r, "longest_waiter");
	task_report(x->sc.s, r, nr ? at[0].to : TASKS_NONE);
	report_end_object(r);
}

/* pid and comm are null for the time after which no task released it. */
static void show_holders(const struct locks *x, uint32_t lock, struct report *r)
{
	const struct edge *at;
	uint32_t nr = edges_of(&x->holders, lock, &at);

	report_begin_array(r, "held_by");
	for (uint32_t i = 0; i < nr && i < MAX_HOLDERS; i++) {
		const struct edge *e = &at[i];

		report_begin_object(r, NULL);
		task_report(x->sc.s, r, e->to);
		report_u64(r, "releases", e->to == TASKS_NONE ? 0 : e->count);
		report_u64(r, "sleep_ns", e->sum_ns);
		report_percent(r, "percent", e->sum_ns, x->locks[lock].ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_lock(const struct locks *x, uint32_t at, struct report *r)
{
	const struct lock *lock = &x->locks[at];

	report_u64(r, "tgid", lock->key.process);
	report_string(r, "futex",
	              report_printf(r, "0x%llx", (unsigned long long)lock->key.address));
	report_u64(r, "sleeps", lock->nr);
	report_u64(r, "sleep_ns", lock->ns);
	report_u64(r, "held_ns", lock->held_ns);
	report_u64(r, "max_sleep_ns", lock->max_ns);
	report_u64(r, "timeouts", lock->nr_timeouts);
	report_u64(r, "still_waiting", lock->nr_open);
	show_waiters(x, at, r);
	show_holders(x, at, r);
}

static int show(void *work, struct report *r)
{
	struct locks *x = work;
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_locks, x->sc.args) };
	uint64_t all_ns = 0, held_ns = 0;

	for (uint32_t i = 0; i < x->nr; i++) {
		all_ns += x->locks[i].ns;
		held_ns += x->locks[i].held_ns;
		/* A wait that only a timer ends is for the time, and not for another task. */
		top_add(&top, x->locks[i].held_ns, i);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	scope_report_pid(&x->sc, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	report_u64(r, "sleep_ns", all_ns);
	report_u64(r, "held_ns", held_ns);
	report_u64(r, "total_locks", x->nr);
	for (uint32_t i = 0; top_row(&top, i, r, "locks"); i++)
		show_lock(x, (uint32_t)top.entries[i].id, r);
	return 0;
}

const struct pass pass_locks = {
	.id = "locks",
	.name = "Locks",
	.category = "scheduling",
	.what = "futexes on which tasks sleep: who waits for each, and who held it",
	.needs = EV_BIT(EV_SWITCH) | EV_BIT(EV_SLEEP),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 2,
	.work = { .size = sizeof(struct locks),
	          .units_at = offsetof(struct locks, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
