/*
 * tui/cpu_items — CPUs, or what they are grouped into, as rows of one kind.
 *
 * Of a group: shares of time and frequency are means over its CPUs that are online, rates are sums. Distributions cannot
 * be added up from percentiles: p50, p99 and max are those of the worst CPU, the mean is exact. So is hardware pressure.
 */
#pragma once

#include "tui/view.h"

struct cpu_item {
	int32_t id; /* of the CPU, LLC or node; -1 = of those that are in none */
	int32_t core, llc, node;
	uint32_t nr_cpus, nr_online;
	double busy, busy_min, busy_max; /* of 1; NAN = unknown, as all below */
	double user, system, irq, iowait, steal;
	double mhz, uncore_mhz;
	double hw_pressure;
	double switches_per_s, wakeups_per_s, migrations_per_s;
	struct machine_dist wait;
	struct machine_history history;
	const char *comm; /* that runs, if it is a CPU */
	char cpus[32];    /* 0-7,16-23; cut with "..." */
};

struct cpu_items {
	struct cpu_item *items; /* in the order of ids */
	size_t nr;
	double *values; /* of histories of groups */
};

#define CPU_ITEMS_ALL (-2)

/* -ENOMEM. Only those of a node unless node is CPU_ITEMS_ALL. */
MUST_USE int cpu_items_init(struct cpu_items *c, const struct machine *m, enum view_group group,
                            int32_t node);
void cpu_items_done(struct cpu_items *c);
/* All of them as one. */
struct cpu_item cpu_items_total(const struct cpu_items *c);
