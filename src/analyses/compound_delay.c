/*
 * Compound delay: what a task waited, and what its waker had waited before it could wake it, and so on. For a task that was
 * woken it is its own delay plus that of its waker at that moment, over one link more; for one that was preempted, the
 * delay is added to what the task waited since its wakeup. A chain has a beginning: an interrupt, which has not waited;
 * the moment at which a task would come a second time, so that two tasks that wake each other do not add up forever;
 * MAX_TASKS tasks. Waits that have not ended count up to the end.
 *
 * One walk over wakeups and waits together in the order of time: the last wait of the waker is noted at the wakeup.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/grouped.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/scope.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

#define SHOWN_LINKS 16
#define MAX_TASKS   16
#define NO_WAIT     UINT32_MAX /* others are numbers from the first wait on */

/* What a task has waited since it was last woken, up to and with a wait. */
struct delay {
	uint64_t ns;
	uint32_t before;   /* the wait of its waker, then; NO_WAIT = none */
	uint32_t previous; /* the wait of the task itself before it was preempted; NO_WAIT = none */
	uint32_t nr_links;
	uint32_t task;
};

/* The last wait of a waker. */
struct noted {
	uint32_t wait;
	bool is_noted;
	bool is_early; /* while the woken task still ran: a later wakeup counts instead */
};

/* A task with waits that are asked for. */
struct waiter {
	uint32_t task;
	uint64_t nr, sum_ns;
};

struct compound {
	struct scope sc;
	uint32_t *last;      /* by task: its last wait; NO_WAIT = none */
	struct noted *noted; /* by task: of its waker, when it was woken */
	uint64_t *seen;      /* by task: the number of the last walk that met it */
	uint64_t nr_walks;
	uint64_t first;       /* id of the first wait */
	struct delay *delays; /* by wait */
	uint32_t *number_of; /* by task: 1 + its number, in the order in which they waited; 0 = none yet */
	struct waiter *waiters; /* by number */
	uint32_t nr_waiters;
	struct grouped waits_ns; /* by number */
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
	free(x->number_of);
	free(x->waiters);
	grouped_done(&x->waits_ns);
	samples_done(&x->all);
	top_done(&x->chains);
}

