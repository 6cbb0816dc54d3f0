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
#include "analyze/pass.h"
#include "analyze/top.h"
#include "base/cleanup.h"

#define PERIOD_NS 2000000000ULL
#define CULPRITS  3

/* Times that a CPU's tasks are in; each is a union, so a moment counts once however many of them there are. */
enum stretch {
	WAITS, /* a task waited */
	RUNS,  /* a task ran */
	ANY,   /* either */
	STRETCHES,
};

/* Waits or runs, in the order of their ends, cut to the time asked for and counted from its start. */
struct ordered {
	struct ledger_stay *at;
	size_t nr;
	size_t nr_late; /* behind those, until they are merged: they end before one that came earlier */
	size_t room;
};

/* Tasks of a row on a CPU. All is taken from the end on, so that what is known is one stretch back to reached_ns. */
struct front {
	uint64_t reached_ns[STRETCHES];
	uint64_t ns[STRETCHES]; /* in the period at hand */
};

struct on_cpu {
	uint64_t some_ns, nonidle_ns;
};

/* Of tasks on all CPUs. */
struct account {
	double some_ns, full_ns;
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
	struct top top;   /* of these units */
	uint32_t *row_of; /* by unit: 1 + its place in top; 0 = not shown */
	struct ordered waits, runs;
	struct front *fronts;     /* by row and CPU; row 0 is of all tasks */
	struct on_cpu *cpus;      /* of all tasks, by CPU */
	struct account *accounts; /* by row */
};

static void done(void *work)
{
	struct pressure *x = work;

	blame_sums_done(&x->sums);
	free(x->stalled_ns);
	top_done(&x->top);
	free(x->row_of);
	free(x->waits.at);
	free(x->runs.at);
	free(x->fronts);
	free(x->cpus);
	free(x->accounts);
}

static int make_room(struct ordered *o, size_t nr)
{
	o->room = nr;
	o->at = reallocarray(NULL, nr ? nr : 1, sizeof(*o->at));
	return o->at ? 0 : -ENOMEM;
}

/* Those that are not in order go to the end of the room. */
static void put(const struct pressure *x, struct ordered *o, const struct ledger_stay *s)
{
	uint64_t from = s->start_ns > x->sc.from_ns ? s->start_ns : x->sc.from_ns;
	uint64_t to = s->end_ns < x->sc.to_ns ? s->end_ns : x->sc.to_ns;
	struct ledger_stay cut = { from - x->sc.from_ns, to - x->sc.from_ns, s->unit, s->cpu };

	if (from >= to)
		return;
	if (!o->nr || cut.end_ns >= o->at[o->nr - 1].end_ns)
		o->at[o->nr++] = cut;
	else
		o->at[o->room - ++o->nr_late] = cut;
}

