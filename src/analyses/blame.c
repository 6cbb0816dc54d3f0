/*
 * Which tasks kept which others waiting: the time of all waits, by victim and by culprit. Time in which several tasks
 * wait counts once for each of them. Time in which the CPU was idle, handled an interrupt, was stolen or is unknown, and
 * time in which a quota throttled the victim, blames no task: it is in columns of its own.
 */
#include <errno.h>
#include <stddef.h>

#include "analyses/blame_sums.h"
#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define CULPRITS 5 /* of each victim */

struct blame {
	struct scope sc;
	struct units units;
	struct blame_sums sums;
};

static void done(void *work)
{
	struct blame *x = work;

	blame_sums_done(&x->sums);
}

/*
 * The time of the waits that reach into the one asked for: what CPUs did in all of it says how waits are divided, so that a
 * wait is the same sum of parts whatever time is asked for.
 */
static void span_of_waits(const struct scope *sc, uint64_t *from_ns, uint64_t *to_ns)
{
	struct rows it = { .sc = sc };
	struct pair_wait w;

	*from_ns = sc->from_ns;
	*to_ns = sc->to_ns;
	if (*from_ns <= sc->s->start_ns && *to_ns >= sc->s->end_ns)
		return;
	while (rows_wait(&it, &w)) {
		uint64_t start_ns = pair_wait_woken_ns(&w);

		*from_ns = start_ns < *from_ns ? start_ns : *from_ns;
		*to_ns = w.end_ns > *to_ns ? w.end_ns : *to_ns;
	}
	*from_ns = *from_ns > sc->s->start_ns ? *from_ns : sc->s->start_ns;
	*to_ns = *to_ns < sc->s->end_ns ? *to_ns : sc->s->end_ns;
}

static int collect(void *work)
{
	struct blame *x = work;
	SCOPED(scoped_ledger) struct ledger *l = NULL;
	uint64_t from_ns = x->sc.s->start_ns, to_ns = x->sc.s->end_ns;
	int err;

	if (x->sc.span_ns)
		span_of_waits(&x->sc, &from_ns, &to_ns);
	x->sums.is_brief = true;
	err = explain_ledger(x->sc.s, from_ns, to_ns, &l);
	return err ? err : blame_sums_collect(&x->sums, &x->sc, &x->units, l);
}

static void show_sums(const struct source *s, const struct blame_victim *v, struct report *r)
{
	report_u64(r, "waits", v->nr_waits);
	report_u64(r, "wait_ns", v->wait_ns);
	report_u64(r, "max_wait_ns", v->max_ns);
	explain_sums(s, v->ns, r);
}

static void show_culprits(const struct blame *x, uint32_t victim, struct report *r)
{
	struct blame_culprit most[CULPRITS];
	uint32_t nr = blame_pairs_most(&x->sums.pairs, victim, CULPRITS, most);

	report_begin_array(r, "blames");
	for (uint32_t i = 0; i < nr; i++) {
		report_begin_object(r, NULL);
		units_report(&x->units, r, most[i].unit);
		report_u64(r, "wait_ns", most[i].ns);
		report_percent(r, "percent", most[i].ns, x->sums.victims[victim].wait_ns);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show_victims(const struct blame *x, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = limit };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++)
		if (x->sums.victims[i].wait_ns) {
			nr++;
			top_add(&top, x->sums.victims[i].wait_ns, i);
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
		show_sums(x->sc.s, &x->sums.victims[unit], r);
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
		if (x->sums.caused_ns[i]) {
			nr++;
			top_add(&top, x->sums.caused_ns[i], i);
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
		report_percent(r, "percent", top.entries[i].score, x->sums.all.wait_ns);
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

	units_report_mode(&x->units, r);
	scope_report_pid(&x->sc, r);
	report_u64(r, "span_ns", x->sc.span_ns);
	show_sums(x->sc.s, &x->sums.all, r);
	err = show_causes(x, limit, r);
	return err ? err : show_victims(x, limit, r);
}

const struct pass pass_blame = {
	.id = "blame",
	.name = "Blame",
	.category = "scheduling",
	.what = "which tasks kept which others waiting, and what else did: quotas, stolen time, interrupts, idle CPUs, queues",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 3,
	.uses_ledger = true,
	.uses_sums = true,
	.finds_by_task = TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE) |
	                TIMELINE_BIT(GAP) | TIMELINE_BIT(STEAL),
	.default_by = PASS_BY_COMM,
	.work = { .size = sizeof(struct blame),
	          .units_at = offsetof(struct blame, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
