/*
 * analyze/diff_judge — what became of the metrics of a comparison: the words for them, and which of many differences are
 * more than noise.
 *
 * A family of tests is corrected as a whole (Holm). The caller makes the changes: their means, intervals and the
 * probability of each alone. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/diff_side.h"
#include "analyze/diff_stats.h"
#include "base/attr.h"

#define DIFF_FAMILIES 2 /* all tasks together, and names */

struct diff_metric_def {
	const char *name;
	const char *words, *unit;
	bool is_better_lower;
};

/* What one side comes to. */
struct diff_mean {
	double mean;
	double interval; /* half the width of 95 %; negative = unknown */
	uint32_t nr;     /* values that it is the mean of; 0 = it has none */
};

struct diff_change {
	const char *name;
	enum diff_metric metric;
	struct diff_mean a, b;
	struct diff_ratio ratio;
	const char *verdict; /* better, worse, more, less; same, unclear; too little */
	bool is_tested;      /* both sides have enough values */
	double p; /* of this test alone; judged, it is corrected for all of the family, negative if it is not tested */
	double effect;  /* how many intervals the difference is wide */
	bool is_change; /* beyond noise */
};

struct diff_changes {
	struct diff_change *at;
	size_t nr, capacity;
	size_t nr_tests, nr_changes;
};

const struct diff_metric_def *diff_metric_of(enum diff_metric metric);
/* 0 where a has none. */
double diff_change_percent(const struct diff_change *c);
/* -ENOMEM. */
MUST_USE int diff_changes_add(struct diff_changes *all, const struct diff_change *c);
/* All tests of a family, which are corrected together. -ENOMEM. */
MUST_USE int diff_judge(struct diff_changes *all);
/* Waits that changed first, then the others; the most certain first in each. */
void diff_changes_sort(struct diff_changes *all);
