/*
 * trace/merge — runs of records, merged by time, made complete and pushed to the sink.
 *
 * Records of equal time: of one CPU, a loss, wakes, other events, switches; of several, by CPU, but a task
 * leaves its CPU before it is woken elsewhere, and is woken before it comes on. What follows only from the
 * order of records is filled in here: the previous task, the waker, the process of a new task. Memory of a
 * run is freed as it is consumed.
 */
#pragma once

#include "trace/reader_priv.h"

/* The outputs of all shards, in file order; consumed. 0, or the first error of the sink or of memory. */
MUST_USE int merge_all(struct reader *r, struct rec_out *outs, size_t nr_outs,
                       const struct ev_sink *sink);
/*
 * Where a CPU's records end before those of the others (until_ns of the tally; 0 = they do not): a record that says so.
 * Ends that are not earlier become 0.
 */
void reach_end_cpus(struct reader *r, struct rec_out *out);
