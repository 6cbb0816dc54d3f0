/*
 * machine/machine_scx — sched_ext as a screen shows it beside its queues (machine.dsqs): state, counters of the kernel, what
 * the scheduler says of itself. Lent like struct machine; texts are untrusted.
 */
#pragma once

#include "machine/machine.h"

/* A process that was dispatched from a queue in the interval. */
struct machine_scx_task {
	uint32_t tid; /* its tgid */
	char comm[16];
	uint64_t dsq;     /* the last one */
	int32_t last_cpu; /* -1 = unknown */
	struct machine_dist latency;
	double slice_ns; /* given, mean; NAN = none, or without end */
	double used_ns;  /* mean; NAN = none is over */
};

struct machine_scx_counter {
	const char *name; /* select_cpu_fallback */
	int64_t value;    /* since the scheduler was loaded */
	double per_s;     /* NAN = unknown */
};

struct machine_scx {
	bool is_counting;   /* queues are watched */
	const char *reason; /* why they are not and will not be; NULL = they are, or are about to */
	int64_t enable_seq; /* schedulers since boot; -1 = unknown, here and below */
	int64_t nr_rejected;  /* tasks that the scheduler refused */
	int64_t switch_all;   /* 1: all normal tasks are the scheduler's */
	const char *last;     /* the scheduler that ended last, and why; NULL = none was seen to */
	const char *stats;    /* of the scheduler itself, JSON in lines; NULL = not known */
	const char *no_stats; /* why; NULL = they are there, or are on their way */
	double stats_age_s;   /* NAN = none */
	const struct machine_scx_counter *counters; /* of the kernel (Linux 6.15) */
	size_t nr_counters;
	const struct machine_scx_task *tasks;
	size_t nr_tasks;
};
