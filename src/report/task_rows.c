#include "report/task_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cgroups.h"
#include "analyze/grouped.h"
#include "analyze/latency.h"
#include "analyze/scope.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/hist.h"
#include "model/tasks.h"

struct use {
	uint64_t run_ns;
	uint64_t slices;
	uint64_t wait_ns;
	uint64_t waits;
	uint64_t max_wait_ns;
	bool is_shown;
};

struct work {
	struct scope sc;
	struct use *uses; /* by task */
	struct grouped latencies;
};

static void done(struct work *w)
{
	scope_done(&w->sc);
	free(w->uses);
	grouped_done(&w->latencies);
}

static void add_slices(struct work *w)
{
	struct rows it = { .sc = &w->sc };
	struct pair_slice row;

	while (rows_slice(&it, &row)) {
		if (row.task >= w->sc.nr_tasks)
			continue;
		w->uses[row.task].run_ns += scope_cut(&w->sc, row.start_ns, row.end_ns);
		w->uses[row.task].slices++;
	}
}

static void add_waits(struct work *w)
{
	struct rows it = { .sc = &w->sc };
	struct pair_wait row;

	while (rows_wait(&it, &row)) {
		uint64_t ns = scope_cut(&w->sc, pair_wait_woken_ns(&row), row.end_ns);
		struct use *u;

		if (row.task >= w->sc.nr_tasks)
			continue;
		u = &w->uses[row.task];
		u->wait_ns += ns;
		u->waits++;
		u->max_wait_ns = ns > u->max_wait_ns ? ns : u->max_wait_ns;
		if (latency_counts(&row))
			grouped_add(&w->latencies, row.task, latency_ns(&row));
	}
}

static int collect(struct work *w)
{
	w->uses = calloc(w->sc.nr_tasks + 1UL, sizeof(*w->uses));
	if (!w->uses)
		return -ENOMEM;
	add_slices(w);
	add_waits(w);
	return grouped_order(&w->latencies, w->sc.nr_tasks);
}

/* The best by one number. */
static int rank(const struct work *w, struct top *top, bool is_by_wait)
{
	for (uint32_t i = 0; i < w->sc.nr_tasks; i++) {
		uint64_t score = is_by_wait ? w->uses[i].wait_ns : w->uses[i].run_ns;

		if (score)
			top_add(top, score, i);
	}
	top_rank(top);
	return top->has_failed ? -ENOMEM : 0;
}

static void show_cgroup(const struct work *w, uint32_t task, struct report *r)
{
	uint32_t cgroup;

	if (!w->sc.s->facts->kinds[EV_CGROUP])
		return;
	cgroup = tasks_cgroup_now(w->sc.s->tasks, task);
	report_string(r, "cgroup", cgroup ? cgroup_name(w->sc.s, cgroup, r) : NULL);
}

static void show_task(const struct work *w, uint32_t task, struct report *r)
{
	struct samples latency = grouped_at(&w->latencies, task);
	const struct use *u = &w->uses[task];

	report_begin_object(r, NULL);
	task_report(w->sc.s, r, task);
	show_cgroup(w, task, r);
	report_u64(r, "total_runtime_ns", u->run_ns);
	report_percent(r, "cpu_time_percent", u->run_ns, w->sc.span_ns);
	report_u64(r, "num_switches", u->slices);
	report_u64(r, "waits", u->waits);
	report_u64(r, "wait_ns", u->wait_ns);
	report_u64(r, "max_wait_ns", u->max_wait_ns);
	report_u64(r, "total_wakeups", latency.nr);
	report_u64_if(r, "p50_latency_ns", latency.nr, samples_percentile(&latency, HIST_P(50)));
	report_u64_if(r, "p99_latency_ns", latency.nr, samples_percentile(&latency, HIST_P(99)));
	report_u64_if(r, "max_latency_ns", latency.nr, samples_percentile(&latency, HIST_P(100)));
	report_end_object(r);
}

static void show_ranked(struct work *w, const struct top *top, uint32_t *room, struct report *r)
{
	for (uint32_t i = 0; i < top->nr && *room; i++) {
		uint32_t task = (uint32_t)top->entries[i].id;

		if (w->uses[task].is_shown)
			continue;
		w->uses[task].is_shown = true;
		show_task(w, task, r);
		(*room)--;
	}
}

static void add_lanes(struct task_rows *t, const struct top *top, uint32_t most)
{
	for (uint32_t i = 0; i < top->nr && t->nr_lanes < most; i++) {
		uint32_t task = (uint32_t)top->entries[i].id;
		bool is_there = false;

		for (uint32_t k = 0; k < t->nr_lanes; k++)
			is_there |= t->lanes[k] == task;
		if (!is_there)
			t->lanes[t->nr_lanes++] = task;
	}
}

static int show(struct work *w, struct task_rows *t, uint32_t limit)
{
	SCOPED(top_done) struct top by_run = { .limit = limit }, by_wait = { .limit = limit };
	uint32_t room = limit, waiters = limit / 4;
	struct report *r = t->report;
	uint64_t nr = 0;

	if (rank(w, &by_run, false) || rank(w, &by_wait, true))
		return -ENOMEM;
	for (uint32_t i = 0; i < w->sc.nr_tasks; i++)
		nr += w->uses[i].slices || w->uses[i].waits;
	report_begin_object(r, NULL);
	report_u64(r, "total_tasks", nr);
	report_begin_array(r, "tasks");
	/* A quarter is kept for those that waited much and hardly ran. */
	room -= waiters;
	show_ranked(w, &by_run, &room, r);
	room += waiters;
	show_ranked(w, &by_wait, &room, r);
	show_ranked(w, &by_run, &room, r);
	report_end_array(r);
	report_end_object(r);
	add_lanes(t, &by_run, TASK_ROWS_LANES / 2);
	add_lanes(t, &by_wait, TASK_ROWS_LANES);
	return report_error(r);
}

int task_rows_make(struct task_rows *t, const struct source *s, const struct pass_args *args,
                   uint32_t limit, struct diag *d)
{
	SCOPED(done) struct work w = { 0 };
	int err = scope_init(&w.sc, s, args, d);

	*t = (struct task_rows){ 0 };
	if (err)
		return err;
	t->report = report_new(0);
	err = t->report ? collect(&w) : -ENOMEM;
	if (!err)
		err = show(&w, t, limit);
	if (err)
		task_rows_done(t);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

void task_rows_done(struct task_rows *t)
{
	report_free(t->report);
	*t = (struct task_rows){ 0 };
}
