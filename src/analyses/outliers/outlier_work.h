/*
 * analyses/outliers/outlier_work — where outliers are searched for: the categories, and what is measured in
 * each.
 *
 * Single waits and sleeps are compared with those of all tasks, not of the own task only; run times
 * and switches against those of other threads, or CPUs.
 */
#pragma once

#include <stdint.h>

#include "analyses/outliers/outlier_metric.h"
#include "base/attr.h"

#define OUTLIER_CATEGORIES   3
#define OUTLIER_PER_CATEGORY 3 /* metrics at most */

struct outlier_work;

struct outlier_category {
	const char *name;
	const char *key;       /* of its object among all */
	const char *total_key; /* of its total there */
	int (*collect)(struct outlier_work *x);
};

extern const struct outlier_category outlier_categories[OUTLIER_CATEGORIES];

struct outlier_work {
	struct scope sc;
	const struct outlier_category *category;
	enum outlier_method method;
	uint32_t limit; /* of each list */
	struct outlier_metric metrics[OUTLIER_PER_CATEGORY];
	uint32_t nr_metrics;
};

/* With all members set but the last two. -ENOMEM. */
MUST_USE int outlier_work_judge(struct outlier_work *x);
void outlier_work_done(struct outlier_work *x);
/* Tasks and CPUs that lie outside, listed or not. */
uint64_t outlier_work_total(const struct outlier_work *x);
