/*
 * analyses/lock_sums — locks on which tasks sleep, with who waits for each and who held it: futexes, by process and address, or
 * locks of the kernel, by address.
 *
 * The kernel knows neither the type of a futex nor its owner. But the task that wakes a waiter had the lock until then, or
 * fulfilled the condition: the time of all waiters since the release before is charged to that task. An end by an
 * interrupt is a timeout, and releases nothing. What no release followed has no holder. A futex that several processes share has a row
 * in each.
 *
 * Of locks of the kernel, where they were recorded, the kernel reports each wait. The task that ended the last sleep of such
 * a wait had released the lock. A lock for which CPUs spin has no holder that is known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/edges.h"
#include "analyze/scope.h"
#include "base/attr.h"
#include "base/map.h"

struct lock_key {
	uint64_t address;
	uint32_t process; /* tgid; 0 = unknown, or of the kernel */
	uint32_t pad_;
};

struct lock {
	struct lock_key key;
	uint64_t nr;
	uint64_t ns;
	uint64_t held_ns; /* of ns, what a task is charged with */
	uint64_t nr_open; /* not ended: they wait now */
	uint64_t nr_timeouts;
	uint64_t nr_for_lock; /* of nr: as mutexes are waited for */
	uint64_t max_ns;
	struct pair_sleep longest; /* of which max_ns is */
	uint32_t type;             /* of the kernel: EV_LOCK_* of all waits */
};

struct lock_step;

struct lock_sums {
	const struct scope *sc;
	struct map *index;
	struct lock *locks;
	size_t nr, room;
	struct lock_step *steps;
	size_t nr_steps, room_steps;
	struct edges waiters; /* by lock, to the task that waits; of one lock, the most time first */
	struct edges holders; /* by lock, to the task that released it; likewise */
};

/* Futexes. A zeroed struct is empty. -ENOMEM. */
MUST_USE int lock_sums_collect(struct lock_sums *x, const struct scope *sc);
/* Those of the kernel instead. */
MUST_USE int lock_sums_collect_kernel(struct lock_sums *x, const struct scope *sc);
void lock_sums_done(struct lock_sums *x);
/* Of one lock, lent; how many. Of a holder `to` is TASKS_NONE for the time that no release followed. */
uint32_t lock_sums_waiters(const struct lock_sums *x, uint32_t lock, const struct edge **out);
uint32_t lock_sums_holders(const struct lock_sums *x, uint32_t lock, const struct edge **out);
