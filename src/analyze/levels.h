/*
 * analyze/levels — counters that hold until they change: for how long each value held on each CPU.
 *
 * A value holds from its record to the next one of that CPU, the last one to the end; before the first, nothing is
 * known. The CPU is the one that the record is about, not the one on which it was made.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/buckets.h"
#include "analyze/scope.h"
#include "base/attr.h"

struct level_cpu {
	bool is_seen;   /* it has data in the requested time */
	uint64_t value; /* that holds, while collecting */
	uint64_t since_ns;
	uint64_t changes;  /* in the time asked for */
	uint64_t known_ns; /* of it */
	uint64_t min, max; /* that held */
	double weighted;   /* sum of values by ns */
};

struct levels {
	struct level_cpu *cpus;
	uint32_t nr_cpus;
	uint64_t changes;        /* of all */
	struct buckets by_value; /* pairs of CPU and value, in that order */
};

/* An object {value: ns} of one CPU, values ascending. */
void levels_report(const struct levels *l, uint32_t cpu, struct report *r, const char *key);
/* How long a value held on a CPU. */
uint64_t levels_held_ns(const struct levels *l, uint32_t cpu, uint32_t value);
/* The value that held longest; of equal ones the lowest. */
uint32_t levels_longest(const struct levels *l, uint32_t cpu);

/* An analysis that reports one such counter, CPU by CPU. */
struct level_view {
	const struct pass *pass;
	uint8_t kind; /* of enum pair_counter_kind */
	const char *description;
	const char *note;
	/* The members of one CPU's object. */
	void (*show_cpu)(const struct levels *l, uint32_t cpu, uint64_t span_ns, struct report *r);
};
MUST_USE int levels_run(const struct level_view *v, const struct source *s,
                        const struct pass_args *args, struct report *r, struct diag *d);
