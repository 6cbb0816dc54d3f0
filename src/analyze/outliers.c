/*
 * Tasks and CPUs that are unlike the others, by one of the methods of analyze/outlier_math.h. Single waits and sleeps are held
 * against those of all tasks, not of the own task only; run times and switches against those of other
 * threads, or CPUs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/latency.h"
#include "analyze/outlier_metric.h"
#include "analyze/pass.h"
#include "analyze/passes.h"
#include "base/cleanup.h"

#define DEFAULT_LIMIT 20
#define PERCENT_SCALE 100 /* percents are kept in hundredths */
#define PER_CATEGORY  3   /* metrics at most */

struct work;

struct category {
	const char *name;
	const char *key;       /* of its object among all */
	const char *total_key; /* of its total there */
	int (*collect)(struct work *x);
};

struct work {
	struct scope sc;
	const struct category *category;
	enum outlier_method method;
	uint32_t limit;
	struct outlier_metric metrics[PER_CATEGORY];
	uint32_t nr_metrics;
};

static void work_done(struct work *x)
{
	for (uint32_t i = 0; i < PER_CATEGORY; i++)
		outlier_metric_done(&x->metrics[i]);
	scope_done(&x->sc);
}

static int collect_latency(struct work *x)
{
	struct rows waits = { .sc = &x->sc }, sleeps = { .sc = &x->sc };
	struct pair_wait wait;
	struct pair_sleep sleep;

	x->nr_metrics = 3;
	x->metrics[0].name = "wakeup_latency_ns";
	x->metrics[0].high = "wakeup_latency";
	x->metrics[1].name = "schedule_latency_ns";
	x->metrics[1].high = "schedule_latency";
	x->metrics[2].name = "blocked_time_ns";
	x->metrics[2].high = "blocked_time";
	while (rows_wait(&waits, &wait)) {
		if (wait.is_open)
			continue;
		if (latency_counts(&wait))
			grouped_add(&x->metrics[0].numbers, wait.task, latency_ns(&wait));
		grouped_add(&x->metrics[1].numbers, wait.task, latency_queue_ns(&wait));
	}
	while (rows_sleep(&sleeps, &sleep))
		if (sleep.state == PAIR_SLEEP_D && !sleep.is_open)
			grouped_add(&x->metrics[2].numbers, sleep.task,
			            sleep.end_ns - sleep.start_ns);
	return 0;
}

/* What slices come to, by task or by CPU. */
struct sum {
	uint64_t ns;
	uint64_t nr;
};

static int collect_runtime(struct work *x)
{
	SCOPED(scoped_free)
	struct sum *sums = calloc(x->sc.nr_tasks ? x->sc.nr_tasks : 1, sizeof(*sums));
	struct rows it = { .sc = &x->sc };
	struct pair_slice row;

	if (!sums)
		return -ENOMEM;
	x->nr_metrics = 2;
	x->metrics[0].name = "total_runtime_ns";
	x->metrics[0].high = "excessive";
	x->metrics[0].low = "minimal";
	x->metrics[1].name = "context_switches";
	x->metrics[1].high = "high_context_switches";
	while (rows_slice(&it, &row)) {
		if (row.task == TASKS_NONE)
			continue;
		sums[row.task].ns += scope_cut(&x->sc, row.start_ns, row.end_ns);
		sums[row.task].nr++;
	}
	for (uint32_t i = 0; i < x->sc.nr_tasks; i++) {
		if (!sums[i].nr)
			continue;
		grouped_add(&x->metrics[0].numbers, i, sums[i].ns);
		grouped_add(&x->metrics[1].numbers, i, sums[i].nr);
	}
	return 0;
}

static void add_cpu(struct work *x, uint32_t cpu, const struct sum *sum)
{
	double percent = x->sc.span_ns ? 100.0 * (double)sum->ns / (double)x->sc.span_ns : 0;

	grouped_add(&x->metrics[0].numbers, cpu, (uint64_t)(percent * PERCENT_SCALE + 0.5));
	grouped_add(&x->metrics[1].numbers, cpu, sum->nr);
}

static int collect_cpu(struct work *x)
{
	SCOPED(scoped_free) struct sum *sums = calloc(x->sc.nr_cpus + 1U, sizeof(*sums));
	struct rows slices = { .sc = &x->sc }, idles = { .sc = &x->sc };
	struct pair_slice slice;
	struct pair_idle idle;

	if (!sums)
		return -ENOMEM;
	x->nr_metrics = 2;
	x->metrics[0].name = "utilization_percent";
	x->metrics[0].high = "overutilized";
	x->metrics[0].low = "underutilized";
	x->metrics[0].scale = PERCENT_SCALE;
	x->metrics[1].name = "context_switches";
	x->metrics[1].high = "high_contention";
	x->metrics[0].is_cpu = x->metrics[1].is_cpu = true;
	while (rows_slice(&slices, &slice))
		if (slice.cpu < x->sc.nr_cpus) {
			sums[slice.cpu].ns += scope_cut(&x->sc, slice.start_ns, slice.end_ns);
			sums[slice.cpu].nr++;
		}
	while (rows_idle(&idles, &idle))
		if (idle.cpu < x->sc.nr_cpus)
			sums[idle.cpu].nr++;
	for (uint32_t i = 0; i < x->sc.nr_cpus; i++)
		if (sums[i].nr)
			add_cpu(x, i, &sums[i]);
	return 0;
}

