#include "replay/replay_zoom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/buckets.h"
#include "analyze/latency.h"
#include "base/cleanup.h"
#include "model/interrupt.h"
#include "replay/replay_sums.h"

#define MAX_WAKERS      64U
#define MAX_RIVALS      256U
#define MAX_LAST        32U
#define IDLE            ((uint64_t)UINT32_MAX) /* of rivals, which else are tasks */
#define CONTEXT_UNKNOWN (1ULL << 32)           /* of wakers: the task, or an interrupt during it */

struct replay_zoom {
	const struct source *s;
	struct machine_zoom zoom;
	struct machine_waker wakers[MAX_WAKERS];
	struct machine_rival rivals[MAX_RIVALS];
	struct machine_zoom_wait last[MAX_LAST];
};

/* Of one cell. */
struct zoom_build {
	struct replay_zoom *z;
	const struct replay_cell *c;
	uint32_t task;
	struct samples waits[3]; /* by cause */
	struct buckets wakers, rivals, takers;
	uint64_t nr_waits;
};

static void done(struct zoom_build *x)
{
	for (int i = 0; i < 3; i++)
		samples_done(&x->waits[i]);
	buckets_done(&x->wakers);
	buckets_done(&x->rivals);
	buckets_done(&x->takers);
}

int replay_zoom_new(const struct source *s, struct replay_zoom **out)
{
	struct replay_zoom *z = calloc(1, sizeof(*z));

	if (!z)
		return -ENOMEM;
	z->s = s;
	*out = z;
	return 0;
}

void replay_zoom_free(struct replay_zoom *z)
{
	free(z);
}

static const char *comm_of(const struct zoom_build *x, uint32_t task)
{
	const struct tasks *tasks = x->z->s->tasks;
	const char *comm = tasks_string(tasks,
	                                tasks_comm_at(tasks, task, replay_cell_moment(x->c)));

	return comm && *comm ? comm : "?";
}

static enum machine_from from_of(enum abi_context in)
{
	if (in == ABI_IN_HARDIRQ)
		return MACHINE_FROM_HARDIRQ;
	if (in == ABI_IN_NMI)
		return MACHINE_FROM_NMI;
	return in == ABI_IN_SOFTIRQ ? MACHINE_FROM_SOFTIRQ : MACHINE_FROM_THREAD;
}

static void name_interrupt(const struct zoom_build *x, struct interrupt *i,
                           char to[MACHINE_INTERRUPT])
{
	char text[INTERRUPT_TEXT];

	source_name_device(x->z->s, i);
	(void)snprintf(to, MACHINE_INTERRUPT, "%s", interrupt_title(i, text));
}

/* The task on a CPU from a moment on, and until when; false = unknown. */
static bool holder_at(const struct zoom_build *x, uint32_t cpu, uint64_t ts_ns, uint64_t *key,
                      uint64_t *until_ns)
{
	const struct timeline_whose slices = { TIMELINE_SLICE, TASKS_NONE, cpu },
				    idles = { TIMELINE_IDLE, TASKS_NONE, cpu };
	union timeline_row slice, idle;
	bool has_slice = timeline_after(x->z->s->timeline, &slices, ts_ns, &slice);
	bool has_idle;

	if (has_slice && slice.slice.start_ns <= ts_ns) {
		*key = slice.slice.task == TASKS_NONE ? IDLE : slice.slice.task;
		*until_ns = slice.slice.end_ns;
		return slice.slice.task != TASKS_NONE;
	}
	has_idle = timeline_after(x->z->s->timeline, &idles, ts_ns, &idle);
	*key = IDLE;
	if (has_idle && idle.idle.start_ns <= ts_ns) {
		*until_ns = idle.idle.end_ns;
		return true;
	}
	*until_ns = has_slice ? slice.slice.start_ns : UINT64_MAX;
	if (has_idle && idle.idle.start_ns < *until_ns)
		*until_ns = idle.idle.start_ns;
	return false;
}

static void add_holder(const struct zoom_build *x, struct machine_zoom_wait *to, uint64_t key,
                       uint64_t ns)
{
	if (to->nr_holders == MACHINE_ZOOM_HOLDERS) {
		to->others_ns += ns;
		return;
	}
	to->holders[to->nr_holders++] = (struct machine_holder){
		.tid = key == IDLE ? 0 : source_tid(x->z->s, (uint32_t)key),
		.comm = key == IDLE ? NULL : comm_of(x, (uint32_t)key),
		.ns = ns,
		.times = 1,
	};
}