static int allocate(struct compound *x)
{
	const struct timeline *t = x->sc.s->timeline;
	size_t nr_tasks = x->sc.nr_tasks ? x->sc.nr_tasks : 1, nr;

	x->first = timeline_first(t, TIMELINE_WAIT);
	nr = (size_t)(timeline_end(t, TIMELINE_WAIT) - x->first) + 1;
	if (nr >= NO_WAIT)
		return -ENOMEM;
	x->last = calloc(nr_tasks, sizeof(*x->last));
	x->noted = calloc(nr_tasks, sizeof(*x->noted));
	x->seen = calloc(nr_tasks, sizeof(*x->seen));
	x->delays = calloc(nr, sizeof(*x->delays));
	x->number_of = calloc(nr_tasks, sizeof(*x->number_of));
	x->waiters = calloc(nr_tasks, sizeof(*x->waiters));
	if (!x->last || !x->noted || !x->seen || !x->delays || !x->number_of || !x->waiters)
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
static uint64_t add_up(struct compound *x, uint32_t wait, uint32_t *nr_links)
{
	uint32_t at = wait;
	uint64_t ns = 0;

	*nr_links = 0;
	x->nr_walks++;
	for (uint32_t i = 0; i < MAX_TASKS && at != NO_WAIT; i++) {
		const struct delay *d = &x->delays[at];

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

static void count(struct compound *x, uint32_t task, uint64_t ns)
{
	struct waiter *w;

	if (!x->number_of[task]) {
		x->waiters[x->nr_waiters].task = task;
		x->number_of[task] = ++x->nr_waiters;
	}
	w = &x->waiters[x->number_of[task] - 1];
	w->nr++;
	w->sum_ns += ns;
	grouped_add(&x->waits_ns, x->number_of[task] - 1, ns);
}

static void end_wait(struct compound *x, const struct pair_wait *w, uint32_t number)
{
	struct delay *d = &x->delays[number];
	uint32_t nr_links;
	uint64_t ns;

	if (w->task >= x->sc.nr_tasks)
		return;
	*d = (struct delay){ latency_ns(w), NO_WAIT, NO_WAIT, 1, w->task };
	if (w->cause == PAIR_PREEMPTED && x->last[w->task] != NO_WAIT) {
		const struct delay *own = &x->delays[x->last[w->task]];

		d->ns += own->ns;
		d->nr_links += own->nr_links;
		d->before = own->before;
		d->previous = x->last[w->task];
	} else if (w->cause != PAIR_PREEMPTED && x->noted[w->task].is_noted &&
	           w->waker != TASKS_NONE) {
		d->before = x->noted[w->task].wait;
	}
	x->last[w->task] = number;
	x->noted[w->task] = (struct noted){ 0 };
	if (!is_wanted(x, w))
		return;
	ns = add_up(x, number, &nr_links);
	count(x, w->task, ns);
	top_add(&x->chains, ns, number);
	if (nr_links > x->longest)
		x->longest = nr_links;
}

/* All together, and by task. */
static int order(struct compound *x)
{
	size_t nr = x->waits_ns.nr;

	x->all.values = reallocarray(NULL, nr + 1, sizeof(*x->all.values));
	if (!x->all.values)
		return -ENOMEM;
	if (nr)
		memcpy(x->all.values, x->waits_ns.values, nr * sizeof(*x->all.values));
	x->all.nr = x->all.capacity = nr;
	return grouped_order(&x->waits_ns, x->nr_waiters);
}

static int collect(void *work)
{
	struct compound *x = work;
	struct pass_args all;
	struct scope whole = scope_whole(&x->sc, &all);
	struct rows wakeups = { .sc = &whole }, waits = { .sc = &whole };
	struct pair_wakeup wakeup;
	struct pair_wait wait;
	bool has_wakeup = rows_wakeup(&wakeups, &wakeup), has_wait = rows_wait(&waits, &wait);

	x->chains.limit = pass_limit(&pass_compound_delay, x->sc.args);
	if (allocate(x))
		return -ENOMEM;
	while (has_wait) {
		/*
		 * At the same moment a task is switched in before it wakes others, unless it is
		 * itself the wakee.
		 */
		bool is_wait_first = !has_wakeup || wait.end_ns < wakeup.ts_ns ||
		                     (wait.end_ns == wakeup.ts_ns &&
		                      pair_wait_woken_ns(&wait) != wakeup.ts_ns);

		if (is_wait_first) {
			end_wait(x, &wait, (uint32_t)(rows_id(&waits) - x->first));
			has_wait = rows_wait(&waits, &wait);
		} else {
			note_wakeup(x, &wakeup);
			has_wakeup = rows_wakeup(&wakeups, &wakeup);
		}
	}
	if (x->chains.has_failed || x->waits_ns.has_failed)
		return -ENOMEM;
	return order(x);
}

static void show_links(struct compound *x, uint32_t wait, struct report *r)
{
	uint32_t nr_links, shown = 0;
	uint64_t left_ns = add_up(x, wait, &nr_links);

	report_begin_array(r, "chain");
	for (; shown < nr_links && shown < SHOWN_LINKS; shown++) {
		const struct delay *d = &x->delays[wait];
		union timeline_row row;

		if (!timeline_row(x->sc.s->timeline, TIMELINE_WAIT, x->first + wait, &row))
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
		wait = d->previous != NO_WAIT ? d->previous : d->before;
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
		show_links(x, (uint32_t)x->chains.entries[i].id, r);
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
	for (uint32_t i = 0; i < x->nr_waiters; i++)
		top_add(&top, x->waiters[i].sum_ns, i);
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, "top_tasks"); i++) {
		const struct waiter *w = &x->waiters[top.entries[i].id];
		struct samples ns = grouped_at(&x->waits_ns, (uint32_t)top.entries[i].id);

		task_report(x->sc.s, r, w->task);
		report_u64(r, "waits", w->nr);
		report_u64(r, "total_compound_delay_ns", w->sum_ns);
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
