#include "analyses/lock_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/call.h"
#include "analyze/walk.h"
#include "base/grow.h"
#include "model/interrupt.h"

/* A waiter comes or goes. */
struct lock_step {
	uint64_t ts_ns;
	uint32_t lock;
	uint32_t by; /* of one that goes: the task that ended it; TASKS_NONE = nothing is released */
	bool is_end;
};

void lock_sums_done(struct lock_sums *x)
{
	map_free(x->index);
	free(x->locks);
	free(x->steps);
	edges_done(&x->waiters);
	edges_done(&x->holders);
}

static int find(struct lock_sums *x, const struct lock_key *key, uint32_t *out)
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

static int add_step(struct lock_sums *x, const struct lock_step *step)
{
	if (GROW(x->steps, x->room_steps, x->nr_steps))
		return -ENOMEM;
	x->steps[x->nr_steps++] = *step;
	return 0;
}

static int add_steps(struct lock_sums *x, uint32_t at, const struct pair_sleep *s)
{
	bool is_timeout = !s->is_open && interrupt_is(interrupt_context(s->flags, s->by));
	struct lock_step begin = { .lock = at, .by = TASKS_NONE, .ts_ns = s->start_ns };
	struct lock_step end = { .lock = at, .by = TASKS_NONE, .ts_ns = s->end_ns, .is_end = true };
	int err;

	if (begin.ts_ns < x->sc->from_ns)
		begin.ts_ns = x->sc->from_ns;
	if (end.ts_ns > x->sc->to_ns)
		end.ts_ns = x->sc->to_ns;
	if (is_timeout)
		x->locks[at].nr_timeouts++;
	else if (!s->is_open)
		end.by = s->waker;
	err = add_step(x, &begin);
	return err ? err : add_step(x, &end);
}

static int take(struct lock_sums *x, const struct lock_key *key, const struct pair_sleep *s,
                uint32_t type)
{
	uint64_t ns = scope_cut(x->sc, s->start_ns, s->end_ns);
	struct lock *lock;
	uint32_t at;
	int err = find(x, key, &at);

	if (err)
		return err;
	lock = &x->locks[at];
	lock->nr++;
	lock->ns += ns;
	if (ns > lock->max_ns) {
		lock->max_ns = ns;
		lock->longest = *s;
	}
	lock->nr_open += s->is_open;
	lock->nr_for_lock += (s->flags & PAIR_SLEEP_FOR_LOCK) != 0;
	lock->type |= type;
	if (s->task != TASKS_NONE)
		err = edges_add(&x->waiters, at, s->task, ns);
	return err ? err : add_steps(x, at, s);
}

static int take_futex(struct lock_sums *x, const struct pair_sleep *s)
{
	struct lock_key key = { .address = s->arg, .process = source_tgid(x->sc->s, s->task) };

	return take(x, &key, s, 0);
}

/* What ended the last sleep of the wait; nothing if it did not sleep. */
static int find_release(const struct lock_sums *x, const struct pair_span *span,
                        struct pair_sleep *wait)
{
	struct timeline_query q = { .table = TIMELINE_SLEEP,
		                    .task = span->task,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .from_ns = span->start_ns,
		                    .to_ns = span->end_ns };
	struct timeline_iter it;
	union timeline_row row;
	int err = timeline_find(x->sc->s->timeline, &q, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		if (row.sleep.start_ns < span->start_ns || row.sleep.end_ns > span->end_ns)
			continue;
		wait->waker = row.sleep.waker;
		wait->by = row.sleep.by;
		wait->flags = row.sleep.flags;
	}
	return err;
}

static int take_kernel(struct lock_sums *x, const struct pair_span *span)
{
	struct lock_key key = { .address = span->id };
	struct pair_sleep wait = { .start_ns = span->start_ns,
		                   .end_ns = span->end_ns,
		                   .task = span->task,
		                   .waker = TASKS_NONE };
	int err = 0;

	if (span->task != TASKS_NONE && !(span->value & EV_LOCK_SPIN))
		err = find_release(x, span, &wait);
	return err ? err : take(x, &key, &wait, (uint32_t)span->value);
}

static int by_lock_and_time(const void *a, const void *b)
{
	const struct lock_step *left = a, *right = b;

	if (left->lock != right->lock)
		return left->lock < right->lock ? -1 : 1;
	if (left->ts_ns != right->ts_ns)
		return left->ts_ns < right->ts_ns ? -1 : 1;
	return right->is_end - left->is_end;
}

/* The time of all waiters of a lock, up to each of its releases. */
static int charge_holders(struct lock_sums *x)
{
	uint64_t nr_waiting = 0, waited_ns = 0;
	int err = 0;

	if (x->nr_steps)
		qsort(x->steps, x->nr_steps, sizeof(*x->steps), by_lock_and_time);
	for (size_t i = 0; i < x->nr_steps && !err; i++) {
		const struct lock_step *step = &x->steps[i];
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

static int begin(struct lock_sums *x, const struct scope *sc)
{
	int err = map_new(sizeof(struct lock_key), MAP_MAX_CAP, &x->index);

	x->sc = sc;
	if (!err)
		err = edges_init(&x->waiters);
	return err ? err : edges_init(&x->holders);
}

static int finish(struct lock_sums *x)
{
	int err = charge_holders(x);

	edges_sort(&x->waiters);
	edges_sort(&x->holders);
	return err;
}

int lock_sums_collect(struct lock_sums *x, const struct scope *sc)
{
	struct rows it = { .sc = sc };
	struct pair_sleep s;
	int err = begin(x, sc);

	while (!err && rows_sleep(&it, &s))
		if (s.call == ABI_CALL_futex && s.task != TASKS_NONE)
			err = take_futex(x, &s);
	return err ? err : finish(x);
}

int lock_sums_collect_kernel(struct lock_sums *x, const struct scope *sc)
{
	struct walk w = { .sc = sc, .table = TIMELINE_SPAN, .kinds = 1ULL << PAIR_LOCK };
	const union timeline_row *row;
	int err = begin(x, sc);

	while (!err && (row = walk_next(&w)))
		err = take_kernel(x, &row->span);
	return err ? err : finish(x);
}

uint32_t lock_sums_waiters(const struct lock_sums *x, uint32_t lock, const struct edge **out)
{
	return edges_of(&x->waiters, lock, out);
}

uint32_t lock_sums_holders(const struct lock_sums *x, uint32_t lock, const struct edge **out)
{
	return edges_of(&x->holders, lock, out);
}