static void add_rivals(struct zoom_build *x, const struct pair_wait *w,
                       struct machine_zoom_wait *to)
{
	uint64_t at = pair_wait_woken_ns(w), key, until;

	while (at < w->end_ns) {
		bool is_known = holder_at(x, w->cpu, at, &key, &until);

		if (until > w->end_ns)
			until = w->end_ns;
		if (is_known) {
			(void)buckets_sum(&x->rivals, key, until - at);
			add_holder(x, to, key, until - at);
		} else {
			x->z->zoom.other_rivals_ns += until - at;
			to->others_ns += until - at;
		}
		at = until;
	}
}

/* What it did before: ran, and slept then. */
static void add_before(const struct zoom_build *x, const struct pair_wait *w,
                       struct machine_zoom_wait *to)
{
	const struct timeline_whose slices = { TIMELINE_SLICE, x->task, TIMELINE_ANY_CPU },
				    sleeps = { TIMELINE_SLEEP, x->task, TIMELINE_ANY_CPU };
	uint64_t start_ns = pair_wait_start_ns(w);
	union timeline_row row;

	if (timeline_before(x->z->s->timeline, &slices, start_ns, &row))
		to->run_ns = row.slice.end_ns - row.slice.start_ns;
	if (w->cause != PAIR_WOKEN ||
	    !timeline_before(x->z->s->timeline, &sleeps, start_ns, &row) ||
	    row.sleep.end_ns != start_ns)
		return;
	to->sleep_ns = row.sleep.end_ns - row.sleep.start_ns;
	to->sleep = (enum machine_sleep)row.sleep.state;
}

static void add_waker(struct zoom_build *x, const struct pair_wait *w, struct machine_zoom_wait *to)
{
	enum abi_context in = interrupt_context(w->flags, w->by);
	struct interrupt i = { .in = in, .by = w->by };
	bool is_thread = w->waker != TASKS_NONE;
	uint32_t key = latency_waker(w);

	to->from = from_of(in);
	to->waker_tid = is_thread ? source_tid(x->z->s, w->waker) : 0;
	to->waker_comm = is_thread ? comm_of(x, w->waker) : NULL;
	if (interrupt_is(in))
		name_interrupt(x, &i, to->interrupt);
	if (w->cause == PAIR_PREEMPTED) {
		if (w->waker != TASKS_NONE)
			(void)buckets_count(&x->takers, w->waker);
	} else {
		(void)buckets_add(&x->wakers, in == ABI_IN_UNKNOWN ? CONTEXT_UNKNOWN | key : key,
		                  latency_ns(w));
	}
}

static void add_wait(struct zoom_build *x, const struct pair_wait *w)
{
	struct machine_zoom_wait *to = &x->z->last[x->nr_waits++ % MAX_LAST];

	*to = (struct machine_zoom_wait){
		.start_ns = pair_wait_woken_ns(w),
		.wait_ns = latency_ns(w),
		.cause = (enum machine_cause)w->cause,
		.from_cpu = w->from_cpu == PAIR_NO_CPU ? -1 : w->from_cpu,
		.queue_cpu = w->cpu,
		.cpu = w->cpu,
	};
	samples_add(&x->waits[w->cause], latency_ns(w));
	add_waker(x, w, to);
	add_rivals(x, w, to);
	add_before(x, w, to);
}

static int collect(struct zoom_build *x, enum timeline_table table)
{
	const struct timeline_query q = replay_cell_query(x->c, table, x->task);
	struct timeline_iter it;
	union timeline_row row;
	int err = timeline_find(x->z->s->timeline, &q, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		if (table == TIMELINE_WAIT && !row.wait.is_open &&
		    replay_cell_has(x->c, row.wait.end_ns))
			add_wait(x, &row.wait);
		if (table == TIMELINE_SLEEP && !row.sleep.is_open &&
		    replay_cell_has(x->c, row.sleep.end_ns)) {
			struct machine_zoom_sleep *to = &x->z->zoom.sleeps[row.sleep.state];
			uint64_t ns = row.sleep.end_ns - row.sleep.start_ns;

			to->count++;
			to->ns += ns;
			to->max_ns = ns > to->max_ns ? ns : to->max_ns;
		}
	}
	return err;
}

