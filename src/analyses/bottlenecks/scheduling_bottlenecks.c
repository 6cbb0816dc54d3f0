/* Who lost most time, to what, and what helps: waits for a CPU (lost_waits) and other losses (findings), in their order (ranking). */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/bottlenecks/bottlenecks_share.h"
#include "analyses/bottlenecks/findings.h"
#include "analyses/bottlenecks/lost_waits.h"
#include "analyses/bottlenecks/ranking.h"
#include "analyses/explain/explain.h"
#include "analyses/passes.h"
#include "analyze/moves.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/windows.h"
#include "base/cleanup.h"
#include "base/parallel.h"

#define DEFAULT_LIMIT        10
#define SHOWN_AFFECTED       10
#define MAX_SEVERITY         10
#define MAX_SWITCHES_PER_SEC 1000
#define MAX_MOVES_PER_SEC    100
#define MIN_EVENTS           10 /* fewer do not make a rate */
#define MUCH_UNKNOWN         10 /* a 10th of a wait */

struct bottlenecks_work {
	struct scope sc;
	struct units units;
	struct blame_sums sums;
	struct ledger *l;
	struct windows switches, moves;
};

static void done(void *work)
{
	struct bottlenecks_work *x = work;

	blame_sums_done(&x->sums);
	ledger_free(x->l);
	windows_done(&x->switches);
	windows_done(&x->moves);
}

/* Switches of CPUs and moves of tasks. */
static int count_rates(struct bottlenecks_work *x)
{
	struct rows slices = { .sc = &x->sc }, idles = { .sc = &x->sc };
	SCOPED(moves_done) struct moves moves = { 0 };
	struct pair_slice slice;
	struct pair_idle idle;
	struct pair_migration move;
	int err = windows_init(&x->switches, x->sc.from_ns, x->sc.span_ns, x->sc.nr_cpus);

	if (!err)
		err = windows_init(&x->moves, x->sc.from_ns, x->sc.span_ns, 1);
	if (!err)
		err = moves_init(&moves, &x->sc);
	if (err)
		return err;
	while (rows_slice(&slices, &slice))
		windows_count(&x->switches, slice.cpu, slice.start_ns);
	while (rows_idle(&idles, &idle))
		windows_count(&x->switches, idle.cpu, idle.start_ns);
	while (moves_next(&moves, &move))
		windows_count(&x->moves, 0, move.ts_ns);
	return 0;
}

struct collecting {
	struct bottlenecks_work *x;
	int err[2];
};

static void collect_one(void *ctx, unsigned int worker, size_t item)
{
	struct collecting *c = ctx;
	struct bottlenecks_work *x = c->x;

	(void)worker;
	c->err[item] = item ? count_rates(x)
	                    : blame_sums_collect(&x->sums, &x->sc, &x->units, x->l);
}

/* Sums of waits take longest of all that a page and a summary wait for, and rates need none of them. */
static int collect(void *work)
{
	struct bottlenecks_work *x = work;
	struct collecting c = { .x = x };
	struct parallel p = { .fn = collect_one, .ctx = &c };
	int err = explain_ledger(x->sc.s, x->sc.s->start_ns, x->sc.s->end_ns, &x->l);

	if (err)
		return err;
	parallel_for(&p, 2);
	return c.err[0] ? c.err[0] : c.err[1];
}

/* The tasks of the victim that lost most. */
static int show_affected(const struct bottlenecks_work *x, uint32_t victim, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = SHOWN_AFFECTED };

	for (uint32_t i = 0; i < x->sc.nr_tasks; i++)
		if (x->sums.task_ns[i] && units_of(&x->units, i) == victim)
			top_add(&top, x->sums.task_ns[i], i);
	top_rank(&top);
	report_begin_array(r, "affected_pids");
	for (uint32_t i = 0; i < top.nr; i++)
		report_u64(r, NULL, source_tid(x->sc.s, (uint32_t)top.entries[i].id));
	report_end_array(r);
	return top.has_failed ? -ENOMEM : 0;
}

