#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_side.h"
#include "base/cleanup.h"

#define MIN_WINDOWS   4
#define DEFAULT_LIMIT 40
#define MAX_ONLY      20

struct metric {
	const char *name;
	bool is_better_lower;
};

static const struct metric metrics[DIFF_METRICS] = {
	[DIFF_WAKE_MEAN] = { "wakeup_latency_mean_us", true },
	[DIFF_WAKE_P50] = { "wakeup_latency_p50_us", true },
	[DIFF_WAKE_P99] = { "wakeup_latency_p99_us", true },
	[DIFF_PREEMPTED_MEAN] = { "preempted_wait_mean_us", true },
	[DIFF_SLICE_MEAN] = { "slice_mean_us", false },
	[DIFF_RUNTIME] = { "runtime_percent_of_one_cpu", false },
	[DIFF_SWITCHES] = { "switches_per_sec", false },
	[DIFF_MIGRATIONS] = { "migrations_per_sec", false },
};

struct change {
	const char *comm;
	enum diff_metric metric;
	struct diff_value a, b;
	const char *verdict;
	double effect; /* how many intervals the difference is wide; 0 = noise */
};

struct changes {
	struct change *at;
	size_t nr, capacity;
};

/* Student's t for 95 %, two-sided, by degrees of freedom from 1; 16 windows need 15 at most. */
static const double student[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
	                          2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131 };

