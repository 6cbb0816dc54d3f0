#include "analyses/lock_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/call.h"
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

static int take(struct lock_sums *x, const struct pair_sleep *s)
{
	struct lock_key key = { .address = s->arg, .process = source_tgid(x->sc->s, s->task) };
	uint64_t ns = scope_cut(x->sc, s->start_ns, s->end_ns);
	struct lock *lock;
	uint32_t at;
	int err = find(x, &key, &at);

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
	err = edges_add(&x->waiters, at, s->task, ns);
	return err ? err : add_steps(x, at, s);
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

int lock_sums_collect(struct lock_sums *x, const struct scope *sc)
{
	struct rows it = { .sc = sc };
	struct pair_sleep s;
	int err = map_new(sizeof(struct lock_key), MAP_MAX_CAP, &x->index);

	x->sc = sc;
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

uint32_t lock_sums_waiters(const struct lock_sums *x, uint32_t lock, const struct edge **out)
{
	return edges_of(&x->waiters, lock, out);
}

uint32_t lock_sums_holders(const struct lock_sums *x, uint32_t lock, const struct edge **out)
{
	return edges_of(&x->holders, lock, out);
}
