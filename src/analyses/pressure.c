/*
 * CPU pressure as the kernel counts it (/proc/pressure/cpu), with names: for how long some task waited for a CPU, who did,
 * and behind whom.
 *
 * A CPU is under pressure while at least one task is in its queue and does not run. For the machine the times of its CPUs
 * are averaged over periods of 2 s, each CPU by the time in which it had any task to run. The phase of the periods, and
 * CPUs that only have tasks that sleep for I/O, which the kernel counts as busy, are not in a recording. Where only some
 * tasks are asked for, it is their pressure, as if they were a cgroup.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/blame_sums.h"
#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "analyze/grouped.h"
#include "analyze/pass.h"
#include "analyze/sort_u64.h"
#include "analyze/top.h"
#include "base/cleanup.h"

#define PERIOD_NS 2000000000ULL
#define CULPRITS  3

struct pressure {
	struct scope sc;
	struct units units;
	struct blame_sums sums;
	uint32_t nr_periods;
	uint64_t *some_ns;    /* by CPU and period: a task waited */
	uint64_t *nonidle_ns; /* a task waited or ran */
	uint64_t *stalled_ns; /* by unit: at least one of its tasks waited */
};

static void done(void *work)
{
	struct pressure *x = work;

	blame_sums_done(&x->sums);
	free(x->some_ns);
	free(x->nonidle_ns);
	free(x->stalled_ns);
}

/* A time, as changes: since the start times 2, and 1 more for its beginning. */
static void add_time(const struct pressure *x, struct grouped *g, uint32_t key, uint64_t start_ns,
                     uint64_t end_ns)
{
	uint64_t from = start_ns > x->sc.from_ns ? start_ns : x->sc.from_ns;
	uint64_t to = end_ns < x->sc.to_ns ? end_ns : x->sc.to_ns;

	if (from >= to)
		return;
	grouped_add(g, key, (from - x->sc.from_ns) << 1 | 1);
	grouped_add(g, key, (to - x->sc.from_ns) << 1);
}

static void spread(uint64_t from, uint64_t to, uint64_t period_ns, uint64_t *sums)
{
	while (from < to) {
		uint64_t period = from / period_ns, left = period_ns - from % period_ns;
		uint64_t end = left < to - from ? from + left : to;

		sums[period] += end - from;
		from = end;
	}
}

/* The time that those of a key cover together, by period. */
static void add_up(const struct grouped *g, uint32_t key, uint64_t period_ns, uint64_t *sums)
{
	struct samples changes = grouped_at(g, key);
	uint64_t since = 0, depth = 0;

	sort_u64(changes.values, changes.nr);
	for (size_t i = 0; i < changes.nr; i++) {
		uint64_t at = changes.values[i] >> 1;

		if (changes.values[i] & 1) {
			since = depth++ ? since : at;
		} else if (!--depth) {
			spread(since, at, period_ns, sums);
		}
	}
}

static int add_up_all(const struct pressure *x, struct grouped *g, uint32_t nr_keys, uint64_t *sums)
{
	bool is_by_unit = sums == x->stalled_ns;
	int err = grouped_order(g, nr_keys);

	for (uint32_t i = 0; i < nr_keys && !err; i++)
		add_up(g, i, is_by_unit ? UINT64_MAX : PERIOD_NS,
		       sums + (size_t)i * (is_by_unit ? 1 : x->nr_periods));
	grouped_done(g);
	return err;
}

static void add_slices(const struct pressure *x, struct grouped *g)
{
	struct rows it = { .sc = &x->sc };
	struct pair_slice s;

	while (rows_slice(&it, &s))
		if (s.cpu < x->sc.nr_cpus)
			add_time(x, g, s.cpu, s.start_ns, s.end_ns);
}

/* What victims, and what CPUs were under pressure. */
static int measure(struct pressure *x)
{
	struct grouped units = { 0 }, some = { 0 }, nonidle = { 0 };
	int err, err2, err3;

	for (size_t i = 0; i < x->sums.nr_stays; i++) {
		const struct sweep_stay *s = &x->sums.stays[i];

		add_time(x, &units, s->unit, s->start_ns, s->end_ns);
		add_time(x, &some, s->cpu, s->start_ns, s->end_ns);
		add_time(x, &nonidle, s->cpu, s->start_ns, s->end_ns);
	}
	add_slices(x, &nonidle);
	err = add_up_all(x, &units, x->units.nr, x->stalled_ns);
	err2 = add_up_all(x, &some, x->sc.nr_cpus, x->some_ns);
	err3 = add_up_all(x, &nonidle, x->sc.nr_cpus, x->nonidle_ns);
	return err ? err : err2 ? err2 : err3;
}

