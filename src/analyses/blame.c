/*
 * Which tasks kept which others waiting: the time of all waits, by victim and by culprit. Time in which several tasks
 * wait counts once for each of them. Time in which the CPU was idle, handled an interrupt, was stolen or is unknown, and
 * time in which a quota throttled the victim, blames no task: it is in columns of its own.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/explain.h"
#include "analyses/passes.h"
#include "analyze/edges.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "ledger/sweep.h"

#define CULPRITS 5 /* of each victim */

struct victim {
	uint64_t ns[LEDGER_KINDS];
	uint64_t wait_ns;
	uint64_t nr_waits;
	uint64_t max_ns;
};

struct blame {
	struct scope sc;
	struct units units;
	struct victim *victims; /* by unit */
	uint64_t *caused_ns;    /* by unit: as a culprit */
	struct victim all;
	struct edges edges; /* by the culprit, to the victim */
	struct sweep_stay *stays;
	size_t nr_stays, room_stays;
};

static void done(void *work)
{
	struct blame *x = work;

	free(x->victims);
	free(x->caused_ns);
	free(x->stays);
	edges_done(&x->edges);
}

/* The part of it that was asked for. */
static bool cut(const struct blame *x, struct ledger_part *p)
{
	if (p->start_ns < x->sc.from_ns)
		p->start_ns = x->sc.from_ns;
	if (p->end_ns > x->sc.to_ns)
		p->end_ns = x->sc.to_ns;
	return p->start_ns < p->end_ns;
}

static int add(void *ctx, uint32_t unit, uint32_t nr, const struct ledger_part *p)
{
	struct blame *x = ctx;
	uint64_t ns = nr * (p->end_ns - p->start_ns);
	uint32_t culprit;

	x->victims[unit].ns[p->kind] += ns;
	x->all.ns[p->kind] += ns;
	if (p->kind != LEDGER_TASK)
		return 0;
	culprit = units_of(&x->units, (uint32_t)p->what);
	x->caused_ns[culprit] += ns;
	return edges_add(&x->edges, culprit, unit, ns);
}

static int take_wait(struct blame *x, struct ledger *l, const struct pair_wait *w)
{
	uint32_t unit = units_of(&x->units, w->task);
	struct victim *v = &x->victims[unit];
	struct ledger_walk walk;
	struct ledger_part p;
	uint64_t wait_ns = 0;
	int err = ledger_begin(l, w, &walk);

	while (!err && ledger_next_stay(&walk, &p)) {
		if (!cut(x, &p))
			continue;
		wait_ns += p.end_ns - p.start_ns;
		if (p.kind != LEDGER_STAY) {
			err = add(x, unit, 1, &p);
			continue;
		}
		if (GROW(x->stays, x->room_stays, x->nr_stays))
			return -ENOMEM;
		x->stays[x->nr_stays++] = (struct sweep_stay){ p.start_ns, p.end_ns, unit, p.cpu };
	}
	v->wait_ns += wait_ns;
	v->nr_waits++;
	if (wait_ns > v->max_ns)
		v->max_ns = wait_ns;
	return err;
}

static int collect(void *work)
{
	struct blame *x = work;
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	struct rows it = { .sc = &x->sc };
	size_t room = x->units.nr ? x->units.nr : 1;
	struct pair_wait w;
	int err;

	x->victims = calloc(room, sizeof(*x->victims));
	x->caused_ns = calloc(room, sizeof(*x->caused_ns));
	err = x->victims && x->caused_ns ? edges_init(&x->edges) : -ENOMEM;
	if (!err)
		err = explain_ledger(x->sc.s, x->sc.s->start_ns, x->sc.s->end_ns, &l);
	while (!err && rows_wait(&it, &w))
		if (w.task != TASKS_NONE)
			err = take_wait(x, l, &w);
	for (uint32_t i = 0; i < x->units.nr && !err; i++) {
		x->all.wait_ns += x->victims[i].wait_ns;
		x->all.nr_waits += x->victims[i].nr_waits;
		if (x->victims[i].max_ns > x->all.max_ns)
			x->all.max_ns = x->victims[i].max_ns;
	}
	return err ? err
	           : sweep_run(l, x->stays, x->nr_stays, x->units.nr,
	                       &(struct sweep_out){ .ctx = x, .part = add });
}

