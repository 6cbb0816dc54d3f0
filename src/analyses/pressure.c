/*
 * CPU pressure as the kernel counts it (/proc/pressure/cpu, cpu.pressure of cgroups), with names: for how long some task waited
 * for a CPU, for how long none of those that could run did, who waited, and behind whom.
 *
 * A CPU is under pressure while at least one task is in its queue and does not run, also one that a quota keeps from it. The
 * pressure is full while none of the tasks runs there either: of a cgroup, others have the CPU then, or its quota is used up. The
 * times of CPUs are averaged over periods of 2 s, each CPU by the time in which it had any task to run. The phase of the
 * periods, and CPUs that only have tasks that sleep for I/O, which the kernel counts as busy, are not in a recording. Where only
 * some tasks are asked for, and for each row, it is the pressure of these tasks, as if they were a cgroup.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* Changes are packed into numbers that sort by time: time since the start, then the kind. */
enum change_kind { WAIT_ENDS, RUN_ENDS, WAIT_BEGINS, RUN_BEGINS };
#define KIND_BITS 2U

struct pressed {
	uint64_t some_ns;    /* a task waited */
	uint64_t full_ns;    /* and none ran */
	uint64_t nonidle_ns; /* a task waited or ran */
};

/* Of tasks on all CPUs. */
struct account {
	uint64_t some_ns, full_ns;
};

/* A period: each CPU times its time with tasks. */
struct period {
	double some, full, weight;
};

struct pressure {
	struct scope sc;
	struct units units;
	struct blame_sums sums;
	uint64_t *stalled_ns; /* by unit: at least one of its tasks waited */
	uint64_t nr_stalled;
	struct top top;    /* of these units */
	uint32_t *row_of;  /* by unit: 1 + its place in top; 0 = not shown */
	struct grouped by; /* changes, by row and CPU; row 0 is of all tasks */
	uint32_t nr_periods;
	struct pressed *of_cpu; /* by period, of the CPU at hand */
	struct period *periods;
	struct pressed *cpus;     /* of all tasks, by CPU */
	struct account *accounts; /* by row */
};

static void done(void *work)
{
	struct pressure *x = work;

	blame_sums_done(&x->sums);
	free(x->stalled_ns);
	top_done(&x->top);
	free(x->row_of);
	grouped_done(&x->by);
	free(x->of_cpu);
	free(x->periods);
	free(x->cpus);
	free(x->accounts);
}

/* A time in which a task waited or ran. */
static void add_time(const struct pressure *x, struct grouped *g, uint32_t key,
                     const struct sweep_stay *s, enum change_kind begins)
{
	uint64_t from = s->start_ns > x->sc.from_ns ? s->start_ns : x->sc.from_ns;
	uint64_t to = s->end_ns < x->sc.to_ns ? s->end_ns : x->sc.to_ns;

	if (from >= to)
		return;
	grouped_add(g, key, (from - x->sc.from_ns) << KIND_BITS | begins);
	grouped_add(g, key, (to - x->sc.from_ns) << KIND_BITS | (begins - WAIT_BEGINS));
}

/* A time in which so many waited and ran. */
static void spread(uint64_t from, uint64_t to, const uint32_t nr[2], uint64_t period_ns,
                   struct pressed *sums)
{
	while (from < to) {
		struct pressed *p = &sums[from / period_ns];
		uint64_t left = period_ns - from % period_ns,
			 ns = left < to - from ? left : to - from;

		p->nonidle_ns += ns;
		p->some_ns += nr[0] ? ns : 0;
		p->full_ns += nr[1] ? 0 : ns;
		from += ns;
	}
}

