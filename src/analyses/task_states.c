/*
 * What tasks did all the time: ran, waited for a CPU (runnable), slept (also stopped, parked, idle
 * kernel threads), were blocked (uninterruptible), or unknown. The first four add up to the total;
 * states of one thread never overlap. Scheduling delay covers every wait, that of preempted tasks
 * too: analyze/latency.h.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/grouped.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/hist.h"

#define DEFAULT_LIMIT 10

struct times {
	uint64_t running_ns;
	uint64_t runnable_ns;
	uint64_t sleeping_ns;
	uint64_t blocked_ns;
	uint64_t unknown_ns;
	uint64_t voluntary;
	uint64_t involuntary;
	bool is_seen;
};

struct states {
	struct scope sc;
	struct units units;
	struct times *times; /* by unit */
	struct grouped delays;
	uint64_t nr_from_wakeup; /* delays that begin at a wakeup, not at a waking */
	uint64_t nr_from_waking;
};

static void done(void *work)
{
	struct states *x = work;

	free(x->times);
	grouped_done(&x->delays);
}

static struct times *times_of(struct states *x, uint32_t task, uint64_t ts_ns)
{
	struct times *t = &x->times[units_at(&x->units, task, ts_ns)];

	t->is_seen = true;
	return t;
}

static void add_slices(struct states *x)
{
	struct rows it = { .sc = &x->sc };
	struct pair_slice row;

	while (rows_slice(&it, &row)) {
		struct times *t;

		if (row.task == TASKS_NONE)
			continue;
		t = times_of(x, row.task, row.start_ns);
		t->running_ns += scope_cut(&x->sc, row.start_ns, row.end_ns);
		if (row.end == PAIR_END_OPEN || !scope_has(&x->sc, row.end_ns))
			continue;
		if (row.end == PAIR_END_RUNNABLE)
			t->involuntary++;
		else
			t->voluntary++;
	}
}

static void add_waits(struct states *x)
{
	struct rows it = { .sc = &x->sc };
	struct pair_wait row;

	while (rows_wait(&it, &row)) {
		uint64_t start_ns = pair_wait_start_ns(&row);

		times_of(x, row.task, start_ns)->runnable_ns += scope_cut(&x->sc, start_ns,
		                                                          row.end_ns);
		if (row.is_open)
			continue;
		grouped_add(&x->delays, units_at(&x->units, row.task, start_ns),
		            row.end_ns - start_ns);
		if (row.cause == PAIR_PREEMPTED)
			continue;
		if (row.wakeup_ns)
			x->nr_from_wakeup++;
		else
			x->nr_from_waking++;
	}
}

static void add_sleeps(struct states *x)
{
	struct rows sleeps = { .sc = &x->sc }, gaps = { .sc = &x->sc };
	struct pair_sleep sleep;
	struct pair_gap gap;

	while (rows_sleep(&sleeps, &sleep)) {
		struct times *t = times_of(x, sleep.task, sleep.start_ns);
		uint64_t ns = scope_cut(&x->sc, sleep.start_ns, sleep.end_ns);

		if (sleep.state == PAIR_SLEEP_D)
			t->blocked_ns += ns;
		else
			t->sleeping_ns += ns;
	}
	while (rows_task_gap(&gaps, &gap))
		x->times[units_at(&x->units, gap.task, gap.start_ns)].unknown_ns +=
			scope_cut(&x->sc, gap.start_ns, gap.end_ns);
}

static int collect(void *work)
{
	struct states *x = work;

	x->times = calloc(x->units.nr ? x->units.nr : 1, sizeof(*x->times));
	if (!x->times)
		return -ENOMEM;
	add_slices(x);
	add_waits(x);
	add_sleeps(x);
	return grouped_order(&x->delays, x->units.nr);
}

static uint64_t total_ns(const struct times *t)
{
	return t->running_ns + t->runnable_ns + t->sleeping_ns + t->blocked_ns;
}

static void show_delays(const struct states *x, uint32_t unit, struct report *r)
{
	struct samples delays = grouped_at(&x->delays, unit);

	report_u64(r, "scheduler_latency_count", delays.nr);
	samples_report(&delays, r, "_scheduler_latency_ns");
}

static void show_unit(const struct states *x, uint32_t unit, struct report *r)
{
	const struct times *t = &x->times[unit];
	uint64_t total = total_ns(t);

	units_report(&x->units, r, unit);
	report_u64(r, "thread_count", units_threads(&x->units, unit));
	report_u64(r, "running_time_ns", t->running_ns);
	report_u64(r, "runnable_time_ns", t->runnable_ns);
	report_u64(r, "sleeping_time_ns", t->sleeping_ns);
	report_u64(r, "blocked_time_ns", t->blocked_ns);
	report_u64(r, "total_time_ns", total);
	report_u64(r, "unknown_time_ns", t->unknown_ns);
	report_percent(r, "running_percent", t->running_ns, total);
	report_percent(r, "runnable_percent", t->runnable_ns, total);
	report_percent(r, "sleeping_percent", t->sleeping_ns, total);
	report_percent(r, "blocked_percent", t->blocked_ns, total);
	report_u64(r, "voluntary_switches", t->voluntary);
	report_u64(r, "involuntary_switches", t->involuntary);
	show_delays(x, unit, r);
}

/* Tasks with the most known time first, among them those that used or wanted the CPU most. */
static int show(void *work, struct report *r)
{
	const struct states *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_task_states, x->sc.args) };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++) {
		if (!x->times[i].is_seen)
			continue;
		nr++;
		top_add(&top, total_ns(&x->times[i]), i);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	units_report_mode(&x->units, r);
	report_u64(r, "processes_analyzed", nr);
	scope_report_pid(&x->sc, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	report_string(r, "from",
	              x->nr_from_wakeup ? "wakeup" : (x->nr_from_waking ? "waking" : NULL));
	for (uint32_t i = 0; top_row(&top, i, r, "processes"); i++)
		show_unit(x, (uint32_t)top.entries[i].id, r);
	report_string(r, "note",
	              "scheduler latency covers every wait, that of preempted tasks too; "
	              "unknown time is not part of the total");
	return 0;
}

const struct pass pass_task_states = {
	.id = "task_states",
	.name = "Task State Analysis",
	.category = "extended",
	.what = "how long tasks ran, waited for a CPU, slept and were blocked",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 3,
	.default_limit = DEFAULT_LIMIT,
	.work = { .size = sizeof(struct states),
	          .units_at = offsetof(struct states, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
