/*
 * machine/machine_interval — what one interval measured of a task, a process or a CPU, and how a row of the screen shows it.
 *
 * Two adapters make it: machine/machine_latency from a drain of the counters of stat, replay/replay_sums from a cell of a
 * recording. What is measured is listed in machine/machine.h, with one definition for both. Pure.
 */
#pragma once

#include "machine/machine.h"

struct hist;

struct machine_interval {
	uint32_t id; /* tid, or tgid */
	uint32_t tgid;
	uint64_t run_ns, wait_ns; /* within the interval, also of what began before or ends later */
	uint64_t stall_ns;        /* the longest wait that lasts at its end, if it is a stall */
	bool lacks_run; /* switches were not seen: the row has it from the kernel's own account */
	uint64_t counts[INTERVAL_COUNTS];
	struct machine_dist dists[INTERVAL_DISTS];
};

/* Rates and times stay as they are where no time passed. */
void machine_interval_show(const struct machine_interval *x, double seconds,
                           struct machine_task *row);

struct machine_cpu_interval {
	uint64_t switches;
	uint64_t wakeups;                   /* made on it */
	uint64_t arrivals;                  /* tasks that moved to it */
	bool lacks_wakeups, lacks_arrivals; /* they were not counted */
};

/* What was not counted, or where no time passed, is unknown. */
void machine_cpu_interval_show(const struct machine_cpu_interval *x, double seconds,
                               struct machine_cpu *row);

struct machine_dist machine_dist_of(const struct hist *h); /* NULL = an empty one */
