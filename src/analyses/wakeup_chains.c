/*
 * Chains of wakeups: a task had to wait before it could wake the next one, which had to wait as well. The link before
 * a wakeup is the last wait of its waker, if the waker has not slept since. Each link is over before the next begins,
 * so the latencies of a chain never overlap, and a chain ends where a task would come twice. A wait that has not ended is the last
 * link of its chain. All tables are walked once, in the order of time, keeping the last wait of each task.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/figures.h"
#include "analyze/latency.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "model/interrupt.h"

#define DEFAULT_LIMIT 10
#define MAX_LINKS     16
#define SHOWN_LINKS   10
#define NS_PER_MS     1e6

/* A wait of a task that was woken, or is new. Numbers of links are those plus 1, 0 is none. */
struct chain_link {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t total_ns; /* of the chain that ends here */
	uint32_t task;
	uint32_t waker;
	uint32_t before;
	uint8_t len; /* of that chain */
	bool is_from_waking;
	bool is_wanted;
	bool is_part; /* of a longer chain */
	bool is_open; /* it still waits at the end: its latency is its age */
};

struct task_at {
	uint32_t last;   /* link; 0 = slept since */
	uint32_t waker;  /* of the wakeup that is under way */
	uint32_t before; /* last link of that waker then */
	uint32_t seen;   /* in the chain of this link */
};

struct chains {
	struct scope sc;
	struct scope all; /* a chain may come from anywhere */
	struct pass_args all_args;
	struct chain_link *links;
	uint32_t nr;
	uint32_t nr_open;
	uint32_t capacity;
	bool has_open; /* those that still wait count, too */
	struct task_at *tasks;
	struct rows waits, slices, wakeups;
	struct pair_wait wait;
	struct pair_slice slice;
	struct pair_wakeup wakeup;
	bool has_wait, has_slice, has_wakeup;
};

static void done(struct chains *x)
{
	free(x->links);
	free(x->tasks);
	scope_done(&x->sc);
}

static void measure(struct chains *x, uint32_t number)
{
	struct chain_link *end = &x->links[number - 1];

	for (uint32_t i = number; i && end->len < MAX_LINKS; i = x->links[i - 1].before) {
		struct task_at *at = &x->tasks[x->links[i - 1].task];

		if (at->seen == number)
			break;
		at->seen = number;
		end->len++;
		end->total_ns += x->links[i - 1].end_ns - x->links[i - 1].start_ns;
	}
	if (end->before && end->is_wanted && end->len == x->links[end->before - 1].len + 1)
		x->links[end->before - 1].is_part = true;
}

static int add_link(struct chains *x, const struct pair_wait *w)
{
	struct task_at *at = &x->tasks[w->task];
	uint32_t waker = latency_waker(w);

	if (GROW(x->links, x->capacity, x->nr))
		return -ENOMEM;
	x->links[x->nr++] = (struct chain_link){
		.start_ns = pair_wait_woken_ns(w),
		.end_ns = w->end_ns,
		.task = w->task,
		.waker = waker,
		.before = at->waker == w->waker ? at->before : 0,
		.is_from_waking = w->waking_ns != 0,
		.is_open = w->is_open,
		.is_wanted = scope_takes(&x->sc, w->task, pair_wait_woken_ns(w)) &&
		             pass_takes_cpu(x->sc.args, w->cpu) &&
		             scope_overlaps(&x->sc, pair_wait_woken_ns(w), w->end_ns),
	};
	x->nr_open += w->is_open;
	measure(x, x->nr);
	at->last = x->nr;
	at->waker = TASKS_NONE;
	at->before = 0;
	return 0;
}

static void take_wakeup(struct chains *x)
{
	const struct pair_wakeup *w = &x->wakeup;
	struct task_at *at = &x->tasks[w->task];

	at->waker = w->waker;
	at->before = at->waker == TASKS_NONE ? 0 : x->tasks[at->waker].last;
	x->has_wakeup = rows_wakeup(&x->wakeups, &x->wakeup);
}

static int take_wait(struct chains *x)
{
	bool is_taken = latency_counts(&x->wait) ||
	                (x->has_open && x->wait.is_open && x->wait.cause != PAIR_PREEMPTED);
	int err = is_taken ? add_link(x, &x->wait) : 0;

	x->has_wait = rows_wait(&x->waits, &x->wait);
	return err;
}

