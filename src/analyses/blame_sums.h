/*
 * analyses/blame_sums — the time of all waits that an analysis asks for, added up by who waited and by what for: the
 * parts of ledger/ledger, in task-seconds. Waits that have not ended count up to the end of the recording.
 *
 * Of each wait the part within the time asked for counts. Time in which the CPU did not run another task blames no
 * task: it is in the sum of its kind only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyses/blame_pairs.h"
#include "analyze/scope.h"
#include "analyze/units.h"
#include "base/attr.h"
#include "ledger/divide.h"

#define BLAME_LONG 8U

struct blame_victim {
	uint64_t ns[LEDGER_KINDS]; /* they add up to wait_ns */
	uint64_t wait_ns;
	uint64_t nr_waits;
	uint64_t nr_new;   /* of those, of tasks that had just been started */
	uint32_t nr_tasks; /* that waited */
	uint64_t max_ns;
	struct pair_wait longest; /* of which max_ns is; not of the sum of all */
	/* A sample, from all of the time, of those that took at least half as long as the longest until then: ids of rows of TIMELINE_WAIT. */
	uint64_t long_ids[BLAME_LONG];
	uint32_t nr_long; /* of all that were there */
	uint64_t first_ns, last_ns;
	/* The longest throttled part: the id of its row of TIMELINE_THROTTLE. */
	uint64_t throttle, throttle_ns;
};

struct blame_sums {
	const struct scope *sc;
	const struct units *units;
	struct blame_victim *victims; /* by unit */
	struct blame_victim all;
	uint64_t *task_ns;   /* by task: what it waited */
	uint64_t *caused_ns; /* by unit: as a culprit */
	uint64_t *urgent_ns; /* of that, with a real-time or deadline priority */
	int16_t *urgent;     /* by unit: that priority, the most urgent */
	uint8_t *policy;     /* by unit: the policy with it, ABI_POLICY_* */
	struct blame_pairs pairs;
	bool is_brief;             /* set by who needs no longest wait and no sample of long ones */
	bool keeps_stays;          /* set by who needs these: */
	struct ledger_stay *stays; /* in the queues of CPUs */
	size_t nr_stays, room_stays;
	struct ledger_stay *throttled; /* there too, but kept from running */
	size_t nr_throttled, room_throttled;
	bool is_lent; /* the arrays are those of a blame_share */
};

/*
 * The sums for analyses that run together, in several threads: made for the first one that asks, lent to all that ask for
 * the same. Those who borrow are done before it is freed.
 */
struct blame_share;
/* is_of_many: they ask for several kinds of units and for no stays, so that all is added up by thread once. NULL without memory. */
struct blame_share *blame_share_new(bool is_of_many);
void blame_share_free(struct blame_share *share); /* NULL is fine */

/* l is of the whole source. A zeroed struct is empty. Those of the source's share where it has them. -ENOMEM. */
MUST_USE int blame_sums_collect(struct blame_sums *b, const struct scope *sc,
                                const struct units *units, struct ledger *l);
void blame_sums_done(struct blame_sums *b);
