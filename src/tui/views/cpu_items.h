/*
 * tui/views/cpu_items — CPUs, or what they are grouped into, as rows of one kind.
 *
 * Of a group: shares of time and frequency are means over its CPUs that are online, rates are sums. What is shown of them
 * (tui/measure) is the value, over those of which it is known. Distributions cannot be added up from percentiles: p50, p99
 * and max are those of the worst CPU, the mean is exact. So is hardware pressure.
 */
#pragma once

#include "tui/measure.h"
#include "tui/view.h"

struct cpu_item {
	int32_t id; /* of the CPU, LLC or node; -1 = of those that are in none */
	int32_t core, llc, node;
	uint32_t nr_cpus, nr_online;
	double busy, busy_min, busy_max;    /* of 1; NAN = unknown, as all below */
	double value, value_min, value_max; /* the extremes are those of single CPUs */
	uint32_t nr_known;                  /* CPUs with a value */
	double part; /* of 1, for a bar: of the largest value, or of the CPU */
	double user, system, irq, iowait, steal;
	double mhz, uncore_mhz;
	double hw_pressure;
	double switches_per_s, wakeups_per_s, migrations_per_s;
	struct machine_dist wait;
	struct machine_history history; /* of the value */
	const char *comm;               /* that runs, if it is a CPU */
	char cpus[32];                  /* 0-7,16-23; cut with "..." */
};

struct cpu_items {
	struct cpu_item *items; /* in the order of ids */
	size_t nr;
	struct measure what;
	double largest; /* of all histories; 1 for shares */
	double *values; /* of histories of groups */
};

#define CPU_ITEMS_ALL (-2)

/* -ENOMEM. Only those of a node unless node is CPU_ITEMS_ALL. Without a measure: how busy they are. */
MUST_USE int cpu_items_init(struct cpu_items *c, const struct machine *m,
                            const struct measure *what, enum view_group group, int32_t node);
void cpu_items_done(struct cpu_items *c);
/* All of them as one. */
struct cpu_item cpu_items_total(const struct cpu_items *c);