static void take_slice(struct chains *x)
{
	const struct pair_slice *s = &x->slice;
	struct task_at *at = s->task == TASKS_NONE ? NULL : &x->tasks[s->task];

	if (at && at->last && s->end != PAIR_END_RUNNABLE &&
	    x->links[at->last - 1].end_ns <= s->start_ns)
		at->last = 0;
	x->has_slice = rows_slice(&x->slices, &x->slice);
}

/* At the same moment a waker is switched in before it wakes, and a wakeup precedes the wait that it begins. */
static bool is_wakeup_next(const struct chains *x)
{
	if (!x->has_wakeup || !x->has_wait)
		return x->has_wakeup;
	if (x->wakeup.ts_ns != x->wait.end_ns)
		return x->wakeup.ts_ns < x->wait.end_ns;
	return x->wait.task == x->wakeup.task && pair_wait_woken_ns(&x->wait) == x->wakeup.ts_ns;
}

static int collect(struct chains *x)
{
	bool is_wakeup;
	int err = 0;

	x->tasks = calloc(x->sc.nr_tasks ? x->sc.nr_tasks : 1, sizeof(*x->tasks));
	if (!x->tasks)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->sc.nr_tasks; i++)
		x->tasks[i].waker = TASKS_NONE;
	x->waits.sc = x->slices.sc = x->wakeups.sc = &x->all;
	x->has_wait = rows_wait(&x->waits, &x->wait);
	x->has_slice = rows_slice(&x->slices, &x->slice);
	x->has_wakeup = rows_wakeup(&x->wakeups, &x->wakeup);
	while (!err && (x->has_wait || x->has_wakeup)) {
		is_wakeup = is_wakeup_next(x);
		if (x->has_slice &&
		    x->slice.end_ns < (is_wakeup ? x->wakeup.ts_ns : x->wait.end_ns))
			take_slice(x);
		else if (is_wakeup)
			take_wakeup(x);
		else
			err = take_wait(x);
	}
	return err;
}

static void show_link(const struct chains *x, const struct chain_link *l, struct report *r)
{
	const struct source *s = x->sc.s;

	report_begin_object(r, NULL);
	report_u64(r, "wakee_pid", source_tid(s, l->task));
	report_string(r, "wakee_comm", source_comm(s, l->task));
	waker_report(s, r, l->waker, UNITS_LAST_NAME);
	report_u64(r, "wakeup_ts", l->start_ns);
	report_u64_if(r, "schedule_ts", !l->is_open, l->end_ns);
	report_u64(r, "latency_ns", l->end_ns - l->start_ns);
	report_bool(r, "is_open", l->is_open);
	report_string(r, "from", l->is_from_waking ? "waking" : "wakeup");
	report_end_object(r);
}

static void show_chain(const struct chains *x, uint32_t number, struct report *r)
{
	const struct chain_link *end = &x->links[number - 1];
	const struct chain_link *path[MAX_LINKS] = { end }; /* the last one first */
	const struct chain_link *first = end;
	uint32_t nr = 0, shown = end->len < SHOWN_LINKS ? end->len : SHOWN_LINKS;

	for (uint32_t i = number; nr < end->len; i = x->links[i - 1].before)
		path[nr++] = first = &x->links[i - 1];
	report_u64(r, "total_latency_ns", end->total_ns);
	report_u64(r, "elapsed_ns", end->end_ns - first->start_ns);
	report_u64(r, "chain_length", shown);
	report_u64(r, "full_chain_length", end->len);
	report_double(r, "criticality_score", end->len * ((double)end->total_ns / NS_PER_MS), 6);
	report_begin_array(r, "chain");
	for (uint32_t i = shown; i-- > 0;)
		show_link(x, path[i], r);
	report_end_array(r);
}

static int show(const struct chains *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_wakeup_chains, x->sc.args) };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->nr; i++) {
		const struct chain_link *l = &x->links[i];

		if (!l->is_wanted || l->is_part || l->len < 2)
			continue;
		nr++;
		top_add(&top, l->len * l->total_ns, i + 1);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "total_chains_found", nr);
	report_u64(r, "chains_shown", top.nr);
	report_u64(r, "wakeups", x->nr);
	report_u64(r, "still_waiting", x->nr_open);
	for (uint32_t i = 0; top_row(&top, i, r, "chains"); i++)
		show_chain(x, (uint32_t)top.entries[i].id, r);
	report_string(
		r, "note",
		"each waker had itself waited before it woke the next; criticality is the "
		"length times the latency in ms; the latency of a wait that is open is its age");
	return 0;
}