static int collect(void *work)
{
	struct pressure *x = work;
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	size_t nr;
	int err;

	x->nr_periods = (uint32_t)(x->sc.span_ns / PERIOD_NS) + 1;
	nr = (size_t)x->nr_periods * (x->sc.nr_cpus ? x->sc.nr_cpus : 1);
	x->some_ns = calloc(nr, sizeof(*x->some_ns));
	x->nonidle_ns = calloc(nr, sizeof(*x->nonidle_ns));
	x->stalled_ns = calloc(x->units.nr + 1UL, sizeof(*x->stalled_ns));
	if (!x->some_ns || !x->nonidle_ns || !x->stalled_ns)
		return -ENOMEM;
	err = explain_ledger(x->sc.s, x->sc.s->start_ns, x->sc.s->end_ns, &l);
	if (!err)
		err = blame_sums_collect(&x->sums, &x->sc, &x->units, l);
	return err ? err : measure(x);
}

static uint64_t sum_of(const struct pressure *x, const uint64_t *sums, uint32_t cpu)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < x->nr_periods; i++)
		sum += sums[(size_t)cpu * x->nr_periods + i];
	return sum;
}

/* Of the machine: in each period the mean of its CPUs, by their time with tasks. */
static uint64_t some_of_all(const struct pressure *x)
{
	double all = 0;

	for (uint32_t i = 0; i < x->nr_periods; i++) {
		double some = 0, nonidle = 0;

		for (uint32_t cpu = 0; cpu < x->sc.nr_cpus; cpu++) {
			size_t at = (size_t)cpu * x->nr_periods + i;

			some += (double)x->some_ns[at] * (double)x->nonidle_ns[at];
			nonidle += (double)x->nonidle_ns[at];
		}
		all += nonidle > 0 ? some / nonidle : 0;
	}
	return (uint64_t)(all + 0.5);
}

static void show_cpus(const struct pressure *x, struct report *r)
{
	report_begin_array(r, "cpus");
	for (uint32_t cpu = 0; cpu < x->sc.nr_cpus; cpu++) {
		uint64_t some_ns = sum_of(x, x->some_ns, cpu);

		report_begin_object(r, NULL);
		report_u64(r, "cpu", cpu);
		report_u64(r, "some_ns", some_ns);
		report_percent(r, "some_percent", some_ns, x->sc.span_ns);
		report_u64(r, "with_tasks_ns", sum_of(x, x->nonidle_ns, cpu));
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_culprits(const struct pressure *x, uint32_t victim, struct report *r)
{
	const struct edge *at;
	uint32_t nr = blame_sums_culprits(&x->sums, victim, &at);

	report_begin_array(r, "behind");
	for (uint32_t i = 0; i < nr && i < CULPRITS; i++) {
		report_begin_object(r, NULL);
		units_report(&x->units, r, at[i].to);
		report_u64(r, "wait_ns", at[i].sum_ns);
		report_percent(r, "percent", at[i].sum_ns, x->sums.victims[victim].wait_ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show(void *work, struct report *r)
{
	const struct pressure *x = work;
	SCOPED(top_done) struct top top = { .limit = pass_limit(&pass_pressure, x->sc.args) };
	uint64_t some_ns = some_of_all(x), nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++)
		if (x->stalled_ns[i]) {
			nr++;
			top_add(&top, x->stalled_ns[i], i);
		}
	top_rank(&top);
	units_report_mode(&x->units, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	report_u64(r, "some_ns", some_ns);
	report_percent(r, "some_percent", some_ns, x->sc.span_ns);
	show_cpus(x, r);
	report_u64(r, "total_stalled", nr);
	for (uint32_t i = 0; top_row(&top, i, r, "stalled"); i++) {
		uint32_t unit = (uint32_t)top.entries[i].id;

		units_report(&x->units, r, unit);
		report_u64(r, "stalled_ns", x->stalled_ns[unit]);
		report_percent(r, "stalled_percent", x->stalled_ns[unit], x->sc.span_ns);
		report_u64(r, "wait_ns", x->sums.victims[unit].wait_ns);
		report_u64(r, "max_wait_ns", x->sums.victims[unit].max_ns);
		show_culprits(x, unit, r);
	}
	return top.has_failed ? -ENOMEM : 0;
}

const struct pass pass_pressure = {
	.id = "pressure",
	.name = "CPU Pressure",
	.category = "scheduling",
	.what = "CPU pressure as the kernel counts it (PSI): who was stalled, for how long, behind whom",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.needs_all_tasks = true,
	.cost = 5,
	.uses_ledger = true,
	.finds_by_task = TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE) |
	                TIMELINE_BIT(GAP) | TIMELINE_BIT(STEAL),
	.default_by = PASS_BY_COMM,
	.work = { .size = sizeof(struct pressure),
	          .units_at = offsetof(struct pressure, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
