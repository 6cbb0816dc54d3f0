/*
 * analyze/slice_facts — what sched_ext and counters recorded for a slice: found while walking
 * slices, or waits, in the order of their ends; each row of the other tables is read once.
 *
 * sched_ext's record comes with the switch, or, in our own recordings, a moment after it. Memory:
 * 16 bytes per record.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/walk.h"
#include "base/attr.h"

#define SLICE_COUNTERS EV_PMU_MAX

/* Counters of the slice that ended last on a CPU. */
struct slice_counters {
	uint64_t end_ns;
	uint32_t task;
	uint32_t has; /* bit per counter that was read */
	uint64_t values[SLICE_COUNTERS];
};

/* What was said on one CPU, in the order of time. */
struct slice_runs {
	struct slice_run {
		uint64_t ts_ns;
		uint64_t row; /* of the table of runs */
	} * at;
	size_t nr, cap;
	size_t next; /* the first that may still be about a later slice */
};

struct slice_facts {
	const struct timeline *timeline;
	struct walk pmus;
	const union timeline_row *pmu;   /* the next one */
	struct slice_runs *runs;         /* by CPU */
	union timeline_row run;          /* that was found last */
	struct slice_counters *counters; /* by CPU */
	uint32_t nr_cpus;
};

/* -ENOMEM. */
MUST_USE int slice_facts_init(struct slice_facts *f, const struct scope *sc);
void slice_facts_done(struct slice_facts *f);
/* What was recorded at the beginning of a slice; NULL if nothing. Slices must come in the order of their ends. */
const struct pair_run *slice_run(struct slice_facts *f, const struct pair_slice *slice);
/* The same for the slice that follows a wait; waits in the order of their ends, by another struct slice_facts. */
const struct pair_run *slice_run_after(struct slice_facts *f, const struct pair_wait *wait);
/* NULL if none was read. */
const struct slice_counters *slice_counters(struct slice_facts *f, const struct pair_slice *slice);
