/*
 * analyze/diff_side — one of both recordings of a diff: metrics by name and part of time. Names are of what the arguments
 * count by (analyze/units): of tasks, cgroups, classes; threads and processes are name/id. Units of one name are one.
 */
#pragma once

#include "analyze/diff.h"
#include "analyze/samples.h"
#include "analyze/scope.h"
#include "analyze/units.h"

enum diff_metric {
	DIFF_WAKE_MEAN,
	DIFF_WAKE_P50,
	DIFF_WAKE_P99,
	DIFF_PREEMPTED_MEAN,
	DIFF_SLICE_MEAN,
	DIFF_RUNTIME,
	DIFF_SWITCHES,
	DIFF_MIGRATIONS,
	DIFF_METRICS,
};

#define DIFF_ALL "(all)" /* the name of all tasks together */

/* Several metrics come from one set of samples. */
enum diff_set { DIFF_WAKE, DIFF_PREEMPTED, DIFF_SLICE, DIFF_SETS };

struct diff_group {
	char *name;
	struct samples sets[DIFF_SETS][DIFF_WINDOWS];
	uint64_t runtime_ns[DIFF_WINDOWS];
	uint64_t nr_switches[DIFF_WINDOWS];
	uint64_t nr_migrations[DIFF_WINDOWS];
	uint64_t weight; /* for the order of names: time run */
};

struct diff_side {
	const struct source *s;
	struct pass_args args;
	struct scope sc;
	struct units units;
	uint64_t start_ns, window_ns;
	struct diff_group **groups; /* the first is all tasks together */
	uint32_t nr, capacity;
	uint32_t *by_unit; /* group + 1 */
};

/* -ENOMEM, or what scope_init() and units_init() say. */
MUST_USE int diff_side_fill(struct diff_side *side, const struct source *s,
                            const struct pass_args *args, struct diag *d);
void diff_side_done(struct diff_side *side);
/* NULL if nothing has that name. */
struct diff_group *diff_side_find(const struct diff_side *side, const char *name);

/* A metric over all parts: its mean, the interval, and in how many parts it has a value. */
struct diff_value {
	double mean;
	double interval;
	uint32_t nr_windows;
	uint64_t nr_samples;
	double values[DIFF_WINDOWS]; /* nr_windows of them, in order of time */
};
struct diff_value diff_value_of(const struct diff_side *side, struct diff_group *g,
                                enum diff_metric metric);
