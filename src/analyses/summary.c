/*
 * One screen about a trace: what a person wants to know first. Rows obey the filters; what the file is does not.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyses/summary_facts.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/scope.h"
#include "analyze/top.h"
#include "analyze/wait_times.h"
#include "base/cleanup.h"
#include "model/interrupt.h"

#define BUSIEST     20
#define LONGEST     10
#define BOTTLENECKS 5

struct cpu_time {
	uint64_t busy_ns;
	uint64_t idle_ns;
};

/* Of CPUs all tasks count: one is as busy as all of them make it. */
static void add_times(const struct scope *sc, struct cpu_time *cpus)
{
	struct rows slices = { .sc = sc }, idles = { .sc = sc };
	struct pair_slice slice;
	struct pair_idle idle;

	while (rows_slice(&slices, &slice))
		if (slice.cpu < sc->nr_cpus)
			cpus[slice.cpu].busy_ns += scope_cut(sc, slice.start_ns, slice.end_ns);
	while (rows_idle(&idles, &idle))
		if (idle.cpu < sc->nr_cpus)
			cpus[idle.cpu].idle_ns += scope_cut(sc, idle.start_ns, idle.end_ns);
}

static int show_cpus(const struct source *s, const struct pass_args *args, struct report *r,
                     struct diag *d)
{
	struct pass_args all = *args;
	struct scope sc;
	SCOPED(scoped_free) struct cpu_time *cpus = NULL;
	int err;

	all.pid = all.tid = 0;
	all.comm = NULL;
	err = scope_init(&sc, s, &all, d);
	if (err)
		return err;
	cpus = calloc(sc.nr_cpus ? sc.nr_cpus : 1, sizeof(*cpus));
	if (cpus)
		add_times(&sc, cpus);
	report_begin_array(r, "cpus");
	for (uint32_t i = 0; cpus && i < sc.nr_cpus; i++) {
		uint64_t known = cpus[i].busy_ns + cpus[i].idle_ns;

		if (!known)
			continue;
		report_begin_object(r, NULL);
		report_u64(r, "cpu_id", i);
		report_percent(r, "busy_percent", cpus[i].busy_ns, sc.span_ns);
		report_percent(r, "idle_percent", cpus[i].idle_ns, sc.span_ns);
		report_percent(r, "unknown_percent", sc.span_ns - known, sc.span_ns);
		report_end_object(r);
	}
	report_end_array(r);
	scope_done(&sc);
	return cpus ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

static int show_busiest(const struct scope *sc, struct report *r)
{
	SCOPED(scoped_free)
	uint64_t *totals = calloc(sc->nr_tasks ? sc->nr_tasks : 1, sizeof(*totals));
	SCOPED(top_done) struct top top = { .limit = BUSIEST };
	struct rows it = { .sc = sc };
	struct pair_slice row;

	if (!totals)
		return -ENOMEM;
	while (rows_slice(&it, &row))
		if (row.task < sc->nr_tasks)
			totals[row.task] += scope_cut(sc, row.start_ns, row.end_ns);
	for (uint32_t i = 0; i < sc->nr_tasks; i++)
		if (totals[i])
			top_add(&top, totals[i], i);
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, "busiest_tasks"); i++) {
		uint32_t task = (uint32_t)top.entries[i].id;

		report_string(r, "comm", source_comm(sc->s, task));
		report_u64(r, "tid", source_tid(sc->s, task));
		report_u64(r, "runtime_ns", totals[task]);
		report_percent(r, "of_one_cpu_percent", totals[task], sc->span_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

/* The task that took its CPU, or the task or interrupt that woke it; NULL = unknown. */
static const char *by_text(const struct source *s, const struct pair_wait *w,
                           char buf[INTERRUPT_TEXT])
{
	uint32_t by = w->cause == PAIR_PREEMPTED ? w->waker : latency_waker(w);
	struct interrupt i;

	if (!interrupt_of_key(by, &i))
		return by == TASKS_NONE ? NULL : source_comm_at(s, by, pair_wait_woken_ns(w));
	source_name_device(s, &i);
	return interrupt_title(&i, buf);
}

static void show_wait(const struct source *s, const struct pair_wait *w, struct report *r)
{
	bool is_by_quota = latency_is_throttled(s, w);
	char text[INTERRUPT_TEXT];

	report_begin_object(r, NULL);
	report_string(r, "comm", source_comm_at(s, w->task, pair_wait_woken_ns(w)));
	report_u64(r, "tid", source_tid(s, w->task));
	report_u64(r, "wait_ns", latency_ns(w));
	report_string(r, "cause", is_by_quota ? "throttled" : latency_cause(w));
	report_u64(r, "cpu", w->cpu);
	report_u64(r, "after_start_ns", pair_wait_woken_ns(w) - s->start_ns);
	report_string(r, "by", is_by_quota ? NULL : by_text(s, w, text));
	report_bool(r, "is_open", w->is_open);
	report_end_object(r);
}

static void show_longest(const struct scope *sc, struct report *r)
{
	struct pair_wait worst[LONGEST], row;
	struct wait_times it = { .sc = sc };
	uint64_t start_ns, end_ns;
	uint32_t nr = 0;

	while (wait_times_next(&it, &start_ns, &end_ns)) {
		uint32_t at;

		if ((nr == LONGEST && latency_ns(&worst[LONGEST - 1]) >= end_ns - start_ns) ||
		    !wait_times_row(&it, &row))
			continue;
		at = nr < LONGEST ? nr++ : LONGEST - 1;
		for (; at > 0 && latency_ns(&worst[at - 1]) < latency_ns(&row); at--)
			worst[at] = worst[at - 1];
		worst[at] = row;
	}
	report_begin_array(r, "longest_waits");
	for (uint32_t i = 0; i < nr; i++)
		show_wait(sc->s, &worst[i], r);
	report_end_array(r);
}

/* The members of that analysis, where it can be made. */
static int show_bottlenecks(const struct source *s, const struct pass_args *args, struct report *r,
                            struct diag *d)
{
	struct pass_args few = *args;

	if (!pass_applies(&pass_scheduling_bottlenecks, s)) {
		report_null(r, "total_bottlenecks");
		report_null(r, "bottlenecks");
		return 0;
	}
	few.limit = args->limit ? args->limit : BOTTLENECKS;
	return pass_scheduling_bottlenecks.run(s, &few, r, d);
}

static int show_rows(const struct source *s, const struct pass_args *args, struct report *r,
                     struct diag *d)
{
	struct scope sc;
	int err = scope_init(&sc, s, args, d);

	if (err)
		return err;
	err = show_busiest(&sc, r);
	show_longest(&sc, r);
	scope_done(&sc);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	int err = show_bottlenecks(s, args, r, d);

	if (!err)
		err = summary_facts(s, r, d);
	if (!err)
		err = show_cpus(s, args, r, d);
	return err ? err : show_rows(s, args, r, d);
}

const struct pass pass_summary = {
	.id = "summary",
	.name = "Summary",
	.category = "query",
	.what = "what the trace is: its length, busiest tasks, longest waits, losses",
	.uses = EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_SLEEP) |
	        EV_BIT(EV_FORK) | EV_BIT(EV_EXIT) | EV_BIT(EV_STEAL) | EV_BIT(EV_SCX_STATE),
	.cost = 5,
	.uses_ledger = true,
	.uses_sums = true,
	.finds_by_task = TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE) |
	                TIMELINE_BIT(GAP) | TIMELINE_BIT(STEAL),
	.run = run,
};