static int by_end(const void *a, const void *b)
{
	const struct ledger_stay *left = a, *right = b;

	return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

/* Merges the late ones, from the end on, into where they belong. */
static int order(struct ordered *o)
{
	size_t nr_late = o->nr_late, left = o->nr, to = o->nr + nr_late;
	SCOPED(scoped_free) struct ledger_stay *late = NULL;

	if (!nr_late)
		return 0;
	late = reallocarray(NULL, nr_late, sizeof(*late));
	if (!late)
		return -ENOMEM;
	memcpy(late, o->at + o->room - nr_late, nr_late * sizeof(*late));
	qsort(late, nr_late, sizeof(*late), by_end);
	o->nr = to;
	while (nr_late) {
		bool is_late = !left || o->at[left - 1].end_ns <= late[nr_late - 1].end_ns;

		o->at[--to] = is_late ? late[--nr_late] : o->at[--left];
	}
	o->nr_late = 0;
	return 0;
}

static int take_waits(struct pressure *x)
{
	const struct blame_sums *b = &x->sums;
	int err = make_room(&x->waits, b->nr_stays + b->nr_throttled);

	for (size_t i = 0; i < b->nr_stays && !err; i++)
		put(x, &x->waits, &b->stays[i]);
	for (size_t i = 0; i < b->nr_throttled && !err; i++)
		put(x, &x->waits, &b->throttled[i]);
	return err ? err : order(&x->waits);
}

static int take_runs(struct pressure *x)
{
	const struct timeline *t = x->sc.s->timeline;
	size_t nr = (size_t)(timeline_end(t, TIMELINE_SLICE) - timeline_first(t, TIMELINE_SLICE));
	struct rows it = { .sc = &x->sc };
	struct pair_slice s;
	int err = make_room(&x->runs, nr);

	while (!err && rows_slice(&it, &s))
		put(x, &x->runs,
		    &(struct ledger_stay){ s.start_ns, s.end_ns,
		                           units_at(&x->units, s.task, s.start_ns), s.cpu });
	return err ? err : order(&x->runs);
}

/* For how long each unit was stalled, on any CPU, and which ones for longest. */
static int rank(struct pressure *x)
{
	SCOPED(scoped_free)
	uint64_t *reached_ns = reallocarray(NULL, x->units.nr + 1UL, sizeof(*reached_ns));

	if (!reached_ns)
		return -ENOMEM;
	memset(reached_ns, 0xff, x->units.nr * sizeof(*reached_ns));
	for (size_t i = x->waits.nr; i-- > 0;) {
		const struct ledger_stay *s = &x->waits.at[i];
		uint64_t *reached = &reached_ns[s->unit],
			 to = s->end_ns < *reached ? s->end_ns : *reached;

		if (s->start_ns >= to)
			continue;
		x->stalled_ns[s->unit] += to - s->start_ns;
		*reached = s->start_ns;
	}
	for (uint32_t i = 0; i < x->units.nr; i++) {
		x->nr_stalled += x->stalled_ns[i] != 0;
		if (x->stalled_ns[i])
			top_add(&x->top, x->stalled_ns[i], i);
	}
	top_rank(&x->top);
	for (uint32_t i = 0; i < x->top.nr; i++)
		x->row_of[x->top.entries[i].id] = i + 1;
	return x->top.has_failed ? -ENOMEM : 0;
}

/* One more, which ends no later than all that are known; what it adds within the period counts. */
static void reach(struct front *f, enum stretch which, const struct ledger_stay *s,
                  uint64_t period_ns)
{
	uint64_t reached = f->reached_ns[which], to = s->end_ns < reached ? s->end_ns : reached;
	uint64_t from = s->start_ns > period_ns ? s->start_ns : period_ns;

	if (s->start_ns >= to)
		return;
	f->reached_ns[which] = s->start_ns;
	f->ns[which] += to > from ? to - from : 0;
}

/* For all tasks, and for the row of its unit. */
static void reach_rows(struct pressure *x, const struct ledger_stay *s, enum stretch which,
                       uint64_t period_ns)
{
	uint32_t row = x->row_of[s->unit];

	if (s->cpu >= x->sc.nr_cpus)
		return;
	reach(&x->fronts[s->cpu], which, s, period_ns);
	reach(&x->fronts[s->cpu], ANY, s, period_ns);
	if (!row)
		return;
	reach(&x->fronts[(size_t)row * x->sc.nr_cpus + s->cpu], which, s, period_ns);
	reach(&x->fronts[(size_t)row * x->sc.nr_cpus + s->cpu], ANY, s, period_ns);
}

/* All that ends in the period, the last first. */
static void take_period(struct pressure *x, uint64_t period_ns)
{
	struct ordered *waits = &x->waits, *runs = &x->runs;

	for (;;) {
		uint64_t wait_ns = waits->nr ? waits->at[waits->nr - 1].end_ns : 0;
		uint64_t run_ns = runs->nr ? runs->at[runs->nr - 1].end_ns : 0;

		if (wait_ns <= period_ns && run_ns <= period_ns)
			return;
		if (wait_ns > run_ns)
			reach_rows(x, &waits->at[--waits->nr], WAITS, period_ns);
		else
			reach_rows(x, &runs->at[--runs->nr], RUNS, period_ns);
	}
}

/* The mean of the CPUs, by their time with tasks. */
static void account_row(struct pressure *x, uint32_t row)
{
	const struct front *fronts = &x->fronts[(size_t)row * x->sc.nr_cpus];
	struct period p = { 0 };

	for (uint32_t cpu = 0; cpu < x->sc.nr_cpus; cpu++) {
		const uint64_t *ns = fronts[cpu].ns;

		p.some += (double)ns[WAITS] * (double)ns[ANY];
		p.full += (double)(ns[ANY] - ns[RUNS]) * (double)ns[ANY];
		p.weight += (double)ns[ANY];
		if (row)
			continue;
		x->cpus[cpu].some_ns += ns[WAITS];
		x->cpus[cpu].nonidle_ns += ns[ANY];
	}
	x->accounts[row].some_ns += p.weight > 0 ? p.some / p.weight : 0;
	x->accounts[row].full_ns += p.weight > 0 ? p.full / p.weight : 0;
}

/* What began before the period that ended there goes on in the one before it. */
static void go_back(struct front *f, uint64_t end_ns)
{
	for (int i = 0; i < STRETCHES; i++) {
		uint64_t reached = f->reached_ns[i];

		f->ns[i] = 0;
		if (reached < end_ns)
			f->ns[i] = end_ns - reached < PERIOD_NS ? end_ns - reached : PERIOD_NS;
	}
}

static void account(struct pressure *x)
{
	size_t nr = (size_t)(x->top.nr + 1) * x->sc.nr_cpus;

	for (uint64_t period = x->sc.span_ns / PERIOD_NS + 1; period-- > 0;) {
		take_period(x, period * PERIOD_NS);
		for (uint32_t i = 0; i <= x->top.nr; i++)
			account_row(x, i);
		for (size_t i = 0; i < nr; i++)
			go_back(&x->fronts[i], period * PERIOD_NS);
	}
	/* The kernel does not say it of all tasks of a machine: a CPU that has any runs one of them. */
	if (!x->sc.takes)
		x->accounts[0].full_ns = 0;
}

static int measure(struct pressure *x)
{
	int err = take_waits(x);
	size_t nr;

	if (!err)
		err = rank(x);
	if (!err)
		err = take_runs(x);
	if (err)
		return err;
	nr = (size_t)(x->top.nr + 1) * x->sc.nr_cpus;
	x->accounts = calloc(x->top.nr + 1UL, sizeof(*x->accounts));
	x->fronts = calloc(nr + 1, sizeof(*x->fronts));
	if (!x->accounts || !x->fronts)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		for (int k = 0; k < STRETCHES; k++)
			x->fronts[i].reached_ns[k] = UINT64_MAX;
	account(x);
	return 0;
}

static int collect(void *work)
{
	struct pressure *x = work;
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	int err;

	x->top.limit = pass_limit(&pass_pressure, x->sc.args);
	x->cpus = calloc(x->sc.nr_cpus + 1UL, sizeof(*x->cpus));
	x->stalled_ns = calloc(x->units.nr + 1UL, sizeof(*x->stalled_ns));
	x->row_of = calloc(x->units.nr + 1UL, sizeof(*x->row_of));
	if (!x->cpus || !x->stalled_ns || !x->row_of)
		return -ENOMEM;
	x->sums.keeps_stays = true;
	err = explain_ledger(x->sc.s, x->sc.s->start_ns, x->sc.s->end_ns, &l);
	if (!err)
		err = blame_sums_collect(&x->sums, &x->sc, &x->units, l);
	return err ? err : measure(x);
}

static void show_account(const struct pressure *x, uint32_t row, struct report *r)
{
	uint64_t some_ns = (uint64_t)(x->accounts[row].some_ns + 0.5);
	uint64_t full_ns = (uint64_t)(x->accounts[row].full_ns + 0.5);

	report_u64(r, "some_ns", some_ns);
	report_percent(r, "some_percent", some_ns, x->sc.span_ns);
	report_u64(r, "full_ns", full_ns);
	report_percent(r, "full_percent", full_ns, x->sc.span_ns);
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
	struct blame_culprit most[CULPRITS];
	uint32_t nr = blame_pairs_most(&x->sums.pairs, victim, CULPRITS, most);

	report_begin_array(r, "behind");
	for (uint32_t i = 0; i < nr; i++) {
		report_begin_object(r, NULL);
		units_report(&x->units, r, most[i].unit);
		report_u64(r, "wait_ns", most[i].ns);
		report_percent(r, "percent", most[i].ns, x->sums.victims[victim].wait_ns);
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