static void show_waker(const struct zoom_build *x, uint32_t i, struct machine_waker *to)
{
	uint32_t key = (uint32_t)x->wakers.at[i].key;
	struct samples waits = buckets_at(&x->wakers, i);
	struct interrupt by = { 0 };
	bool is_thread = !interrupt_of_key(key, &by) && key != TASKS_NONE;

	*to = (struct machine_waker){
		.tid = is_thread ? source_tid(x->z->s, key) : 0,
		.comm = is_thread ? comm_of(x, key) : NULL,
		.from = from_of(by.in),
		.is_from_known = !(x->wakers.at[i].key & CONTEXT_UNKNOWN) && key != TASKS_NONE,
		.wait = replay_sums_dist(&waits),
	};
	if (interrupt_is(by.in))
		name_interrupt(x, &by, to->interrupt);
}

static int show_wakers(struct zoom_build *x)
{
	SCOPED(top_done) struct top top = { .limit = MAX_WAKERS };

	buckets_top(&x->wakers, true, &top);
	for (uint32_t i = 0; i < top.nr; i++)
		show_waker(x, (uint32_t)top.entries[i].id, &x->z->wakers[i]);
	x->z->zoom.wakers = x->z->wakers;
	x->z->zoom.nr_wakers = top.nr;
	return top.has_failed ? -ENOMEM : 0;
}

static uint64_t taken_by(const struct zoom_build *x, uint64_t key)
{
	for (uint32_t i = 0; i < x->takers.nr; i++)
		if (x->takers.at[i].key == key)
			return x->takers.at[i].count;
	return 0;
}

static int show_rivals(struct zoom_build *x, uint64_t waited_ns)
{
	SCOPED(top_done) struct top top = { .limit = MAX_RIVALS };
	struct machine_zoom *zoom = &x->z->zoom;
	uint64_t shown_ns = zoom->other_rivals_ns;

	buckets_top(&x->rivals, false, &top);
	for (uint32_t i = 0; i < top.nr; i++) {
		const struct bucket *b = &x->rivals.at[top.entries[i].id];

		x->z->rivals[i] = (struct machine_rival){
			.tid = b->key == IDLE ? 0 : source_tid(x->z->s, (uint32_t)b->key),
			.comm = b->key == IDLE ? NULL : comm_of(x, (uint32_t)b->key),
			.ns = b->sum_ns,
			.max_ns = b->max_ns,
			.share = waited_ns ? (double)b->sum_ns / (double)waited_ns : 0,
			.times = b->count,
			.taken = taken_by(x, b->key),
		};
		shown_ns += b->sum_ns;
	}
	zoom->other_rivals_ns += waited_ns > shown_ns ? waited_ns - shown_ns : 0;
	zoom->rivals = x->z->rivals;
	zoom->nr_rivals = top.nr;
	return top.has_failed ? -ENOMEM : 0;
}

static int by_newest(const void *a, const void *b)
{
	const struct machine_zoom_wait *left = a, *right = b;

	return (left->start_ns < right->start_ns) - (left->start_ns > right->start_ns);
}

static int show(struct zoom_build *x)
{
	struct machine_zoom *zoom = &x->z->zoom;
	uint64_t waited_ns = 0;
	int err = buckets_order(&x->wakers);

	for (int i = 0; i < 3; i++) {
		waited_ns += samples_sum(&x->waits[i]);
		zoom->waits[i] = replay_sums_dist(&x->waits[i]);
		if (x->waits[i].has_failed)
			err = -ENOMEM;
	}
	if (x->rivals.has_failed || x->takers.has_failed)
		err = -ENOMEM;
	zoom->nr_last = x->nr_waits < MAX_LAST ? x->nr_waits : MAX_LAST;
	qsort(x->z->last, zoom->nr_last, sizeof(*x->z->last), by_newest);
	zoom->last = x->z->last;
	if (!err)
		err = show_wakers(x);
	return err ? err : show_rivals(x, waited_ns);
}

int replay_zoom_refresh(struct replay_zoom *z, const struct replay_cell *c, uint32_t task,
                        const struct machine_task *row, const struct machine_zoom **out)
{
	SCOPED(done) struct zoom_build x = { .z = z, .c = c, .task = task };
	int err;

	z->zoom = (struct machine_zoom){ .tid = row->tid,
		                         .row = row,
		                         .is_ended = row->state == 'X',
		                         .seconds = replay_cell_seconds(c),
		                         .now_ns = c->to_ns };
	z->zoom.migrations = (uint64_t)(row->migrations_per_s * z->zoom.seconds + 0.5);
	err = collect(&x, TIMELINE_WAIT);
	if (!err)
		err = collect(&x, TIMELINE_SLEEP);
	if (!err)
		err = show(&x);
	if (err)
		return err;
	*out = &z->zoom;
	return 0;
}
