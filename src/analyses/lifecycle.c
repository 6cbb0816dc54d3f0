/* Creation and exit of tasks: forks, execs, exits, by parent, and short-lived tasks. */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/figures.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"

#define SHORT_LIFE_NS 100000000ULL
#define KINDS         (EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT))

struct lives {
	struct scope sc;
	uint64_t *born_ns; /* by task; 0 = not seen */
	uint64_t forks, threads, execs, exits;
	struct buckets parents;
	struct samples lifetimes;
	struct top shortest;
	uint64_t nr_short;
};

static void done(void *work)
{
	struct lives *x = work;

	free(x->born_ns);
	buckets_done(&x->parents);
	samples_done(&x->lifetimes);
	top_done(&x->shortest);
}

static void add_fork(struct lives *x, const struct pair_mark *m)
{
	uint32_t child = (uint32_t)m->value;
	uint32_t tgid = source_tgid(x->sc.s, child);

	x->forks++;
	x->threads += tgid && tgid != source_tid(x->sc.s, child);
	buckets_count(&x->parents, m->task);
	if (m->value < x->sc.nr_tasks)
		x->born_ns[child] = m->ts_ns;
}

static void add_exit(struct lives *x, const struct pair_mark *m)
{
	uint64_t born = m->task < x->sc.nr_tasks ? x->born_ns[m->task] : 0;
	uint64_t ns = m->ts_ns - born;

	x->exits++;
	if (!born)
		return;
	samples_add(&x->lifetimes, ns);
	if (ns >= SHORT_LIFE_NS)
		return;
	x->nr_short++;
	top_add(&x->shortest, top_lowest(ns), m->task);
}

static int collect(void *work)
{
	struct lives *x = work;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_MARK, .kinds = KINDS };
	const union timeline_row *row;

	x->shortest.limit = pass_limit(&pass_lifecycle, x->sc.args);
	x->born_ns = calloc(x->sc.nr_tasks ? x->sc.nr_tasks : 1, sizeof(*x->born_ns));
	if (!x->born_ns)
		return -ENOMEM;
	while ((row = walk_next(&w))) {
		if (row->mark.kind == EV_FORK)
			add_fork(x, &row->mark);
		else if (row->mark.kind == EV_EXIT)
			add_exit(x, &row->mark);
		else
			x->execs++;
	}
	return x->parents.has_failed || x->lifetimes.has_failed || x->shortest.has_failed ? -ENOMEM
	                                                                                  : 0;
}

static int show_parents(const struct lives *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_lifecycle, x->sc.args) };

	buckets_top(&x->parents, true, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "by_parent"); i++) {
		const struct bucket *b = &x->parents.at[top.entries[i].id];

		task_report(x->sc.s, r, (uint32_t)b->key);
		report_u64(r, "forks", b->count);
		figure_per_sec(r, "forks_per_sec", (double)b->count, x->sc.covered_ns);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static void show_shortest(struct lives *x, struct report *r)
{
	top_rank(&x->shortest);
	report_u64(r, "short_lived_tasks", x->nr_short);
	report_u64(r, "short_lived_below_ns", SHORT_LIFE_NS);
	report_begin_array(r, "shortest_lived");
	for (uint32_t i = 0; i < x->shortest.nr; i++) {
		uint32_t task = (uint32_t)x->shortest.entries[i].id;

		report_begin_object(r, NULL);
		task_report(x->sc.s, r, task);
		report_u64(r, "lifetime_ns", top_lowest(x->shortest.entries[i].score));
		report_u64(r, "born_ns", x->born_ns[task]);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show(void *work, struct report *r)
{
	struct lives *x = work;
	int err;

	report_u64(r, "forks", x->forks);
	report_u64(r, "threads_created", x->threads);
	report_u64(r, "processes_created", x->forks - x->threads);
	report_u64(r, "execs", x->execs);
	report_u64(r, "exits", x->exits);
	figure_per_sec(r, "forks_per_sec", (double)x->forks, x->sc.covered_ns);
	figure_per_sec(r, "execs_per_sec", (double)x->execs, x->sc.covered_ns);
	figure_per_sec(r, "exits_per_sec", (double)x->exits, x->sc.covered_ns);
	samples_report_object(&x->lifetimes, r, "lifetime_ns");
	err = show_parents(x, r);
	show_shortest(x, r);
	report_string(
		r, "note",
		"lifetimes are from the fork to the exit, of tasks for which both were recorded");
	return err;
}

const struct pass pass_lifecycle = {
	.id = "lifecycle",
	.name = "Task Lifecycle",
	.category = "extended",
	.what = "tasks that fork and exit: how many, their parents, and how short-lived they were",
	.needs_any = KINDS,
	.cost = 1,
	.work = { .size = sizeof(struct lives), .collect = collect, .show = show, .done = done },
};
