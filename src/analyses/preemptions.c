/*
 * Which tasks preempt which: a task leaves its CPU still runnable, and another is switched in.
 * Yielding is not distinguished. Taken from the waits that follow, which give the victim's wait. A task that a limit takes
 * off its CPU is not preempted by the task that comes next: it is counted as throttled.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/edges.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define SHOWN_PREEMPTORS 5

struct preempted_task {
	uint64_t count;
	uint64_t wait_ns;
	uint64_t max_ns;
	uint64_t nr_throttled;
	uint32_t nr_preemptors;
	uint32_t first_edge; /* number + 1 */
};

struct preemptions {
	struct scope sc;
	struct edges edges;
	struct preempted_task *victims; /* by task */
	uint32_t *next_edge;            /* of the same victim; number + 1 */
	uint64_t total;
	uint64_t total_throttled;
};

static void done(void *work)
{
	struct preemptions *x = work;

	free(x->victims);
	free(x->next_edge);
	edges_done(&x->edges);
}

/* It happened where the task left the CPU, when it left. */
static bool is_loss(const struct preemptions *x, const struct pair_wait *w)
{
	return w->cause == PAIR_PREEMPTED && scope_has(&x->sc, w->wakeup_ns);
}

static bool is_preemption(const struct pair_wait *w)
{
	return w->waker != TASKS_NONE && w->waker != w->task;
}

static int link_edges(struct preemptions *x)
{
	x->next_edge = calloc(x->edges.nr + 1, sizeof(*x->next_edge));
	if (!x->next_edge)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->edges.nr; i++) {
		struct preempted_task *v = &x->victims[x->edges.at[i].to];

		x->next_edge[i] = v->first_edge;
		v->first_edge = i + 1;
		v->nr_preemptors++;
	}
	return 0;
}

static int collect(void *work)
{
	struct preemptions *x = work;
	struct rows it = { .sc = &x->sc };
	struct pair_wait row;
	int err = edges_init_tasks(&x->edges, x->sc.nr_tasks);

	x->victims = calloc(x->sc.nr_tasks ? x->sc.nr_tasks : 1, sizeof(*x->victims));
	if (err || !x->victims)
		return -ENOMEM;
	while (rows_wait(&it, &row)) {
		struct preempted_task *v = &x->victims[row.task];
		uint64_t ns = latency_ns(&row);

		if (!is_loss(x, &row))
			continue;
		if (latency_is_throttled(x->sc.s, &row)) {
			x->total_throttled++;
			v->nr_throttled++;
			continue;
		}
		if (!is_preemption(&row))
			continue;
		x->total++;
		v->count++;
		v->wait_ns += ns;
		if (ns > v->max_ns)
			v->max_ns = ns;
		err = edges_add(&x->edges, row.waker, row.task, ns);
		if (err)
			return err;
	}
	return link_edges(x);
}

static int show_preemptors(const struct preemptions *x, const struct preempted_task *v,
                           struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = SHOWN_PREEMPTORS };

	for (uint32_t i = v->first_edge; i; i = x->next_edge[i - 1])
		top_add(&top, x->edges.at[i - 1].count, i - 1);
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, "top_preempted_by"); i++) {
		task_report(x->sc.s, r, x->edges.at[top.entries[i].id].by);
		report_u64(r, "count", top.entries[i].score);
		report_u64(r, "wait_ns", x->edges.at[top.entries[i].id].sum_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_victim(const struct preemptions *x, uint32_t task, struct report *r)
{
	const struct preempted_task *v = &x->victims[task];
	int err;

	report_begin_object(r, NULL);
	task_report(x->sc.s, r, task);
	report_u64(r, "preempted_count", v->count);
	report_u64(r, "throttled_count", v->nr_throttled);
	report_u64(r, "total_wait_ns", v->wait_ns);
	report_u64(r, "max_wait_ns", v->max_ns);
	report_u64(r, "total_unique_preemptors", v->nr_preemptors);
	err = show_preemptors(x, v, r);
	report_end_object(r);
	return err;
}

static int show(void *work, struct report *r)
{
	const struct preemptions *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_preemptions, x->sc.args) };
	uint64_t nr = 0;
	int err = 0;

	for (uint32_t i = 0; i < x->sc.nr_tasks; i++) {
		if (!x->victims[i].count)
			continue;
		nr++;
		top_add(&top, x->victims[i].count, i);
	}
	top_rank(&top);
	report_u64(r, "total_preemptions", x->total);
	report_u64(r, "total_throttled", x->total_throttled);
	report_u64(r, "total_processes", nr);
	report_u64(r, "processes_shown", top.nr);
	scope_report_pid(&x->sc, r);
	report_begin_array(r, "processes");
	for (uint32_t i = 0; !err && i < top.nr; i++)
		err = show_victim(x, (uint32_t)top.entries[i].id, r);
	report_end_array(r);
	report_string(
		r, "note",
		"a task left its CPU still runnable and another came on; those that a limit took "
		"off their CPUs are counted as throttled instead; "
		"waits are from the switch-out to the next switch-in");
	return top.has_failed ? -ENOMEM : err;
}

const struct pass pass_preemptions = {
	.id = "preemptions",
	.name = "Preemption Analysis",
	.category = "extended",
	.what = "which tasks were preempted while still runnable, and by which",
	.needs = EV_BIT(EV_SWITCH),
	.cost = 2,
	.finds_by_task = TIMELINE_BIT(THROTTLE),
	.work = { .size = sizeof(struct preemptions),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
