#include "analyses/outliers/outlier_work.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/latency.h"
#include "base/cleanup.h"

#define PERCENT_SCALE 100 /* percents are kept in hundredths */

void outlier_work_done(struct outlier_work *x)
{
	for (uint32_t i = 0; i < OUTLIER_PER_CATEGORY; i++)
		outlier_metric_done(&x->metrics[i]);
	scope_done(&x->sc);
}

static int collect_latency(struct outlier_work *x)
{
	struct rows waits = { .sc = &x->sc }, sleeps = { .sc = &x->sc };
	struct pair_wait wait;
	struct pair_sleep sleep;

	x->nr_metrics = 3;
	x->metrics[0] = (struct outlier_metric){ .name = "wakeup_latency_ns",
		                                 .high = "wakeup_latency" };
	x->metrics[1] = (struct outlier_metric){ .name = "schedule_latency_ns",
		                                 .high = "schedule_latency" };
	x->metrics[2] = (struct outlier_metric){ .name = "blocked_time_ns",
		                                 .high = "blocked_time" };
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

/* Sums of slices, by task or by CPU. */
struct slice_sum {
	uint64_t ns;
	uint64_t nr;
};

static int collect_runtime(struct outlier_work *x)
{
	SCOPED(scoped_free)
	struct slice_sum *sums = calloc(x->sc.nr_tasks ? x->sc.nr_tasks : 1, sizeof(*sums));
	struct rows it = { .sc = &x->sc };
	struct pair_slice row;

	if (!sums)
		return -ENOMEM;
	x->nr_metrics = 2;
	x->metrics[0] = (struct outlier_metric){ .name = "total_runtime_ns",
		                                 .high = "excessive",
		                                 .low = "minimal" };
	x->metrics[1] = (struct outlier_metric){ .name = "context_switches",
		                                 .high = "high_context_switches" };
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

static void add_cpu(struct outlier_work *x, uint32_t cpu, const struct slice_sum *sum)
{
	double percent = x->sc.span_ns ? 100.0 * (double)sum->ns / (double)x->sc.span_ns : 0;

	grouped_add(&x->metrics[0].numbers, cpu, (uint64_t)(percent * PERCENT_SCALE + 0.5));
	grouped_add(&x->metrics[1].numbers, cpu, sum->nr);
}

static int collect_cpu(struct outlier_work *x)
{
	SCOPED(scoped_free) struct slice_sum *sums = calloc(x->sc.nr_cpus + 1U, sizeof(*sums));
	struct rows slices = { .sc = &x->sc }, idles = { .sc = &x->sc };
	struct pair_slice slice;
	struct pair_idle idle;

	if (!sums)
		return -ENOMEM;
	x->nr_metrics = 2;
	x->metrics[0] = (struct outlier_metric){ .name = "utilization_percent",
		                                 .high = "overutilized",
		                                 .low = "underutilized",
		                                 .is_cpu = true,
		                                 .scale = PERCENT_SCALE };
	x->metrics[1] = (struct outlier_metric){ .name = "context_switches",
		                                 .high = "high_contention",
		                                 .is_cpu = true };
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

const struct outlier_category outlier_categories[OUTLIER_CATEGORIES] = {
	{ "latency", "latency_outliers", "latency_outliers_total", collect_latency },
	{ "runtime", "runtime_outliers", "runtime_outliers_total", collect_runtime },
	{ "cpu", "cpu_outliers", "cpu_outliers_total", collect_cpu },
};

int outlier_work_judge(struct outlier_work *x)
{
	int err = x->category->collect(x);

	for (uint32_t i = 0; !err && i < x->nr_metrics; i++)
		err = outlier_metric_judge(&x->metrics[i], x->method,
		                           x->metrics[i].is_cpu ? x->sc.nr_cpus : x->sc.nr_tasks,
		                           x->limit);
	return err;
}

uint64_t outlier_work_total(const struct outlier_work *x)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < x->nr_metrics; i++)
		total += x->metrics[i].nr_high + x->metrics[i].nr_low;
	return total;
}
