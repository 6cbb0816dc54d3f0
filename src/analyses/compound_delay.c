/*
 * Compound delay: what a task waited, and what its waker had waited before it could wake it, and so on. For a task that was
 * woken it is its own delay plus the compound delay that its waker had at that moment, over one link more; for one that was
 * preempted, the delay is added to the task's own. An interrupt has not waited, and begins a chain.
 *
 * One walk over wakeups and waits together in the order of time: the waker's delay is noted at the
 * wakeup.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/buckets.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/units.h"
#include "analyze/walk.h"
#include "base/cleanup.h"

#define SHOWN_LINKS 16
#define NO_WAIT     UINT64_MAX

/* The delay of a task, and the wait that caused it. */
struct delay {
	uint64_t ns;
	uint64_t wait; /* id of the row; NO_WAIT = none */
	uint32_t nr_links;
	bool is_early; /* noted while the task still ran: a later wakeup counts instead */
};

struct compound {
	struct scope sc;
	struct delay *current; /* by task: since it was last switched in */
	struct delay *noted;   /* by task: its waker's, when it was woken */
	uint64_t first;        /* id of the first wait */
	uint64_t *parents;     /* by wait: the one before in its chain */
	uint64_t *sums;        /* by wait: the compound delay */
	struct buckets tasks;
	struct samples all;
	struct top chains;
	uint32_t longest;
};

static void done(void *work)
{
	struct compound *x = work;

	free(x->current);
	free(x->noted);
	free(x->parents);
	free(x->sums);
	buckets_done(&x->tasks);
	samples_done(&x->all);
	top_done(&x->chains);
}

static int allocate(struct compound *x)
{
	const struct timeline *t = x->sc.s->timeline;
	size_t nr_tasks = x->sc.nr_tasks ? x->sc.nr_tasks : 1, nr;

	x->first = timeline_first(t, TIMELINE_WAIT);
	nr = (size_t)(timeline_end(t, TIMELINE_WAIT) - x->first) + 1;
	x->current = calloc(nr_tasks, sizeof(*x->current));
	x->noted = calloc(nr_tasks, sizeof(*x->noted));
	x->parents = calloc(nr, sizeof(*x->parents));
	x->sums = calloc(nr, sizeof(*x->sums));
	if (!x->current || !x->noted || !x->parents || !x->sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->sc.nr_tasks; i++)
		x->current[i].wait = x->noted[i].wait = NO_WAIT;
	return 0;
}

/* The first wakeup counts, until the task is switched in. */
static void note_wakeup(struct compound *x, const struct pair_wakeup *w)
{
	if (w->task >= x->sc.nr_tasks || w->waker >= x->sc.nr_tasks ||
	    (x->noted[w->task].nr_links && !x->noted[w->task].is_early))
		return;
	x->noted[w->task] = x->current[w->waker];
	x->noted[w->task].nr_links++; /* also says that it was noted */
	x->noted[w->task].is_early = w->is_running;
}

static bool is_wanted(const struct compound *x, const struct pair_wait *w)
{
	return scope_takes(&x->sc, w->task, pair_wait_woken_ns(w)) &&
	       pass_takes_cpu(x->sc.args, w->cpu) &&
	       scope_overlaps(&x->sc, pair_wait_woken_ns(w), w->end_ns);
}

static void end_wait(struct compound *x, const struct pair_wait *w, uint64_t id)
{
	struct delay before = { .wait = NO_WAIT }, now;

	if (w->task >= x->sc.nr_tasks || w->is_open)
		return;
	if (w->cause == PAIR_PREEMPTED) {
		before = x->current[w->task];
	} else if (x->noted[w->task].nr_links && w->waker != TASKS_NONE) {
		before = x->noted[w->task];
		before.nr_links--;
	}
	now = (struct delay){ before.ns + latency_ns(w), id, before.nr_links + 1, false };
	x->current[w->task] = now;
	x->noted[w->task] = (struct delay){ .wait = NO_WAIT };
	x->parents[id - x->first] = before.wait;
	x->sums[id - x->first] = now.ns;
	if (!is_wanted(x, w))
		return;
	buckets_add(&x->tasks, w->task, now.ns);
	samples_add(&x->all, now.ns);
	top_add(&x->chains, now.ns, id);
	if (now.nr_links > x->longest)
		x->longest = now.nr_links;
}

