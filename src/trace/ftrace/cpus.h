/*
 * trace/ftrace/cpus — the CPUs of a file whose events come one after the other, whichever CPU they are of.
 *
 * Each CPU has a decoder and a run of records, made at its first event; ftrace_cpus_merge() puts them in order of time, counts
 * them, and pushes them to the sink. Out of memory sticks: get() returns NULL from then on, and merge() says why.
 * By one thread only.
 */
#pragma once

#include "trace/ftrace/events.h"

struct ftrace_lane;

struct ftrace_cpus {
	struct reader *r;
	struct ftrace_lane **lanes; /* by CPU; NULL = no event yet */
	size_t nr_lanes;
	uint32_t (*find_symbol)(struct ftrace_cpu *on,
	                        uint64_t address); /* of all, see ftrace_cpu */
	const void *find_ctx;
	int err;
};

/* Of a zeroed one with r, and what else is wanted. */
void ftrace_cpus_done(struct ftrace_cpus *c);
/* NULL, and counted, for a number that no CPU has; NULL without memory. */
struct ftrace_cpu *ftrace_cpus_get(struct ftrace_cpus *c, uint64_t cpu);
/*
 * An event of a CPU: its record, if there is one for it, and its counts. Its fields are read; times may go back. The name is
 * that of decoder_text(), for those that have no number (member 0).
 */
void ftrace_cpus_take(struct ftrace_cpu *on, const struct ftrace_event_in *e, uint32_t name);
/* Events of the CPU were lost before this time; how many, 0 = unknown. */
void ftrace_cpus_lost(struct ftrace_cpu *on, uint64_t ts_ns, uint64_t count);
/* All that was taken to the sink; names of tasks are linked. 0, or the first error of memory or of the sink. */
MUST_USE int ftrace_cpus_merge(struct ftrace_cpus *c, const struct ev_sink *sink);
