/*
 * Time that softirqs took from tasks while they were on a CPU: the ledger is about waits, in which this time does not appear. Who
 * raised them is not recorded: a task that sends packets may run softirqs of its own making, so the loss is likely, not proved.
 * ksoftirqd and other threads of the kernel lose nothing by them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyses/bottlenecks/findings.h"
#include "analyze/edges.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/interrupt.h"
#include "model/tasks.h"

#define CPU_SHARE  20 /* a 20th of one CPU: ticks and a little network are usual */
#define TIME_BYTES 24

struct taken {
	uint64_t ns;
	uint64_t first_ns, last_ns;
	uint64_t most_ns; /* of the task that lost most */
	uint32_t nr_tasks;
	uint32_t task; /* that one */
};

struct taken_work {
	uint64_t *tasks;      /* by task: ns */
	struct taken *units;  /* by unit */
	struct edges vectors; /* by unit, to the vector */
};

static bool is_victim(const struct findings *f, uint32_t task)
{
	const struct task *t = task < f->sc->nr_tasks ? tasks_at(f->sc->s->tasks, task) : NULL;

	return t && t->tid && !t->is_kthread;
}

static int take(struct taken_work *x, const struct findings *f, const struct pair_span *s)
{
	uint32_t unit = units_of(f->units, s->task);
	struct taken *t = &x->units[unit];
	uint64_t ns = scope_cut(f->sc, s->start_ns, s->end_ns);

	t->first_ns = t->ns ? t->first_ns : s->start_ns;
	t->last_ns = s->end_ns;
	t->ns += ns;
	t->nr_tasks += !x->tasks[s->task];
	x->tasks[s->task] += ns;
	if (x->tasks[s->task] >= t->most_ns) {
		t->most_ns = x->tasks[s->task];
		t->task = s->task;
	}
	return edges_add(&x->vectors, unit, (uint32_t)s->id, ns);
}

static int collect(struct taken_work *x, const struct findings *f)
{
	struct walk w = { .sc = f->sc, .table = TIMELINE_SPAN, .kinds = 1ULL << PAIR_SOFTIRQ };
	const union timeline_row *row;
	int err;

	x->tasks = calloc(f->sc->nr_tasks ? f->sc->nr_tasks : 1, sizeof(*x->tasks));
	x->units = calloc(f->units->nr ? f->units->nr : 1, sizeof(*x->units));
	err = x->tasks && x->units ? edges_init(&x->vectors) : -ENOMEM;
	while (!err && (row = walk_next(&w)))
		if (is_victim(f, row->span.task))
			err = take(x, f, &row->span);
	edges_sort(&x->vectors);
	return err;
}

static int add(struct findings *f, const struct taken_work *x, uint32_t unit)
{
	const struct taken *t = &x->units[unit];
	const char *comm = source_comm(f->sc->s, t->task), *who;
	char all[TIME_BYTES], most[TIME_BYTES];
	const struct edge *at;

	edges_of(&x->vectors, unit, &at);
	if (t->nr_tasks > 1)
		who = report_printf(f->r, "%s (%u tasks)", comm, t->nr_tasks);
	else
		who = report_printf(f->r, "%s (%" PRIu32 ")", comm, source_tid(f->sc->s, t->task));
	return findings_add(
		f,
		&(struct finding){
			.kind = "softirqs",
			.cause = "softirqs",
			.confidence = CONFIDENCE_LIKELY,
			.task = t->task,
			.lost_ns = t->ns,
			.first_ns = t->first_ns,
			.last_ns = t->last_ns,
			.description = report_printf(
				f->r,
				"softirqs took %s from %s while it was on a CPU (%.0f %% of the "
				"recording), %s of it %s",
				text_duration(all, sizeof(all), t->ns), who,
				100.0 * (double)t->ns / (double)f->sc->span_ns,
				text_duration(most, sizeof(most), at->sum_ns),
				softirq_name(at->to)),
			.remedy =
				"move the interrupts or the task to other CPUs, unless its own work raises them",
			.next = "analyze FILE softirq_analysis" });
}

int find_softirqs(struct findings *f)
{
	struct taken_work x = { 0 };
	int err = collect(&x, f);

	for (uint32_t i = 0; !err && i < f->units->nr; i++)
		if (x.units[i].ns && x.units[i].ns >= f->sc->span_ns / CPU_SHARE)
			err = add(f, &x, i);
	free(x.tasks);
	free(x.units);
	edges_done(&x.vectors);
	return err;
}