static const struct category categories[] = {
	{ "latency", "latency_outliers", "latency_outliers_total", collect_latency },
	{ "runtime", "runtime_outliers", "runtime_outliers_total", collect_runtime },
	{ "cpu", "cpu_outliers", "cpu_outliers_total", collect_cpu },
};

#define NR_CATEGORIES (sizeof(categories) / sizeof(categories[0]))

static int judge(struct work *x)
{
	int err = x->category->collect(x);

	for (uint32_t i = 0; !err && i < x->nr_metrics; i++)
		err = outlier_metric_judge(&x->metrics[i], x->method,
		                           x->metrics[i].is_cpu ? x->sc.nr_cpus : x->sc.nr_tasks,
		                           x->limit);
	return err;
}

static uint64_t total_of(const struct work *x)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < x->nr_metrics; i++)
		total += x->metrics[i].nr_high + x->metrics[i].nr_low;
	return total;
}

static void show_lists(const struct work *x, struct report *r)
{
	for (uint32_t i = 0; i < x->nr_metrics; i++)
		outlier_metric_report_lists(&x->metrics[i], x->sc.s, r);
}

static void show_counts(const struct work *x, struct report *r)
{
	for (uint32_t i = 0; i < x->nr_metrics; i++)
		outlier_metric_report_counts(&x->metrics[i], r);
}

static void show_results(const struct work *x, struct report *r)
{
	outlier_metric_report_result(&x->metrics[0], r, "detection_result");
	report_begin_array(r, "detection_results");
	for (uint32_t i = 0; i < x->nr_metrics; i++)
		outlier_metric_report_result(&x->metrics[i], r, NULL);
	report_end_array(r);
}

static void show_one(const struct work *x, struct report *r)
{
	report_begin_object(r, "summary");
	report_u64(r, "total_outliers", total_of(x));
	show_counts(x, r);
	report_end_object(r);
	report_begin_object(r, "outliers");
	show_lists(x, r);
	report_end_object(r);
	show_results(x, r);
}

static void show_all(const struct work *all, struct report *r)
{
	uint64_t total = 0;

	for (size_t i = 0; i < NR_CATEGORIES; i++)
		total += total_of(&all[i]);
	report_begin_object(r, "summary");
	report_u64(r, "total_outliers", total);
	for (size_t i = 0; i < NR_CATEGORIES; i++)
		report_u64(r, categories[i].total_key, total_of(&all[i]));
	report_begin_object(r, "by_metric");
	for (size_t i = 0; i < NR_CATEGORIES; i++)
		show_counts(&all[i], r);
	report_end_object(r);
	report_end_object(r);
	for (size_t i = 0; i < NR_CATEGORIES; i++) {
		report_begin_object(r, categories[i].key);
		show_lists(&all[i], r);
		show_results(&all[i], r);
		report_end_object(r);
	}
}

/* NULL is all. -EINVAL for a name that is none. */
static int find_category(const char *name, const struct category **out)
{
	*out = NULL;
	if (!name || !strcmp(name, "all"))
		return 0;
	for (size_t i = 0; i < NR_CATEGORIES; i++)
		if (!strcmp(categories[i].name, name)) {
			*out = &categories[i];
			return 0;
		}
	return -EINVAL;
}

static int prepare(struct work *x, const struct source *s, const struct pass_args *args,
                   struct diag *d)
{
	const enum outlier_method *method = outlier_method_find(args->method);
	int err;

	if (!method)
		return diag_set(d, -EINVAL, "use IQR, MAD, StdDev or Percentile",
		                "'%s' is no method of finding outliers", args->method);
	x->method = *method;
	x->limit = pass_limit(&pass_outliers, args);
	err = scope_init(&x->sc, s, args, d);
	if (err)
		return err;
	err = judge(x);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	struct work all[NR_CATEGORIES] = { 0 };
	const struct category *only;
	int err = find_category(args->category, &only);

	if (err)
		return diag_set(d, err, "use latency, runtime, cpu or all",
		                "'%s' is no category of outliers", args->category);
	for (size_t i = 0; !err && i < NR_CATEGORIES; i++) {
		all[i].category = &categories[i];
		if (!only || only == &categories[i])
			err = prepare(&all[i], s, args, d);
	}
	if (!err) {
		report_string(r, "detection_method",
		              outlier_method_name(*outlier_method_find(args->method)));
		report_string(r, "category", only ? only->name : "all");
		report_u64(r, "limit_per_subcategory", pass_limit(&pass_outliers, args));
		if (only)
			show_one(&all[only - categories], r);
		else
			show_all(all, r);
	}
	for (size_t i = 0; i < NR_CATEGORIES; i++)
		work_done(&all[i]);
	return err;
}

const struct pass pass_outliers = {
	.id = "outliers",
	.name = "Outlier Detection",
	.category = "scheduling",
	.what = "waits, sleeps, run times and CPUs that are unlike the others",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 3,
	.default_limit = DEFAULT_LIMIT,
	.run = run,
};
