/*
 * model/dsq_monitor — dispatch queues of sched_ext: who came, who went, how long they stayed, how many are there.
 *
 * Fed with the records themselves. A stay is from the insertion to the moment when the task leaves the queue,
 * for a CPU or for another queue; it counts when it is over. Lengths are those that the kernel told, never a
 * difference of counters. The invalid queue (2^63) is no queue. Bounded: records about queues beyond max_dsqs
 * are counted as left out. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "model/live.h"
#include "model/small_hist.h"

struct dsq_monitor;

struct dsq_row {
	uint64_t dsq_id;
	bool is_cut; /* only the lower half of the id is known */
	bool has_length;
	uint64_t nr_inserted; /* with the insertion seen, of those that have left */
	uint64_t nr_left;
	uint64_t nr_moved; /* of those, to another queue */
	uint64_t nr_runs;  /* tasks that came on a CPU and named this queue */
	uint64_t length;
	uint64_t max_length;
	struct live_latency stay;
	struct small_hist hist;
};

MUST_USE int dsq_monitor_new(uint32_t max_dsqs, struct dsq_monitor **out); /* 0 picks 1024 */
void dsq_monitor_free(struct dsq_monitor *m);                              /* NULL is fine */
struct ev_sink dsq_monitor_sink(struct dsq_monitor *m);
void dsq_monitor_reset(struct dsq_monitor *m);
uint32_t dsq_monitor_nr(const struct dsq_monitor *m);
const struct dsq_row *dsq_monitor_at(const struct dsq_monitor *m,
                                     uint32_t i); /* NULL beyond the last */
uint64_t dsq_monitor_percentile_ns(const struct dsq_row *r, uint32_t p10000);
uint64_t dsq_monitor_left_out(const struct dsq_monitor *m);

/* The same records for the aggregates of model/live. */
struct ev_sink dsq_live_sink(struct live *l);
