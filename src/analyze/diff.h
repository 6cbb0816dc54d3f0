/*
 * analyze/diff — two recordings side by side: what got better or worse, by task name, cgroup or other units, and whether
 * that is more than noise.
 *
 * Scheduling is anything but independent from one moment to the next, so the spread is not taken from single samples:
 * each recording is cut into DIFF_WINDOWS parts of equal length, each metric is computed in each part, and how much the
 * parts differ gives the confidence interval (95 %, Student's t) beside each number, and the probability that the two
 * recordings differ by chance (analyze/diff_stats). What has values in fewer than DIFF_MIN_WINDOWS parts of either recording
 * is "too little", and is not tested.
 *
 * Hundreds of tests are made at once. They are corrected by Holm's method, in two families of equal weight: all tasks
 * together, and rows. So the chance that a comparison of two recordings that do not differ shows any change at all is
 * at most DIFF_ERROR. A change must also be one of at least DIFF_MIN_PERCENT. Lower is better for waits; other metrics are
 * only "more" or "less".
 */
#pragma once

#include "analyze/pass.h"

#define DIFF_WINDOWS     16
#define DIFF_MIN_WINDOWS 6
#define DIFF_MIN_PERCENT 2.0
#define DIFF_ERROR       0.01

struct diff_cfg {
	const struct source *a;
	const struct source *b;
	const struct pass_args
		*args_a; /* filters and times, of each; by is the same, and comm if not given */
	const struct pass_args *args_b;
	uint32_t limit; /* rows; 0 = 40 */
	bool has_noise; /* also rows that did not change */
};

/* A report {summary, a, b, overall, tests, changes_found, changes, only_in_a, only_in_b, note}. */
MUST_USE int diff_run(const struct diff_cfg *cfg, struct diag *d, struct report **out);

/* Half the width of the 95 % confidence interval of the mean of n values; negative for fewer than 2. */
double diff_interval(const double *values, uint32_t n);
