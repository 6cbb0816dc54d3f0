/*
 * analyze/diff — two recordings side by side: what got better or worse, by task name, and whether that is more than
 * noise.
 *
 * Scheduling is anything but independent from one moment to the next, so the spread is not taken from single samples:
 * each recording is cut into DIFF_WINDOWS parts of equal length, each metric is computed in each part, and the
 * confidence interval (95 %) comes from how much the parts differ (Student's t). A difference counts when it is larger
 * than both intervals together (root of the sum of squares) and than DIFF_MIN_PERCENT; what has values in fewer than
 * four parts of either recording is "too little". Lower is better for waits; of the rest only "more" and "less" is said.
 */
#pragma once

#include "analyze/pass.h"

#define DIFF_WINDOWS     16
#define DIFF_MIN_PERCENT 2.0

struct diff_cfg {
	const struct source *a;
	const struct source *b;
	const struct pass_args *args_a; /* filters and times, of each */
	const struct pass_args *args_b;
	uint32_t limit; /* rows; 0 = 40 */
	bool has_noise; /* also rows that did not change */
};

/* A report {a, b, overall, changes, only_in_a, only_in_b}. */
MUST_USE int diff_run(const struct diff_cfg *cfg, struct diag *d, struct report **out);

/* Half the width of the 95 % confidence interval of the mean of n values; negative for fewer than 2. */
double diff_interval(const double *values, uint32_t n);
