/*
 * Compound delay: what a task waited, and what its waker had waited before it could wake it, and so on. For a task that was
 * woken it is its own delay plus that of its waker at that moment, over one link more; for one that was preempted, the
 * delay is added to what the task waited since its wakeup. A chain has a beginning: an interrupt, which has not waited;
 * the moment at which a task would come a second time, so that two tasks that wake each other do not add up for ever;
 * MAX_TASKS tasks. Waits that have not ended count up to the end.
 *
 * One walk over wakeups and waits together in the order of time: the last wait of the waker is noted at the wakeup.
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
#define MAX_TASKS   16
#define NO_WAIT     UINT64_MAX

/* What a task has waited since it was last woken, up to and with a wait. */
struct delay {
	uint64_t ns;
	uint64_t before;   /* the wait of its waker, then; NO_WAIT = none */
	uint64_t previous; /* the wait of the task itself before it was preempted; NO_WAIT = none */
	uint32_t nr_links;
	uint32_t task;
};

/* The last wait of a waker. */
struct noted {
	uint64_t wait;
	bool is_noted;
	bool is_early; /* while the woken task still ran: a later wakeup counts instead */
};

struct compound {
	struct scope sc;
	uint64_t *last;      /* by task: its last wait; NO_WAIT = none */
	struct noted *noted; /* by task: of its waker, when it was woken */
	uint64_t *seen;      /* by task: the number of the last walk that met it */
	uint64_t nr_walks;
	uint64_t first;       /* id of the first wait */
	struct delay *delays; /* by wait */
	struct buckets tasks;
	struct samples all;
	struct top chains;
	uint32_t longest;
};

static void done(void *work)
{
	struct compound *x = work;

	free(x->last);
	free(x->noted);
	free(x->seen);
	free(x->delays);
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
	x->last = calloc(nr_tasks, sizeof(*x->last));
	x->noted = calloc(nr_tasks, sizeof(*x->noted));
	x->seen = calloc(nr_tasks, sizeof(*x->seen));
	x->delays = calloc(nr, sizeof(*x->delays));
	if (!x->last || !x->noted || !x->seen || !x->delays)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->sc.nr_tasks; i++)
		x->last[i] = NO_WAIT;
	return 0;
}

/* The first wakeup counts, until the task is switched in. */
static void note_wakeup(struct compound *x, const struct pair_wakeup *w)
{
	if (w->task >= x->sc.nr_tasks || w->waker >= x->sc.nr_tasks ||
	    (x->noted[w->task].is_noted && !x->noted[w->task].is_early))
		return;
	x->noted[w->task] = (struct noted){ x->last[w->waker], true, w->is_running };
}

/* The delay of a wait and of those before it, each task once; how many waits that are. */
static uint64_t add_up(struct compound *x, uint64_t id, uint32_t *nr_links)
{
	uint64_t at = id, ns = 0;

	*nr_links = 0;
	x->nr_walks++;
	for (uint32_t i = 0; i < MAX_TASKS && at != NO_WAIT; i++) {
		const struct delay *d = &x->delays[at - x->first];

		if (x->seen[d->task] == x->nr_walks)
			break;
		x->seen[d->task] = x->nr_walks;
		ns += d->ns;
		*nr_links += d->nr_links;
		at = d->before;
	}
	return ns;
}

static bool is_wanted(const struct compound *x, const struct pair_wait *w)
{
	return scope_takes(&x->sc, w->task, pair_wait_woken_ns(w)) &&
	       pass_takes_cpu(x->sc.args, w->cpu) &&
	       scope_overlaps(&x->sc, pair_wait_woken_ns(w), w->end_ns);
}

static void end_wait(struct compound *x, const struct pair_wait *w, uint64_t id)
{
	struct delay *d = &x->delays[id - x->first];
	uint32_t nr_links;
	uint64_t ns;

	if (w->task >= x->sc.nr_tasks)
		return;
	*d = (struct delay){ latency_ns(w), NO_WAIT, NO_WAIT, 1, w->task };
	if (w->cause == PAIR_PREEMPTED && x->last[w->task] != NO_WAIT) {
		const struct delay *own = &x->delays[x->last[w->task] - x->first];

		d->ns += own->ns;
		d->nr_links += own->nr_links;
		d->before = own->before;
		d->previous = x->last[w->task];
	} else if (w->cause != PAIR_PREEMPTED && x->noted[w->task].is_noted &&
	           w->waker != TASKS_NONE) {
		d->before = x->noted[w->task].wait;
	}
	x->last[w->task] = id;
	x->noted[w->task] = (struct noted){ 0 };
	if (!is_wanted(x, w))
		return;
	ns = add_up(x, id, &nr_links);
	buckets_add(&x->tasks, w->task, ns);
	samples_add(&x->all, ns);
	top_add(&x->chains, ns, id);
	if (nr_links > x->longest)
		x->longest = nr_links;
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

static void show_links(struct compound *x, uint64_t id, struct report *r)
{
	uint32_t nr_links, shown = 0;
	uint64_t left_ns = add_up(x, id, &nr_links);

	report_begin_array(r, "chain");
	for (; shown < nr_links && shown < SHOWN_LINKS; shown++) {
		const struct delay *d = &x->delays[id - x->first];
		union timeline_row row;

		if (!timeline_row(x->sc.s->timeline, TIMELINE_WAIT, id, &row))
			break;
		report_begin_object(r, NULL);
		task_report(x->sc.s, r, row.wait.task);
		report_u64(r, "delay_ns", latency_ns(&row.wait));
		report_u64(r, "compound_delay_ns", left_ns);
		report_string(r, "cause", latency_cause(&row.wait));
		report_u64(r, "cpu", row.wait.cpu);
		report_u64(r, "timestamp", row.wait.end_ns);
		report_bool(r, "is_open", row.wait.is_open);
		report_end_object(r);
		left_ns -= latency_ns(&row.wait);
		id = d->previous != NO_WAIT ? d->previous : d->before;
	}
	report_end_array(r);
	report_u64(r, "chain_length", nr_links);
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
		"after a preemption the delay is added to the task's own; each task counts once "
		"in a chain; chains begin with the last link");
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