static void show_causes(const struct bottlenecks_work *x, const struct bottleneck *b,
                        struct report *r)
{
	report_begin_array(r, "causes");
	for (uint32_t i = 0; i < b->nr_causes; i++) {
		const struct bottleneck_cause *c = &b->causes[i];

		report_begin_object(r, NULL);
		report_string(r, "kind", explain_kind(c->kind));
		report_u64(r, "wait_ns", c->ns);
		report_percent(r, "percent", c->ns, x->sums.victims[b->victim].wait_ns);
		if (c->kind == LEDGER_TASK) {
			units_report(&x->units, r, c->culprit);
			report_string(r, "class", bottleneck_class(&x->sums, c->culprit, r));
		}
		report_end_object(r);
	}
	report_end_array(r);
}

static void show_range(uint64_t from_ns, uint64_t to_ns, struct report *r)
{
	report_begin_array(r, "time_range");
	report_u64(r, NULL, from_ns);
	report_u64(r, NULL, to_ns);
	report_end_array(r);
}

static void show_longest(const struct bottlenecks_work *x, const struct blame_victim *v,
                         struct report *r)
{
	report_begin_object(r, "bottleneck_type");
	report_begin_object(r, "LostTime");
	report_u64(r, "wait_ns", v->wait_ns);
	report_u64(r, "waits", v->nr_waits);
	report_u64(r, "max_wait_ns", v->max_ns);
	report_u64(r, "max_wait_tid", source_tid(x->sc.s, v->longest.task));
	report_u64(r, "max_wait_timestamp", pair_wait_woken_ns(&v->longest));
	report_bool(r, "is_over", !v->longest.is_open);
	report_end_object(r);
	report_end_object(r);
}

/* A loss that is not in time is above all others. */
static void show_lost(const struct bottlenecks_work *x, uint64_t ns, struct report *r)
{
	double lost = x->sc.span_ns ? (double)ns / (double)x->sc.span_ns : 0;

	report_u64_if(r, "lost_ns", ns != UINT64_MAX, ns);
	report_double(r, "severity", lost < MAX_SEVERITY ? lost : MAX_SEVERITY, 2);
}

/* What was lost may have been another cause. */
static void show_confidence(const struct bottlenecks_work *x, enum confidence c, struct report *r)
{
	static const char *const names[] = { "proved", "likely", "unknown" };
	const struct source_facts *f = x->sc.s->facts;

	if (c == CONFIDENCE_PROVED && (f->lost || f->kinds[EV_LOST] || f->incomplete))
		c = CONFIDENCE_LIKELY;
	report_string(r, "confidence", names[c]);
}

static enum confidence of_wait(const struct bottlenecks_work *x, const struct bottleneck *b)
{
	const struct blame_victim *v = &x->sums.victims[b->victim];
	enum bottleneck_why why = bottleneck_why(&x->sums, b);

	if (why == BOTTLENECK_UNKNOWN || why == BOTTLENECK_IDLE)
		return CONFIDENCE_UNKNOWN;
	return v->ns[LEDGER_UNKNOWN] > v->wait_ns / MUCH_UNKNOWN ? CONFIDENCE_LIKELY
	                                                         : CONFIDENCE_PROVED;
}

static int show_wait(const struct bottlenecks_work *x, const struct bottleneck *b, struct report *r)
{
	const struct blame_victim *v = &x->sums.victims[b->victim];
	int err;

	report_string(r, "kind", "wait");
	report_string(r, "cause", bottleneck_why_name(bottleneck_why(&x->sums, b)));
	report_string(r, "description", bottleneck_text(&x->sums, b, r));
	report_string(r, "remedy", bottleneck_remedy(&x->sums, b, r));
	report_string(r, "next",
	              report_printf(r, "explain FILE --tid %" PRIu32 " --at @%" PRIu64,
	                            source_tid(x->sc.s, v->longest.task),
	                            pair_wait_woken_ns(&v->longest)));
	show_confidence(x, of_wait(x, b), r);
	show_lost(x, v->wait_ns, r);
	units_report(&x->units, r, b->victim);
	err = show_affected(x, b->victim, r);
	show_range(v->first_ns, v->last_ns, r);
	show_longest(x, v, r);
	show_causes(x, b, r);
	return err;
}

