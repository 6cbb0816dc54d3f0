/*
 * analyze/dsq_rows — dispatch queues of sched_ext: which there were, how long tasks waited in each, how many at a time.
 *
 * A wait in a queue counts when it ends, once, whether or not its beginning was seen. Depths are those that were
 * recorded, weighted by time; where none were, they follow from the waits whose beginning is known. The slice that a run
 * was given is that at its switch-in; what it used is the time to its switch-out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/buckets.h"
#include "analyze/scope.h"
#include "base/attr.h"

struct dsq {
	uint64_t moved; /* left for another queue */
	bool has_depth; /* recorded */
	uint64_t depth; /* that holds, while collecting */
	uint64_t depth_since_ns;
	uint64_t max_depth;
	uint64_t known_ns;
	double weighted; /* sum of depths by ns */
	/* Of the runs that followed a stay: slices that were given, and time on the CPU; both where they are known. */
	uint64_t given, given_ns;
	uint64_t used, used_ns;
};

struct dsq_rows {
	const struct scope *sc;
	struct buckets waits; /* by id */
	struct dsq *at;       /* by number of the bucket */
	uint32_t nr, room;
	uint64_t total; /* waits that ended */
	struct grouped starts, ends;
};

/* -ENOMEM. */
MUST_USE int dsq_rows_collect(struct dsq_rows *q, const struct scope *sc);
void dsq_rows_done(struct dsq_rows *q);
/* The work of a pass that is about dispatch queues alone, and what collects and frees it (struct pass_work). */
struct dsq_work {
	struct scope sc;
	struct dsq_rows rows;
};
MUST_USE int dsq_work_collect(void *work);
void dsq_work_done(void *work);
/* The name of the scheduler; NULL if unknown. */
const char *dsq_scheduler(const struct source *s);
