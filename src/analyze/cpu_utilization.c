/*
 * How busy each CPU was. Busy is what slices cover, idle what the idle task covers; the rest of the time asked
 * for is unknown (before the first switch, across losses) and counts as neither.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/pass.h"
#include "analyze/passes.h"
#include "analyze/samples.h"
#include "base/cleanup.h"

#define BUSY_PERCENT 80
#define HALF_PERCENT 50
#define FREE_PERCENT 10
#define BOTTOM_CPUS  5

struct cpu_use {
	uint32_t cpu;
	bool is_seen;
	uint64_t busy_ns;
	uint64_t idle_ns;
	uint64_t nr_switches;
	struct samples slices;
};

struct use {
	const struct source *s;
	const struct pass_args *args;
	struct cpu_use *cpus;
	uint32_t nr_cpus;
	uint64_t span_ns;
};

static double percent(const struct use *u, const struct cpu_use *c)
{
	return u->span_ns ? 100.0 * (double)c->busy_ns / (double)u->span_ns : 0;
}

static void add_slices(struct use *u, struct timeline_iter *it)
{
	union timeline_row row;

	while (timeline_next(it, NULL, &row)) {
		uint64_t from = row.slice.start_ns, to = row.slice.end_ns;
		struct cpu_use *c = row.slice.cpu < u->nr_cpus ? &u->cpus[row.slice.cpu] : NULL;

		if (!c || !pass_takes_cpu(u->args, row.slice.cpu) ||
		    !pass_cut(u->s, u->args, &from, &to))
			continue;
		c->is_seen = true;
		c->busy_ns += to - from;
		c->nr_switches++;
		if (row.slice.end != PAIR_END_OPEN) /* how long it would have run is not known */
			samples_add(&c->slices, row.slice.end_ns - row.slice.start_ns);
	}
}

static void add_idle(struct use *u, struct timeline_iter *it)
{
	union timeline_row row;

	while (timeline_next(it, NULL, &row)) {
		uint64_t from = row.idle.start_ns, to = row.idle.end_ns;
		struct cpu_use *c = row.idle.cpu < u->nr_cpus ? &u->cpus[row.idle.cpu] : NULL;

		if (!c || !pass_takes_cpu(u->args, row.idle.cpu) ||
		    !pass_cut(u->s, u->args, &from, &to))
			continue;
		c->is_seen = true;
		c->idle_ns += to - from;
		c->nr_switches++;
	}
}

static int collect(struct use *u)
{
	struct timeline_query q = { .task = TASKS_NONE,
		                    .cpu = TIMELINE_ANY_CPU,
		                    .to_ns = UINT64_MAX };
	struct timeline_iter it;
	int err;

	q.table = TIMELINE_SLICE;
	err = timeline_find(u->s->timeline, &q, &it);
	if (err)
		return err;
	add_slices(u, &it);
	q.table = TIMELINE_IDLE;
	err = timeline_find(u->s->timeline, &q, &it);
	if (err)
		return err;
	add_idle(u, &it);
	return 0;
}

static void show_cpu(const struct use *u, struct cpu_use *c, struct report *r, const char *key)
{
	report_begin_object(r, key);
	report_u64(r, "cpu_id", c->cpu);
	report_u64(r, "active_time_ns", c->busy_ns);
	report_u64(r, "idle_time_ns", c->idle_ns);
	report_u64(r, "unknown_time_ns", u->span_ns - c->busy_ns - c->idle_ns);
	report_double(r, "utilization_percent", percent(u, c), 2);
	report_u64(r, "total_switches", c->nr_switches);
	samples_report(&c->slices, r, "_timeslice_ns");
	report_end_object(r);
}

static int by_busy(const void *a, const void *b)
{
	const struct cpu_use *left = a, *right = b;

	if (left->busy_ns != right->busy_ns)
		return left->busy_ns < right->busy_ns ? 1 : -1;
	return left->cpu < right->cpu ? -1 : 1;
}

static void show_summary(const struct use *u, uint32_t nr, struct report *r)
{
	uint64_t nr_busy = 0, nr_half = 0, nr_free = 0;
	double sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		double p = percent(u, &u->cpus[i]);

		sum += p;
		nr_busy += p > BUSY_PERCENT;
		nr_half += p >= HALF_PERCENT && p <= BUSY_PERCENT;
		nr_free += p < FREE_PERCENT;
	}
	report_begin_object(r, "summary");
	if (nr)
		report_double(r, "avg_utilization_percent", sum / nr, 2);
	else
		report_null(r, "avg_utilization_percent");
	report_u64(r, "cpus_above_80_pct", nr_busy);
	report_u64(r, "cpus_50_to_80_pct", nr_half);
	report_u64(r, "cpus_below_10_pct", nr_free);
	report_end_object(r);
}

/* The CPUs that were seen to the front, the busiest first; how many. */
static uint32_t rank(struct use *u)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < u->nr_cpus; i++)
		if (u->cpus[i].is_seen) {
			struct cpu_use seen = u->cpus[i];

			u->cpus[i] = u->cpus[nr];
			u->cpus[nr++] = seen;
		}
	if (nr)
		qsort(u->cpus, nr, sizeof(*u->cpus), by_busy);
	return nr;
}

static void show(struct use *u, struct report *r)
{
	uint32_t nr = rank(u), limit = pass_limit(&pass_cpu_utilization, u->args);

	report_u64(r, "cpus_analyzed", nr);
	report_u64(r, "span_ns", u->span_ns);
	show_summary(u, nr, r);
	report_begin_array(r, "top_utilized_cpus");
	for (uint32_t i = 0; i < nr && i < limit; i++)
		show_cpu(u, &u->cpus[i], r, NULL);
	report_end_array(r);
	report_begin_array(r, "bottom_utilized_cpus");
	for (uint32_t i = 0; i < nr && i < limit && i < BOTTOM_CPUS; i++)
		show_cpu(u, &u->cpus[nr - 1 - i], r, NULL);
	report_end_array(r);
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	struct use u = { .s = s, .args = args, .nr_cpus = pair_nr_cpus(s->pair) };
	int err;

	u.span_ns = pass_span_ns(s, args);
	u.cpus = calloc(u.nr_cpus ? u.nr_cpus : 1, sizeof(*u.cpus));
	if (!u.cpus)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (uint32_t i = 0; i < u.nr_cpus; i++)
		u.cpus[i].cpu = i;
	err = collect(&u);
	if (!err)
		show(&u, r);
	for (uint32_t i = 0; i < u.nr_cpus; i++)
		samples_done(&u.cpus[i].slices);
	free(u.cpus);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_cpu_utilization = {
	.id = "cpu_utilization",
	.name = "CPU Utilization",
	.category = "scheduling",
	.what = "how busy each CPU was, and with slices of which length",
	.needs = EV_BIT(EV_SWITCH),
	.cost = 1,
	.run = run,
};