static void show_finding(const struct bottlenecks_work *x, const struct finding *f,
                         struct report *r)
{
	report_string(r, "kind", f->kind);
	report_string(r, "cause", f->cause);
	report_string(r, "description", f->description);
	report_string(r, "remedy", f->remedy);
	report_string(r, "next", f->next);
	show_confidence(x, f->confidence, r);
	show_lost(x, f->lost_ns, r);
	if (f->task == TASKS_NONE)
		task_report(x->sc.s, r, TASKS_NONE);
	else
		units_report(&x->units, r, units_of(&x->units, f->task));
	report_begin_array(r, "affected_pids");
	if (f->task != TASKS_NONE)
		report_u64(r, NULL, source_tid(x->sc.s, f->task));
	report_end_array(r);
	show_range(f->first_ns, f->last_ns, r);
	report_begin_object(r, "bottleneck_type");
	report_begin_object(r, f->kind);
	report_end_object(r);
	report_end_object(r);
	report_begin_array(r, "causes");
	report_end_array(r);
}

static void show_rate(struct report *r, const char *what, const struct stretch *at)
{
	report_begin_object(r, NULL);
	report_string(r, "description", what);
	report_double(r, "per_sec", at->per_second, 1);
	show_range(at->from_ns, at->to_ns, r);
	report_end_object(r);
}

/* What happened often, in the worst stretch of time: no loss by itself, so it is never ranked with what was lost. */
static void show_rates(const struct bottlenecks_work *x, struct report *r)
{
	struct stretch at;

	report_begin_array(r, "high_rates");
	for (uint32_t cpu = 0; cpu < x->sc.nr_cpus; cpu++)
		if (windows_worst(&x->switches, cpu, MAX_SWITCHES_PER_SEC, &at) &&
		    windows_sum(&x->switches, cpu, &at) >= MIN_EVENTS)
			show_rate(r,
			          report_printf(r, "CPU %u switched tasks %.0f times per second",
			                        cpu, at.per_second),
			          &at);
	if (windows_worst(&x->moves, 0, MAX_MOVES_PER_SEC, &at) &&
	    windows_sum(&x->moves, 0, &at) >= MIN_EVENTS)
		show_rate(r,
		          report_printf(r, "tasks moved between CPUs %.0f times per second",
		                        at.per_second),
		          &at);
	report_end_array(r);
}

static int find_all(struct findings *f)
{
	int err = find_ejected(f);

	if (!err)
		err = find_locks(f);
	if (!err)
		err = find_blocked(f);
	if (!err)
		err = find_short_lived(f);
	if (!err)
		err = find_softirqs(f);
	return err ? err : find_stolen(f);
}

/* Victims of waits by their unit, findings behind them. */
static int rank(const struct bottlenecks_work *x, const struct findings *f, struct top *top,
                uint64_t *total)
{
	SCOPED(scoped_free)
	uint64_t *counts_ns = calloc(x->units.nr + 1UL, sizeof(*counts_ns));
	int err = counts_ns ? ranking_find(&x->sums, counts_ns) : -ENOMEM;

	*total = f->nr;
	for (uint32_t i = 0; !err && i < x->units.nr; i++)
		if (bottleneck_counts(&x->sums, i)) {
			++*total;
			top_add(top, counts_ns[i], i);
		}
	for (size_t i = 0; i < f->nr; i++)
		top_add(top, f->at[i].lost_ns, x->units.nr + i);
	top_rank(top);
	return err || !top->has_failed ? err : -ENOMEM;
}

