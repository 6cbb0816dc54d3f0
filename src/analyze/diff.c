#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_judge.h"
#include "analyze/diff_report.h"
#include "analyze/diff_side.h"
#include "analyze/diff_stats.h"
#include "base/cleanup.h"

#define MAX_ONLY 20

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

static struct diff_mean mean_of(const struct diff_value *v)
{
	return (struct diff_mean){ v->mean, v->interval, v->nr_windows };
}

static struct diff_change change_of(const char *name, enum diff_metric metric,
                                    const struct diff_value *a, const struct diff_value *b)
{
	return (struct diff_change){
		.name = name,
		.metric = metric,
		.a = mean_of(a),
		.b = mean_of(b),
		.is_tested = a->nr_windows >= DIFF_MIN_WINDOWS && b->nr_windows >= DIFF_MIN_WINDOWS,
		.p = diff_p_value(a->values, a->nr_windows, b->values, b->nr_windows),
		.ratio = diff_ratio_of(a->values, a->nr_windows, b->values, b->nr_windows),
	};
}

static int compare(struct diff_side *a, struct diff_side *b, const char *name,
                   struct diff_changes *all)
{
	struct diff_group *in_a = diff_side_find(a, name), *in_b = diff_side_find(b, name);

	for (enum diff_metric m = 0; m < DIFF_METRICS; m++) {
		struct diff_value of_a = diff_value_of(a, in_a, m),
				  of_b = diff_value_of(b, in_b, m);
		struct diff_change c = change_of(name, m, &of_a, &of_b);

		if ((c.a.nr || c.b.nr) && diff_changes_add(all, &c))
			return -ENOMEM;
	}
	return 0;
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

static void show(const struct diff_cfg *cfg, const struct diff_changes *overall,
                 const struct diff_changes *names, uint32_t nr_names, enum pass_by by,
                 struct report *r)
{
	diff_report_summary(overall, names, nr_names, by, r);
	show_side(cfg->a, "a", r);
	show_side(cfg->b, "b", r);
	diff_report_rows(overall, by, &(struct diff_report_cfg){ .has_noise = true }, "overall", r);
	report_u64(r, "changes_found", names->nr_changes);
	diff_report_rows(names, by,
	                 &(struct diff_report_cfg){ .has_noise = cfg->has_noise,
	                                            .limit = cfg->limit ? cfg->limit : DIFF_LIMIT },
	                 "changes", r);
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
		err = diff_judge(&overall);
	if (!err)
		err = diff_judge(&names);
	if (!err) {
		diff_changes_sort(&names);
		show(cfg, &overall, &names, nr_names, a->args.by, r);
		show_only(a, b, "only_in_a", r);
		show_only(b, a, "only_in_b", r);
		report_u64(r, "tests", overall.nr_tests + names.nr_tests);
		report_string(r, "note", DIFF_NOTE);
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