static int collect(void *work)
{
	struct compound *x = work;
	struct walk wakeups = { .sc = &x->sc, .table = TIMELINE_WAKEUP, .is_all = true };
	struct walk waits = { .sc = &x->sc, .table = TIMELINE_WAIT, .is_all = true };
	const union timeline_row *wakeup = walk_next(&wakeups), *wait = walk_next(&waits);

	x->chains.limit = pass_limit(&pass_compound_delay, x->sc.args);
	if (allocate(x))
		return -ENOMEM;
	while (wait) {
		/*
		 * At the same moment a task is switched in before it wakes others, unless it is
		 * itself the wakee.
		 */
		bool is_wait_first = !wakeup || wait->wait.end_ns < wakeup->wakeup.ts_ns ||
		                     (wait->wait.end_ns == wakeup->wakeup.ts_ns &&
		                      pair_wait_woken_ns(&wait->wait) != wakeup->wakeup.ts_ns);

		if (is_wait_first) {
			end_wait(x, &wait->wait, waits.id - 1);
			wait = walk_next(&waits);
		} else {
			note_wakeup(x, &wakeup->wakeup);
			wakeup = walk_next(&wakeups);
		}
	}
	return x->all.has_failed || x->chains.has_failed ? -ENOMEM : buckets_order(&x->tasks);
}

static void show_links(const struct compound *x, uint64_t id, struct report *r)
{
	uint32_t nr = 0, shown = 0;

	report_begin_array(r, "chain");
	for (; id != NO_WAIT; id = x->parents[id - x->first], nr++) {
		union timeline_row row;

		if (nr >= SHOWN_LINKS || !timeline_row(x->sc.s->timeline, TIMELINE_WAIT, id, &row))
			continue;
		report_begin_object(r, NULL);
		task_report(x->sc.s, r, row.wait.task);
		report_u64(r, "delay_ns", latency_ns(&row.wait));
		report_u64(r, "compound_delay_ns", x->sums[id - x->first]);
		report_string(r, "cause", latency_cause(&row.wait));
		report_u64(r, "cpu", row.wait.cpu);
		report_u64(r, "timestamp", row.wait.end_ns);
		report_end_object(r);
		shown++;
	}
	report_end_array(r);
	report_u64(r, "chain_length", nr);
	report_u64(r, "links_shown", shown);
}

static void show_chains(struct compound *x, struct report *r)
{
	top_rank(&x->chains);
	report_begin_array(r, "top_chains");
	for (uint32_t i = 0; i < x->chains.nr; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "compound_delay_ns", x->chains.entries[i].score);
		show_links(x, x->chains.entries[i].id, r);
		report_end_object(r);
	}
	report_end_array(r);
}

static int show(void *work, struct report *r)
{
	struct compound *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_compound_delay, x->sc.args) };

	report_u64(r, "total_waits", x->all.nr);
	report_u64(r, "longest_chain", x->longest);
	samples_report_object(&x->all, r, "compound_delay");
	buckets_top(&x->tasks, false, &top);
	for (uint32_t i = 0; top_row(&top, i, r, "top_tasks"); i++) {
		uint32_t at = (uint32_t)top.entries[i].id;
		struct samples ns = buckets_at(&x->tasks, at);

		task_report(x->sc.s, r, (uint32_t)x->tasks.at[at].key);
		report_u64(r, "waits", x->tasks.at[at].count);
		report_u64(r, "total_compound_delay_ns", x->tasks.at[at].sum_ns);
		samples_report(&ns, r, "_compound_delay_ns");
	}
	show_chains(x, r);
	report_string(
		r, "note",
		"a task's own delay, plus the compound delay that its waker had when it woke it; "
		"after a preemption the delay is added to the task's own; chains begin with the "
		"last link");
	return top.has_failed ? -ENOMEM : 0;
}

const struct pass pass_compound_delay = {
	.id = "compound_delay",
	.name = "Compound Delay",
	.category = "extended",
	.what = "delays that tasks inherit from their wakers: which task waited for which",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 4,
	.default_limit = 10,
	.work = { .size = sizeof(struct compound), .collect = collect, .show = show, .done = done },
};
