/*
 * How busy each CPU was. Busy is what slices cover, idle what the idle task covers; the remainder
 * of the requested time is unknown (before the first switch, across losses) and counts as neither.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/samples.h"
#include "analyze/scope.h"

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

struct utilization {
	struct scope sc;
	const struct pass_args *args;
	struct pass_args of_cpus; /* a CPU is as busy as all its tasks make it */
	struct cpu_use *cpus;
	uint32_t nr_cpus;
	uint64_t span_ns;
};

static double percent(const struct utilization *u, const struct cpu_use *c)
{
	return u->span_ns ? 100.0 * (double)c->busy_ns / (double)u->span_ns : 0;
}

static void add_slices(struct utilization *u)
{
	struct rows it = { .sc = &u->sc };
	struct pair_slice row;

	while (rows_slice(&it, &row)) {
		uint64_t ns = scope_cut(&u->sc, row.start_ns, row.end_ns);
		struct cpu_use *c = row.cpu < u->nr_cpus ? &u->cpus[row.cpu] : NULL;

		if (!c)
			continue;
		c->is_seen = true;
		c->busy_ns += ns;
		c->nr_switches++;
		if (row.end != PAIR_END_OPEN) /* how long it would have run is not known */
			samples_add(&c->slices, row.end_ns - row.start_ns);
	}
}

static void add_idle(struct utilization *u)
{
	struct rows it = { .sc = &u->sc };
	struct pair_idle row;

	while (rows_idle(&it, &row)) {
		uint64_t ns = scope_cut(&u->sc, row.start_ns, row.end_ns);
		struct cpu_use *c = row.cpu < u->nr_cpus ? &u->cpus[row.cpu] : NULL;

		if (!c)
			continue;
		c->is_seen = true;
		c->idle_ns += ns;
		c->nr_switches++;
	}
}

static void show_cpu(const struct utilization *u, struct cpu_use *c, struct report *r,
                     const char *key)
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

static void show_summary(const struct utilization *u, uint32_t nr, struct report *r)
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
	report_double_if(r, "avg_utilization_percent", nr, sum / nr, 2);
	report_u64(r, "cpus_above_80_pct", nr_busy);
	report_u64(r, "cpus_50_to_80_pct", nr_half);
	report_u64(r, "cpus_below_10_pct", nr_free);
	report_end_object(r);
}

/* The CPUs that were seen to the front, the busiest first; how many. */
static uint32_t rank(struct utilization *u)
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

static void show(struct utilization *u, struct report *r)
{
	uint32_t nr = rank(u), limit = pass_limit(&pass_cpu_utilization, u->args);

	if (u->args->cpu != PASS_ANY_CPU) {
		report_u64(r, "cpu_filter", u->args->cpu);
		if (nr)
			show_cpu(u, &u->cpus[0], r, "cpu");
		else
			report_null(r, "cpu");
	}
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
	struct utilization u = { .args = args, .of_cpus = *args, .nr_cpus = pair_nr_cpus(s->pair) };
	int err;

	u.of_cpus.pid = u.of_cpus.tid = 0;
	u.of_cpus.comm = NULL;
	err = scope_init(&u.sc, s, &u.of_cpus, d);
	if (err)
		return err;
	u.span_ns = u.sc.span_ns;
	u.cpus = calloc(u.nr_cpus ? u.nr_cpus : 1, sizeof(*u.cpus));
	if (!u.cpus)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (uint32_t i = 0; i < u.nr_cpus; i++)
		u.cpus[i].cpu = i;
	add_slices(&u);
	add_idle(&u);
	show(&u, r);
	for (uint32_t i = 0; i < u.nr_cpus; i++) {
		if (u.cpus[i].slices.has_failed)
			err = -ENOMEM;
		samples_done(&u.cpus[i].slices);
	}
	free(u.cpus);
	scope_done(&u.sc);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

const struct pass pass_cpu_utilization = {
	.id = "cpu_utilization",
	.name = "CPU Utilization",
	.category = "scheduling",
	.what = "how busy each CPU was, and with slices of which length",
	.needs = EV_BIT(EV_SWITCH),
	.needs_all_tasks = true,
	.cost = 1,
	.run = run,
};
