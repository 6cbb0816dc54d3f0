/* Tasks and CPUs that are unlike the others, by one of the methods of analyses/outliers/outlier_math.h, as a report. */
#include <errno.h>
#include <string.h>

#include "analyses/outliers/outlier_work.h"
#include "analyses/passes.h"
#include "analyze/pass.h"

#define DEFAULT_LIMIT 20

static void show_lists(const struct outlier_work *x, struct report *r)
{
	for (uint32_t i = 0; i < x->nr_metrics; i++)
		outlier_metric_report_lists(&x->metrics[i], x->sc.s, r);
}

static void show_counts(const struct outlier_work *x, struct report *r)
{
	for (uint32_t i = 0; i < x->nr_metrics; i++)
		outlier_metric_report_counts(&x->metrics[i], r);
}

static void show_results(const struct outlier_work *x, struct report *r)
{
	outlier_metric_report_result(&x->metrics[0], r, "detection_result");
	report_begin_array(r, "detection_results");
	for (uint32_t i = 0; i < x->nr_metrics; i++)
		outlier_metric_report_result(&x->metrics[i], r, NULL);
	report_end_array(r);
}

static void show_one(const struct outlier_work *x, struct report *r)
{
	report_begin_object(r, "summary");
	report_u64(r, "total_outliers", outlier_work_total(x));
	show_counts(x, r);
	report_end_object(r);
	report_begin_object(r, "outliers");
	show_lists(x, r);
	report_end_object(r);
	show_results(x, r);
}

static void show_all(const struct outlier_work *all, struct report *r)
{
	uint64_t total = 0;

	for (size_t i = 0; i < OUTLIER_CATEGORIES; i++)
		total += outlier_work_total(&all[i]);
	report_begin_object(r, "summary");
	report_u64(r, "total_outliers", total);
	for (size_t i = 0; i < OUTLIER_CATEGORIES; i++)
		report_u64(r, outlier_categories[i].total_key, outlier_work_total(&all[i]));
	report_begin_object(r, "by_metric");
	for (size_t i = 0; i < OUTLIER_CATEGORIES; i++)
		show_counts(&all[i], r);
	report_end_object(r);
	report_end_object(r);
	for (size_t i = 0; i < OUTLIER_CATEGORIES; i++) {
		report_begin_object(r, outlier_categories[i].key);
		show_lists(&all[i], r);
		show_results(&all[i], r);
		report_end_object(r);
	}
}

/* NULL is all. -EINVAL for a name that is none. */
static int find_category(const char *name, const struct outlier_category **out)
{
	*out = NULL;
	if (!name || !strcmp(name, "all"))
		return 0;
	for (size_t i = 0; i < OUTLIER_CATEGORIES; i++)
		if (!strcmp(outlier_categories[i].name, name)) {
			*out = &outlier_categories[i];
			return 0;
		}
	return -EINVAL;
}

static int prepare(struct outlier_work *x, const struct source *s, const struct pass_args *args,
                   struct diag *d)
{
	const enum outlier_method *method = outlier_method_find(args->method);
	int err;

	if (!method)
		return diag_set(d, -EINVAL, "use IQR, MAD, StdDev or Percentile",
		                "'%s' is not a method of finding outliers", args->method);
	x->method = *method;
	x->limit = pass_limit(&pass_outliers, args);
	err = scope_init(&x->sc, s, args, d);
	if (err)
		return err;
	err = outlier_work_judge(x);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	struct outlier_work all[OUTLIER_CATEGORIES] = { 0 };
	const struct outlier_category *only;
	int err = find_category(args->category, &only);

	if (err)
		return diag_set(d, err, "use latency, runtime, cpu or all",
		                "'%s' is not a category of outliers", args->category);
	for (size_t i = 0; !err && i < OUTLIER_CATEGORIES; i++) {
		all[i].category = &outlier_categories[i];
		if (!only || only == &outlier_categories[i])
			err = prepare(&all[i], s, args, d);
	}
	if (!err) {
		report_string(r, "detection_method",
		              outlier_method_name(*outlier_method_find(args->method)));
		report_string(r, "category", only ? only->name : "all");
		report_u64(r, "limit_per_subcategory", pass_limit(&pass_outliers, args));
		if (only)
			show_one(&all[only - outlier_categories], r);
		else
			show_all(all, r);
	}
	for (size_t i = 0; i < OUTLIER_CATEGORIES; i++)
		outlier_work_done(&all[i]);
	return err;
}

const struct pass pass_outliers = {
	.id = "outliers",
	.name = "Outlier Detection",
	.category = "scheduling",
	.what = "waits, sleeps, run times and CPUs that differ from the rest",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 4,
	.default_limit = DEFAULT_LIMIT,
	.run = run,
};