static void add_up(const struct grouped *g, uint32_t key, uint64_t period_ns, struct pressed *sums)
{
	struct samples changes = grouped_at(g, key);
	uint32_t nr[2] = { 0 };
	uint64_t since = 0;

	sort_u64(changes.values, changes.nr);
	for (size_t i = 0; i < changes.nr; i++) {
		uint64_t at = changes.values[i] >> KIND_BITS;
		uint32_t *count = &nr[changes.values[i] & 1];

		if (nr[0] || nr[1])
			spread(since, at, nr, period_ns, sums);
		*count = changes.values[i] & WAIT_BEGINS ? *count + 1 : *count - 1;
		since = at;
	}
}

/* For how long each unit was stalled, on any CPU, and which ones for longest. */
static int rank(struct pressure *x)
{
	SCOPED(grouped_done) struct grouped units = { 0 };
	int err;

	for (size_t i = 0; i < x->sums.nr_stays; i++)
		add_time(x, &units, x->sums.stays[i].unit, &x->sums.stays[i], WAIT_BEGINS);
	for (size_t i = 0; i < x->sums.nr_throttled; i++)
		add_time(x, &units, x->sums.throttled[i].unit, &x->sums.throttled[i], WAIT_BEGINS);
	err = grouped_order(&units, x->units.nr);
	for (uint32_t i = 0; i < x->units.nr && !err; i++) {
		struct pressed sums = { 0 };

		add_up(&units, i, UINT64_MAX, &sums);
		x->stalled_ns[i] = sums.some_ns;
		x->nr_stalled += sums.some_ns != 0;
		if (sums.some_ns)
			top_add(&x->top, sums.some_ns, i);
	}
	top_rank(&x->top);
	for (uint32_t i = 0; i < x->top.nr; i++)
		x->row_of[x->top.entries[i].id] = i + 1;
	return x->top.has_failed ? -ENOMEM : err;
}

/* For all tasks, and for the row of its unit. */
static void add_to_rows(struct pressure *x, const struct sweep_stay *s, enum change_kind begins)
{
	uint32_t row = x->row_of[s->unit];

	if (s->cpu >= x->sc.nr_cpus)
		return;
	add_time(x, &x->by, s->cpu, s, begins);
	if (row)
		add_time(x, &x->by, row * x->sc.nr_cpus + s->cpu, s, begins);
}

static int gather(struct pressure *x)
{
	struct rows it = { .sc = &x->sc };
	struct pair_slice s;

	for (size_t i = 0; i < x->sums.nr_stays; i++)
		add_to_rows(x, &x->sums.stays[i], WAIT_BEGINS);
	for (size_t i = 0; i < x->sums.nr_throttled; i++)
		add_to_rows(x, &x->sums.throttled[i], WAIT_BEGINS);
	while (rows_slice(&it, &s))
		add_to_rows(x,
		            &(struct sweep_stay){ s.start_ns, s.end_ns,
		                                  units_at(&x->units, s.task, s.start_ns), s.cpu },
		            RUN_BEGINS);
	return grouped_order(&x->by, (x->top.nr + 1) * x->sc.nr_cpus);
}

static void account_cpu(struct pressure *x, uint32_t row, uint32_t cpu)
{
	memset(x->of_cpu, 0, x->nr_periods * sizeof(*x->of_cpu));
	add_up(&x->by, row * x->sc.nr_cpus + cpu, PERIOD_NS, x->of_cpu);
	for (uint32_t i = 0; i < x->nr_periods; i++) {
		const struct pressed *p = &x->of_cpu[i];

		x->periods[i].some += (double)p->some_ns * (double)p->nonidle_ns;
		x->periods[i].full += (double)p->full_ns * (double)p->nonidle_ns;
		x->periods[i].weight += (double)p->nonidle_ns;
		if (row)
			continue;
		x->cpus[cpu].some_ns += p->some_ns;
		x->cpus[cpu].nonidle_ns += p->nonidle_ns;
	}
}

/* In each period the mean of the CPUs, by their time with tasks. */
static struct account account_row(struct pressure *x, uint32_t row)
{
	double some = 0, full = 0;