double diff_interval(const double *values, uint32_t n)
{
	double sum = 0, squares = 0, mean;
	uint32_t freedom = n - 1;

	if (n < 2)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	mean = sum / n;
	for (uint32_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	if (freedom > sizeof(student) / sizeof(student[0]))
		freedom = sizeof(student) / sizeof(student[0]);
	return student[freedom - 1] * sqrt(squares / (n - 1) / n);
}

static double change_percent(const struct change *c)
{
	return c->a.mean > 0 ? 100.0 * (c->b.mean - c->a.mean) / c->a.mean : 0;
}

static void judge(struct change *c)
{
	double difference = c->b.mean - c->a.mean;
	double noise = sqrt(c->a.interval * c->a.interval + c->b.interval * c->b.interval);
	bool is_less = difference < 0;

	if (c->a.nr_windows < MIN_WINDOWS || c->b.nr_windows < MIN_WINDOWS) {
		c->verdict = "too little";
		return;
	}
	if (fabs(difference) <= noise ||
	    (c->a.mean > 0 && fabs(change_percent(c)) < DIFF_MIN_PERCENT)) {
		c->verdict = "same";
		return;
	}
	c->effect = noise > 0 ? fabs(difference) / noise : INFINITY;
	if (metrics[c->metric].is_better_lower)
		c->verdict = is_less ? "better" : "worse";
	else
		c->verdict = is_less ? "less" : "more";
}

static int add_change(struct changes *all, const struct change *c)
{
	if (all->nr == all->capacity) {
		size_t capacity = all->capacity ? 2 * all->capacity : 64;
		struct change *at = reallocarray(all->at, capacity, sizeof(*at));

		if (!at)
			return -ENOMEM;
		all->at = at;
		all->capacity = capacity;
	}
	all->at[all->nr++] = *c;
	return 0;
}

static int compare(struct diff_side *a, struct diff_side *b, const char *comm, bool has_noise,
                   struct changes *all)
{
	struct diff_group *in_a = diff_side_find(a, comm), *in_b = diff_side_find(b, comm);

	for (enum diff_metric m = 0; m < DIFF_METRICS; m++) {
		struct change c = { .comm = comm, .metric = m };

		c.a = diff_value_of(a, in_a, m);
		c.b = diff_value_of(b, in_b, m);
		judge(&c);
		if ((c.effect > 0 || has_noise) && (c.a.nr_windows || c.b.nr_windows) &&
		    add_change(all, &c))
			return -ENOMEM;
	}
	return 0;
}

/* Waits that changed first, then the rest; the surest first in each. */
static int by_effect(const void *a, const void *b)
{
	const struct change *left = a, *right = b;
	bool is_left_wait = metrics[left->metric].is_better_lower && left->effect > 0;
	bool is_right_wait = metrics[right->metric].is_better_lower && right->effect > 0;
	int order;

	if (is_left_wait != is_right_wait)
		return is_left_wait ? -1 : 1;
	if (left->effect != right->effect)
		return left->effect > right->effect ? -1 : 1;
	order = strcmp(left->comm, right->comm);
	return order ? order : (int)left->metric - (int)right->metric;
}

static void show_value(struct report *r, const char *key, double value, bool is_known)
{
	if (is_known)
		report_double(r, key, value, value < 100 ? 2 : 1);
	else
		report_null(r, key);
}

static void show_change(const struct change *c, struct report *r)
{
	report_begin_object(r, NULL);
	report_string(r, "comm", c->comm);
	report_string(r, "metric", metrics[c->metric].name);
	show_value(r, "a", c->a.mean, c->a.nr_windows);
	show_value(r, "a_interval", c->a.interval, c->a.interval >= 0);
	show_value(r, "b", c->b.mean, c->b.nr_windows);
	show_value(r, "b_interval", c->b.interval, c->b.interval >= 0);
	if (c->a.mean > 0 && c->b.nr_windows)
		report_double(r, "change_percent", change_percent(c), 1);
	else
		report_null(r, "change_percent");
	report_string(r, "verdict", c->verdict);
	report_end_object(r);
}

static void show_side(const struct source *s, const char *key, struct report *r)
{
	report_begin_object(r, key);
	report_string(r, "file", s->facts->name);
	report_string(r, "scheduler", s->facts->scheduler);
	report_u64(r, "duration_ns", s->end_ns - s->start_ns);
	report_u64(r, "cpus", s->facts->nr_cpus);
	report_u64(r, "lost_events", s->facts->lost);
	report_end_object(r);
}

/* Names that only one of both has, those that ran most first. */
static void show_only(const struct diff_side *in, const struct diff_side *other, const char *key,
                      struct report *r)
{
	uint32_t nr = 0;

	report_begin_array(r, key);
	for (uint32_t i = 1; i < in->nr && nr < MAX_ONLY; i++)
		if (!diff_side_find(other, in->groups[i]->comm)) {
			report_string(r, NULL, in->groups[i]->comm);
			nr++;
		}
	report_end_array(r);
}

static int by_weight(const void *a, const void *b)
{
	const struct diff_group *left = *(const struct diff_group *const *)a,
				*right = *(const struct diff_group *const *)b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return strcmp(left->comm, right->comm);
}

static void sort_side(struct diff_side *side)
{
	if (side->nr > 1)
		qsort(side->groups + 1, side->nr - 1, sizeof(side->groups[0]), by_weight);
}

static int show(const struct diff_cfg *cfg, struct diff_side *a, struct diff_side *b,
                struct report *r)
{
	struct changes overall = { 0 }, all = { 0 };
	uint32_t limit = cfg->limit ? cfg->limit : DEFAULT_LIMIT;
	int err;

	sort_side(a);
	sort_side(b);
	err = compare(a, b, "(all)", true, &overall);
	for (uint32_t i = 1; i < a->nr && !err; i++)
		if (diff_side_find(b, a->groups[i]->comm))
			err = compare(a, b, a->groups[i]->comm, cfg->has_noise, &all);
	if (all.nr)
		qsort(all.at, all.nr, sizeof(all.at[0]), by_effect);
	show_side(cfg->a, "a", r);
	show_side(cfg->b, "b", r);
	report_begin_array(r, "overall");
	for (size_t i = 0; i < overall.nr; i++)
		show_change(&overall.at[i], r);
	report_end_array(r);
	report_u64(r, "changes_found", all.nr);
	report_begin_array(r, "changes");
	for (size_t i = 0; i < all.nr && i < limit; i++)
		show_change(&all.at[i], r);
	report_end_array(r);
	show_only(a, b, "only_in_a", r);
	show_only(b, a, "only_in_b", r);
	free(overall.at);
	free(all.at);
	return err;
}

int diff_run(const struct diff_cfg *cfg, struct diag *d, struct report **out)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct diff_side a = { 0 }, b = { 0 };
	int err = r ? diff_side_fill(&a, cfg->a, cfg->args_a) : -ENOMEM;

	if (!err)
		err = diff_side_fill(&b, cfg->b, cfg->args_b);
	if (!err) {
		report_begin_object(r, NULL);
		err = show(cfg, &a, &b, r);
		report_end_object(r);
	}
	diff_side_done(&a);
	diff_side_done(&b);
	if (!err)
		err = report_error(r);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	*out = TAKE_PTR(r);
	return 0;
}
