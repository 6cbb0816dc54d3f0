#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_side.h"
#include "analyze/diff_stats.h"
#include "base/cleanup.h"
#include "base/grow.h"

#define DEFAULT_LIMIT 40
#define MAX_ONLY      20
#define SENTENCE      2048
#define FAMILIES      2 /* all tasks together, and task names */

struct metric_def {
	const char *name;
	const char *words, *unit;
	bool is_better_lower;
};

static const struct metric_def metrics[DIFF_METRICS] = {
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

struct diff_change {
	const char *name;
	enum diff_metric metric;
	struct diff_value a, b;
	const char *verdict;
	double p;       /* corrected for all tests of the family; negative: not tested */
	double effect;  /* how many intervals the difference is wide */
	bool is_change; /* beyond noise */
};

struct diff_changes {
	struct diff_change *at;
	size_t nr, capacity;
	size_t nr_tests, nr_changes;
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

static double change_percent(const struct diff_change *c)
{
	return c->a.mean > 0 ? 100.0 * (c->b.mean - c->a.mean) / c->a.mean : 0;
}

static bool is_tested(const struct diff_change *c)
{
	return c->a.nr_windows >= DIFF_MIN_WINDOWS && c->b.nr_windows >= DIFF_MIN_WINDOWS;
}

static void judge(struct diff_change *c)
{
	double difference = c->b.mean - c->a.mean;
	double noise = sqrt(c->a.interval * c->a.interval + c->b.interval * c->b.interval);
	bool is_less = difference < 0;

	if (!is_tested(c)) {
		c->verdict = "too little";
		return;
	}
	if (c->a.mean > 0 && fabs(change_percent(c)) < DIFF_MIN_PERCENT) {
		c->verdict = "same";
		return;
	}
	c->is_change = c->p <= DIFF_ERROR / FAMILIES;
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

/* All tests of a family, which are corrected together. */
static int judge_all(struct diff_changes *all)
{
	SCOPED(scoped_free) double *p = calloc(all->nr ? all->nr : 1, sizeof(*p));
	size_t nr = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++) {
		const struct diff_change *c = &all->at[i];

		if (is_tested(c))
			p[nr++] = diff_p_value(c->a.values, c->a.nr_windows, c->b.values,
			                       c->b.nr_windows);
	}
	if (diff_holm(p, nr))
		return -ENOMEM;
	all->nr_tests = nr;
	nr = 0;
	for (size_t i = 0; i < all->nr; i++) {
		struct diff_change *c = &all->at[i];

		c->p = is_tested(c) ? p[nr++] : -1;
		judge(c);
		all->nr_changes += c->is_change;
	}
	return 0;
}

static int add_change(struct diff_changes *all, const struct diff_change *c)
{
	if (GROW(all->at, all->capacity, all->nr))
		return -ENOMEM;
	all->at[all->nr++] = *c;
	return 0;
}

static int compare(struct diff_side *a, struct diff_side *b, const char *name,
                   struct diff_changes *all)
{
	struct diff_group *in_a = diff_side_find(a, name), *in_b = diff_side_find(b, name);

	for (enum diff_metric m = 0; m < DIFF_METRICS; m++) {
		struct diff_change c = { .name = name, .metric = m };

		c.a = diff_value_of(a, in_a, m);
		c.b = diff_value_of(b, in_b, m);
		if ((c.a.nr_windows || c.b.nr_windows) && add_change(all, &c))
			return -ENOMEM;
	}
	return 0;
}

/* Waits that changed first, then the others; the most certain first in each. */
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

static void show_value(struct report *r, const char *key, double value, bool is_known)
{
	report_double_if(r, key, is_known, value, value < 100 ? 2 : 1);
}

static void show_change(const struct diff_change *c, enum pass_by by, struct report *r)
{
	report_begin_object(r, NULL);
	report_string(r, pass_by_name(by), c->name);
	report_string(r, "metric", metrics[c->metric].name);
	show_value(r, "a", c->a.mean, c->a.nr_windows);
	show_value(r, "a_interval", c->a.interval, c->a.interval >= 0);
	show_value(r, "b", c->b.mean, c->b.nr_windows);
	show_value(r, "b_interval", c->b.interval, c->b.interval >= 0);
	report_double_if(r, "change_percent", c->a.mean > 0 && c->b.nr_windows, change_percent(c),
	                 1);
	report_double_if(r, "p_corrected", c->p >= 0, c->p, 4);
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
		if (!diff_side_find(other, in->groups[i]->name)) {
			report_string(r, NULL, in->groups[i]->name);
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
	return strcmp(left->name, right->name);
}

static void sort_side(struct diff_side *side)
{
	if (side->nr > 1)
		qsort(side->groups + 1, side->nr - 1, sizeof(side->groups[0]), by_weight);
}

/* A text that grows; what does not fit is cut off. */
struct sentence {
	char text[SENTENCE];
	size_t len;
};

static void say(struct sentence *to, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(struct sentence *to, const char *fmt, ...)
{
	size_t room = sizeof(to->text) - to->len;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(to->text + to->len, room, fmt, args);
	va_end(args);
	to->len += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

/* "mean slice more (12.0 to 14.5 us, +20.8 %)" */
static void say_change(const struct diff_change *c, struct sentence *to)
{
	const struct metric_def *m = &metrics[c->metric];

	say(to, "%s %s (%.*f to %.*f%s", m->words, c->verdict, c->a.mean < 100 ? 2 : 1, c->a.mean,
	    c->b.mean < 100 ? 2 : 1, c->b.mean, m->unit);
	if (c->a.mean > 0)
		say(to, ", %+.1f %%", change_percent(c));
	say(to, ")");
}

static uint32_t nr_names_changed(const struct diff_changes *all)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < all->nr; i++) {
		bool is_first = all->at[i].is_change;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !all->at[k].is_change ||
			           strcmp(all->at[k].name, all->at[i].name) != 0;
		nr += is_first;
	}
	return nr;
}

/* What changed, in one sentence: all tasks together, then how many names. */
static void say_all(const struct diff_changes *overall, const struct diff_changes *names,
                    uint32_t nr_names, enum pass_by by, struct report *r)
{
	static const char *const many[PASS_BYS] = { [PASS_BY_THREAD] = "threads",
		                                    [PASS_BY_PROCESS] = "processes",
		                                    [PASS_BY_COMM] = "task names",
		                                    [PASS_BY_CGROUP] = "cgroups",
		                                    [PASS_BY_CLASS] = "classes" };
	struct sentence all = { .len = 0 };
	uint32_t nr = nr_names_changed(names);
	const char *between = "";

	say(&all, "All tasks together: %s", overall->nr_changes ? "" : "no change");
	for (size_t i = 0; i < overall->nr; i++) {
		if (!overall->at[i].is_change)
			continue;
		say(&all, "%s", between);
		say_change(&overall->at[i], &all);
		between = ", ";
	}
	if (nr)
		say(&all, "; %u of %u %s changed.", nr, nr_names, many[by]);
	else
		say(&all, "; no change in any of %u %s.", nr_names, many[by]);
	report_string(r, "summary", all.text);
}

static void show_note(const struct diff_changes *overall, const struct diff_changes *names,
                      struct report *r)
{
	report_u64(r, "tests", overall->nr_tests + names->nr_tests);
	report_string(
		r, "note",
		"a change is reported if it is at least 2 % and the chance of any false change "
		"among all tests of this comparison is at most 1 % (Holm's correction); it says "
		"that the recordings differ, not why: recordings of the same workload also differ "
		"if the machine did other things");
}

static void show_rows(const struct diff_changes *all, enum pass_by by, bool has_noise,
                      uint32_t limit, const char *key, struct report *r)
{
	report_begin_array(r, key);
	for (size_t i = 0; i < all->nr && i < limit; i++)
		if (all->at[i].is_change || has_noise)
			show_change(&all->at[i], by, r);
	report_end_array(r);
}

static void show(const struct diff_cfg *cfg, const struct diff_changes *overall,
                 const struct diff_changes *names, uint32_t nr_names, enum pass_by by,
                 struct report *r)
{
	say_all(overall, names, nr_names, by, r);
	show_side(cfg->a, "a", r);
	show_side(cfg->b, "b", r);
	show_rows(overall, by, true, UINT32_MAX, "overall", r);
	report_u64(r, "changes_found", names->nr_changes);
	show_rows(names, by, cfg->has_noise, cfg->limit ? cfg->limit : DEFAULT_LIMIT, "changes", r);
}

static int compare_all(const struct diff_cfg *cfg, struct diff_side *a, struct diff_side *b,
                       struct report *r)
{
	struct diff_changes overall = { 0 }, names = { 0 };
	uint32_t nr_names = 0;
	int err;

	sort_side(a);
	sort_side(b);
	err = compare(a, b, DIFF_ALL, &overall);
	for (uint32_t i = 1; i < a->nr && !err; i++)
		if (diff_side_find(b, a->groups[i]->name)) {
			nr_names++;
			err = compare(a, b, a->groups[i]->name, &names);
		}
	if (!err)
		err = judge_all(&overall);
	if (!err)
		err = judge_all(&names);
	if (!err && names.nr)
		qsort(names.at, names.nr, sizeof(names.at[0]), by_effect);
	if (!err) {
		show(cfg, &overall, &names, nr_names, a->args.by, r);
		show_only(a, b, "only_in_a", r);
		show_only(b, a, "only_in_b", r);
		show_note(&overall, &names, r);
	}
	free(overall.at);
	free(names.at);
	return err;
}

int diff_run(const struct diff_cfg *cfg, struct diag *d, struct report **out)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct diff_side a = { 0 }, b = { 0 };
	int err = r ? diff_side_fill(&a, cfg->a, cfg->args_a, d) : -ENOMEM;

	if (!err)
		err = diff_side_fill(&b, cfg->b, cfg->args_b, d);
	if (!err) {
		report_begin_object(r, NULL);
		err = compare_all(cfg, &a, &b, r);
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