/* What the first link of a chain has before it. */
static const char *begins_with(const struct chains *x, const struct chain_link *end,
                               const struct chain_link *first)
{
	struct interrupt by;

	if (interrupt_of_key(first->waker, &by))
		return "interrupt";
	if (first->before)
		return end->len == MAX_LINKS ? "cut" : "cycle";
	return first->waker < x->sc.nr_tasks ? "task" : "unknown";
}

/* The same chain with the keys of scxtop's wakeup_tracker. */
static void show_tracked(const struct chains *x, uint32_t number, struct report *r)
{
	const struct source *s = x->sc.s;
	const struct chain_link *end = &x->links[number - 1], *first = end, *path[MAX_LINKS];
	uint32_t nr = 0;

	for (uint32_t i = number; nr < end->len; i = x->links[i - 1].before)
		path[nr++] = first = &x->links[i - 1];
	if (first->waker < x->sc.nr_tasks)
		report_u64(r, "root_pid", source_tid(s, first->waker));
	else
		report_null(r, "root_pid");
	report_string(r, "root_comm", tasks_comm(s->tasks, first->waker));
	report_begin_array(r, "chain");
	while (nr-- > 0) {
		const struct chain_link *l = path[nr];

		report_begin_object(r, NULL);
		if (l->waker < x->sc.nr_tasks)
			report_u64(r, "pid", source_tid(s, l->waker));
		else
			report_null(r, "pid");
		report_string(r, "comm", tasks_comm(s->tasks, l->waker));
		report_u64(r, "wakes", source_tid(s, l->task));
		report_string(r, "wakes_comm", tasks_comm(s->tasks, l->task));
		figure_us(r, "latency_us", (double)(l->end_ns - l->start_ns));
		report_u64(r, "timestamp_ns", l->start_ns);
		report_end_object(r);
	}
	report_end_array(r);
	figure_us(r, "total_latency_us", (double)end->total_ns);
	report_u64(r, "chain_length", end->len);
	report_string(r, "begins_with", begins_with(x, end, first));
}

/* The longest first, then those that took longest. */
static int show_tracker(const struct chains *x, struct report *r)
{
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_wakeup_tracker, x->sc.args) };

	for (uint32_t i = 0; i < x->nr; i++) {
		const struct chain_link *l = &x->links[i];

		if (l->is_wanted && !l->is_part)
			top_add(&top, (uint64_t)l->len << 56 | (l->total_ns & UINT64_MAX >> 8),
			        i + 1);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "total_wakeups", x->nr);
	for (uint32_t i = 0; top_row(&top, i, r, "chains"); i++)
		show_tracked(x, (uint32_t)top.entries[i].id, r);
	return 0;
}

static int run_with(const struct source *s, const struct pass_args *args, struct report *r,
                    struct diag *d, int (*present)(const struct chains *x, struct report *r))
{
	SCOPED(done) struct chains x = { .has_open = present == show };
	int err = scope_init(&x.sc, s, args, d);

	if (err)
		return err;
	x.all = scope_whole(&x.sc, &x.all_args);
	err = collect(&x);
	if (!err)
		err = present(&x, r);
	return err ? diag_set(d, err, NULL, "out of memory") : 0;
}

static int run(const struct source *s, const struct pass_args *args, struct report *r,
               struct diag *d)
{
	return run_with(s, args, r, d, show);
}

static int run_tracker(const struct source *s, const struct pass_args *args, struct report *r,
                       struct diag *d)
{
	return run_with(s, args, r, d, show_tracker);
}

const struct pass pass_wakeup_chains = {
	.id = "wakeup_chains",
	.name = "Wakeup Chain Detection",
	.category = "extended",
	.what = "which delays add up because the wakers had themselves waited",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 5,
	.default_limit = DEFAULT_LIMIT,
	.run = run,
};

const struct pass pass_wakeup_tracker = {
	.id = "wakeup_tracker",
	.name = "Wakeup Tracker",
	.category = "scxtop",
	.what = "chains of wakeups, as scxtop's live analyzer shows them",
	.needs = EV_BIT(EV_SWITCH),
	.needs_any = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP) | EV_BIT(EV_WAKEUP_NEW),
	.cost = 5,
	.run = run_tracker,
};
