#include "analyze/diff_judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

static const struct diff_metric_def metrics[DIFF_METRICS] = {
	[DIFF_WAKE_MEAN] = { "wakeup_latency_mean_us", "mean wakeup latency", " us", true },
	[DIFF_WAKE_P50] = { "wakeup_latency_p50_us", "median wakeup latency", " us", true },
	[DIFF_WAKE_P99] = { "wakeup_latency_p99_us", "p99 wakeup latency", " us", true },
	[DIFF_PREEMPTED_MEAN] = { "preempted_wait_mean_us", "mean wait of preempted tasks", " us",
	                          true },
	[DIFF_SLICE_MEAN] = { "slice_mean_us", "mean slice", " us", false },
	[DIFF_RUNTIME] = { "runtime_percent_of_one_cpu", "CPU time", " % of one CPU", false },
	[DIFF_SWITCHES] = { "switches_per_sec", "switches", " per second", false },
	[DIFF_MIGRATIONS] = { "migrations_per_sec", "migrations", " per second", false },
};

const struct diff_metric_def *diff_metric_of(enum diff_metric metric)
{
	return &metrics[metric];
}

double diff_change_percent(const struct diff_change *c)
{
	return c->a.mean > 0 ? 100.0 * (c->b.mean - c->a.mean) / c->a.mean : 0;
}

int diff_changes_add(struct diff_changes *all, const struct diff_change *c)
{
	if (GROW(all->at, all->capacity, all->nr))
		return -ENOMEM;
	all->at[all->nr++] = *c;
	return 0;
}

static void judge(struct diff_change *c)
{
	double difference = c->b.mean - c->a.mean;
	double noise = sqrt(c->a.interval * c->a.interval + c->b.interval * c->b.interval);
	bool is_less = difference < 0;

	if (!c->is_tested) {
		c->verdict = "too little";
		return;
	}
	if (c->a.mean > 0 && fabs(diff_change_percent(c)) < DIFF_MIN_PERCENT) {
		c->verdict = "same";
		return;
	}
	c->is_change = c->p <= DIFF_ERROR / DIFF_FAMILIES;
	if (!c->is_change) {
		c->verdict = difference != 0 ? "unclear" : "same";
		return;
	}
	c->effect = noise > 0 ? fabs(difference) / noise : INFINITY;
	if (metrics[c->metric].is_better_lower)
		c->verdict = is_less ? "better" : "worse";
	else
		c->verdict = is_less ? "less" : "more";
}

int diff_judge(struct diff_changes *all)
{
	SCOPED(scoped_free) double *p = calloc(all->nr ? all->nr : 1, sizeof(*p));
	size_t nr = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++)
		if (all->at[i].is_tested)
			p[nr++] = all->at[i].p;
	if (diff_holm(p, nr))
		return -ENOMEM;
	all->nr_tests = nr;
	nr = 0;
	for (size_t i = 0; i < all->nr; i++) {
		struct diff_change *c = &all->at[i];

		c->p = c->is_tested ? p[nr++] : -1;
		judge(c);
		all->nr_changes += c->is_change;
	}
	return 0;
}

static int by_effect(const void *a, const void *b)
{
	const struct diff_change *left = a, *right = b;
	bool is_left_wait = metrics[left->metric].is_better_lower;
	bool is_right_wait = metrics[right->metric].is_better_lower;
	int order;

	if (left->is_change != right->is_change)
		return left->is_change ? -1 : 1;
	if (is_left_wait != is_right_wait)
		return is_left_wait ? -1 : 1;
	if (left->effect != right->effect)
		return left->effect > right->effect ? -1 : 1;
	order = strcmp(left->name, right->name);
	return order ? order : (int)left->metric - (int)right->metric;
}

void diff_changes_sort(struct diff_changes *all)
{
	if (all->nr)
		qsort(all->at, all->nr, sizeof(all->at[0]), by_effect);
}