/* What there is to say of the victims that are shown, in their order. */
static int find_shown(const struct bottlenecks_work *x, const struct top *top,
                      struct bottleneck **out)
{
	SCOPED(scoped_free) struct bottleneck *list = calloc(top->nr + 1UL, sizeof(*list));
	uint32_t nr = 0;
	int err;

	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < top->nr; i++)
		if (top->entries[i].id < x->units.nr)
			list[nr++].victim = (uint32_t)top->entries[i].id;
	err = bottleneck_find(&x->sums, x->l, list, nr);
	if (!err)
		*out = TAKE_PTR(list);
	return err;
}

static int show_all(const struct bottlenecks_work *x, const struct findings *f, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_scheduling_bottlenecks, x->sc.args) };
	SCOPED(scoped_free) struct bottleneck *waits = NULL;
	uint64_t total = 0;
	uint32_t nr_waits = 0;
	int err = rank(x, f, &top, &total);

	if (!err)
		err = find_shown(x, &top, &waits);
	if (err)
		return err;
	report_u64(r, "total_bottlenecks", total);
	report_u64(r, "total_lost_ns", x->sums.all.wait_ns);
	for (uint32_t i = 0; top_row(&top, i, r, "bottlenecks"); i++) {
		uint64_t id = top.entries[i].id;

		if (id >= x->units.nr)
			show_finding(x, &f->at[id - x->units.nr], r);
		else if (!err)
			err = show_wait(x, &waits[nr_waits++], r);
	}
	show_rates(x, r);
	return err;
}

static int show(void *work, struct report *r)
{
	const struct bottlenecks_work *x = work;
	struct findings f = { .sc = &x->sc, .units = &x->units, .r = r };
	int err = find_all(&f);

	if (!err)
		err = show_all(x, &f, r);
	findings_done(&f);
	return err;
}

static const struct pass_work work = { .size = sizeof(struct bottlenecks_work),
	                               .units_at = offsetof(struct bottlenecks_work, units),
	                               .collect = collect,
	                               .show = show,
	                               .done = done };

/* Victims and culprits are always names: a thread is one of many. */
static int find(const struct source *s, const struct pass_args *args, struct report *r,
                struct diag *d)
{
	struct pass_args by = *args;

	by.by = PASS_BY_COMM;
	return pass_run_with(&work, s, &by, r, d);
}

/* A summary shows the first of them: in a batch they are found once for both. */
static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	struct pass_args limited = *args;

	limited.limit = pass_limit(&pass_scheduling_bottlenecks, args);
	if (!s->bottlenecks || limited.limit > DEFAULT_LIMIT)
		return find(s, args, r, d);
	return bottlenecks_share_run(s, &limited, DEFAULT_LIMIT, find, r, d);
}

const struct pass pass_scheduling_bottlenecks = {
	.id = "scheduling_bottlenecks",
	.name = "Scheduling Bottlenecks",
	.category = "scheduling",
	.what = "who lost most time waiting for a CPU, a lock or a disk, to whom or what, and what helps",
	.needs = EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_MIGRATE) | EV_BIT(EV_SLEEP) |
	        EV_BIT(EV_FORK) | EV_BIT(EV_EXIT) | EV_BIT(EV_STEAL) | EV_BIT(EV_SCX_STATE) |
	        EV_BIT(EV_SOFTIRQ_ENTRY) | EV_BIT(EV_SOFTIRQ_EXIT),
	.cost = 5,
	.uses_ledger = true,
	.uses_sums = true,
	.default_limit = DEFAULT_LIMIT,
	.finds_by_task = TIMELINE_BIT(MIGRATION) | TIMELINE_BIT(DSQ) | TIMELINE_BIT(THROTTLE),
	.finds_by_cpu = TIMELINE_BIT(SLICE) | TIMELINE_BIT(SPAN) | TIMELINE_BIT(IDLE) |
	                TIMELINE_BIT(GAP) | TIMELINE_BIT(STEAL),
	.run = run,
};