	memset(x->periods, 0, x->nr_periods * sizeof(*x->periods));
	for (uint32_t cpu = 0; cpu < x->sc.nr_cpus; cpu++)
		account_cpu(x, row, cpu);
	for (uint32_t i = 0; i < x->nr_periods; i++) {
		some += x->periods[i].weight > 0 ? x->periods[i].some / x->periods[i].weight : 0;
		full += x->periods[i].weight > 0 ? x->periods[i].full / x->periods[i].weight : 0;
	}
	return (struct account){ (uint64_t)(some + 0.5), (uint64_t)(full + 0.5) };
}

static int measure(struct pressure *x)
{
	int err = rank(x);

	if (!err)
		err = gather(x);
	x->accounts = calloc(x->top.nr + 1UL, sizeof(*x->accounts));
	if (err || !x->accounts)
		return -ENOMEM;
	for (uint32_t i = 0; i <= x->top.nr; i++)
		x->accounts[i] = account_row(x, i);
	/* The kernel does not say it of all tasks of a machine: a CPU that has any runs one of them. */
	if (!x->sc.takes)
		x->accounts[0].full_ns = 0;
	return 0;
}

static int collect(void *work)
{
	struct pressure *x = work;
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	int err;

	x->top.limit = pass_limit(&pass_pressure, x->sc.args);
	x->nr_periods = (uint32_t)(x->sc.span_ns / PERIOD_NS) + 1;
	x->of_cpu = calloc(x->nr_periods, sizeof(*x->of_cpu));
	x->periods = calloc(x->nr_periods, sizeof(*x->periods));
	x->cpus = calloc(x->sc.nr_cpus + 1UL, sizeof(*x->cpus));
	x->stalled_ns = calloc(x->units.nr + 1UL, sizeof(*x->stalled_ns));
	x->row_of = calloc(x->units.nr + 1UL, sizeof(*x->row_of));
	if (!x->of_cpu || !x->periods || !x->cpus || !x->stalled_ns || !x->row_of)
		return -ENOMEM;
	err = explain_ledger(x->sc.s, x->sc.s->start_ns, x->sc.s->end_ns, &l);
	if (!err)
		err = blame_sums_collect(&x->sums, &x->sc, &x->units, l);
	return err ? err : measure(x);
}

static void show_account(const struct pressure *x, uint32_t row, struct report *r)
{
	const struct account *a = &x->accounts[row];

	report_u64(r, "some_ns", a->some_ns);
	report_percent(r, "some_percent", a->some_ns, x->sc.span_ns);
	report_u64(r, "full_ns", a->full_ns);
	report_percent(r, "full_percent", a->full_ns, x->sc.span_ns);
}

static void show_cpus(const struct pressure *x, struct report *r)
{
	report_begin_array(r, "cpus");
	for (uint32_t cpu = 0; cpu < x->sc.nr_cpus; cpu++) {
		report_begin_object(r, NULL);
		report_u64(r, "cpu", cpu);
		report_u64(r, "some_ns", x->cpus[cpu].some_ns);
		report_percent(r, "some_percent", x->cpus[cpu].some_ns, x->sc.span_ns);
		report_u64(r, "with_tasks_ns", x->cpus[cpu].nonidle_ns);
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

	units_report_mode(&x->units, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	show_account(x, 0, r);
	show_cpus(x, r);
	report_u64(r, "total_stalled", x->nr_stalled);
	for (uint32_t i = 0; top_row(&x->top, i, r, "stalled"); i++) {
		uint32_t unit = (uint32_t)x->top.entries[i].id;

		units_report(&x->units, r, unit);
		report_u64(r, "stalled_ns", x->stalled_ns[unit]);
		report_percent(r, "stalled_percent", x->stalled_ns[unit], x->sc.span_ns);
		show_account(x, i + 1, r);
		report_u64(r, "wait_ns", x->sums.victims[unit].wait_ns);
		report_u64(r, "max_wait_ns", x->sums.victims[unit].max_ns);
		show_culprits(x, unit, r);
	}
	return 0;
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
	.uses_sums = true,
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
