/*
 * stat/tally/dsq_tally — adds up what the BPF side keeps of dispatch queues (abi/stat.h), as stat/tally/tally does of tasks.
 *
 * The kernel's counters only grow: the difference to what was seen of a queue before is added to its row, in two views,
 * since the active scheduler was loaded and since dsq_tally_begin_interval(). When queues of another scheduler appear,
 * those of the last one are dropped. Pure: no I/O, no clock. One thread. Bounded by STAT_DSQ_MAX rows.
 *
 * The vtime delta of an insertion is its vtime minus that of the insertion before into the same queue. Depth is how many
 * tasks were in the queue at an insertion, the new one included.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"
#include "base/attr.h"
#include "base/hist.h"
#include "stat/tally/tally.h"

struct dsq_tally;

struct dsq_vtime {
	uint64_t count;     /* of differences; 0 = the queue is not in the order of vtime */
	int64_t sum;        /* of them: how far vtime went on */
	uint64_t nr_behind; /* insertions below the one before */
	uint64_t max_ahead;
	uint64_t max_behind;
};

struct dsq_view {
	uint64_t inserts;         /* those from other queues included */
	uint64_t moved_in;        /* of them from another queue */
	uint64_t moved_out;       /* to another queue */
	uint64_t runs;            /* switches to tasks that were inserted here last: dispatches */
	uint64_t endless;         /* of them with a slice without end */
	struct hist latency;      /* from the last insertion to the run */
	struct hist given;        /* slices at the start of runs; without endless ones */
	struct hist used;         /* time on a CPU in those runs */
	uint32_t latency_max_tid; /* the task that waited longest; 0 = unknown */
	struct tally_depth depth;
	struct dsq_vtime vtime;
};

struct dsq_row {
	uint64_t id;
	uint64_t nr_now; /* tasks in it at the last insertion or removal; unknown for those of CPUs */
	struct dsq_view view[TALLY_VIEWS];
};

MUST_USE int dsq_tally_new(struct dsq_tally **out);
void dsq_tally_free(struct dsq_tally *t); /* NULL is fine */

void dsq_tally_begin_interval(struct dsq_tally *t);
/*
 * epoch: the one that has ended, whose peaks no longer change. Without memory the next call makes
 * up for it.
 */
void dsq_tally_take(struct dsq_tally *t, const struct stat_dsq_key *key, const struct stat_dsq *now,
                    uint32_t epoch);

size_t dsq_tally_nr(const struct dsq_tally *t);
const struct dsq_row *dsq_tally_at(const struct dsq_tally *t,
                                   size_t i); /* in no order; NULL beyond */