static void show_sums(const struct source *s, const struct victim *v, struct report *r)
{
	report_u64(r, "waits", v->nr_waits);
	report_u64(r, "wait_ns", v->wait_ns);
	report_u64(r, "max_wait_ns", v->max_ns);
	explain_sums(s, v->ns, r);
}

/* Culprits of each victim: the edges, by victim and time. */
static int by_victim(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->to != right->to)
		return left->to < right->to ? -1 : 1;
	if (left->sum_ns != right->sum_ns)
		return left->sum_ns > right->sum_ns ? -1 : 1;
	return (left->by > right->by) - (left->by < right->by);
}

static void show_culprits(const struct blame *x, uint32_t victim, struct report *r)
{
	uint32_t low = 0, high = x->edges.nr, nr = 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (x->edges.at[middle].to < victim)
			low = middle + 1;
		else
			high = middle;
	}
	report_begin_array(r, "blames");
	for (; low < x->edges.nr && x->edges.at[low].to == victim && nr < CULPRITS; low++, nr++) {
		report_begin_object(r, NULL);
		units_report(&x->units, r, x->edges.at[low].by);
		report_u64(r, "wait_ns", x->edges.at[low].sum_ns);
		report_percent(r, "percent", x->edges.at[low].sum_ns, x->victims[victim].wait_ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show_victims(const struct blame *x, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = limit };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++)
		if (x->victims[i].wait_ns) {
			nr++;
			top_add(&top, x->victims[i].wait_ns, i);
		}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "total_victims", nr);
	report_begin_array(r, "victims");
	for (uint32_t i = 0; i < top.nr; i++) {
		uint32_t unit = (uint32_t)top.entries[i].id;

		report_begin_object(r, NULL);
		units_report(&x->units, r, unit);
		show_sums(x->sc.s, &x->victims[unit], r);
		show_culprits(x, unit, r);
		report_end_object(r);
	}
	report_end_array(r);
	return 0;
}

static int show_causes(const struct blame *x, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = limit };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++)
		if (x->caused_ns[i]) {
			nr++;
			top_add(&top, x->caused_ns[i], i);
		}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "total_culprits", nr);
	report_begin_array(r, "culprits");
	for (uint32_t i = 0; i < top.nr; i++) {
		report_begin_object(r, NULL);
		units_report(&x->units, r, (uint32_t)top.entries[i].id);
		report_u64(r, "caused_wait_ns", top.entries[i].score);
		report_percent(r, "percent", top.entries[i].score, x->all.wait_ns);
		report_end_object(r);
	}
	report_end_array(r);
	return 0;
}

static int show(void *work, struct report *r)
{
	struct blame *x = work;
	uint32_t limit = pass_limit(&pass_blame, x->sc.args);
	int err;

	if (x->edges.nr)
		qsort(x->edges.at, x->edges.nr, sizeof(*x->edges.at), by_victim);
	units_report_mode(&x->units, r);
	scope_report_pid(&x->sc, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	show_sums(x->sc.s, &x->all, r);
	err = show_causes(x, limit, r);
	return err ? err : show_victims(x, limit, r);
}

static const struct pass_work work = { .size = sizeof(struct blame),
	                               .units_at = offsetof(struct blame, units),
	                               .collect = collect,
	                               .show = show,
	                               .done = done };

/* Tasks of one name are what people know; a thread is not. */
static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	struct pass_args by = *args;

	if (by.by == PASS_BY_DEFAULT)
		by.by = PASS_BY_COMM;
	return pass_run_with(&work, s, &by, r, d);
}

const struct pass pass_blame = {
	.id = "blame",
	.name = "Blame",
	.category = "scheduling",
	.what = "which tasks kept which others waiting, and what else did: quotas, stolen time, interrupts, idle CPUs, queues",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 3,
	.finds_by_task = TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE) |
	                TIMELINE_BIT(GAP) | TIMELINE_BIT(STEAL),
	.run = run,
};
