#include "session/replay_zoom.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/buckets.h"
#include "analyze/latency.h"
#include "base/cleanup.h"
#include "session/replay_sums.h"

#define MAX_WAKERS 64U
#define MAX_RIVALS 256U
#define MAX_LAST   32U
#define IDLE       ((uint64_t)UINT32_MAX)     /* of rivals, which else are tasks */
#define INTERRUPT  ((uint64_t)UINT32_MAX + 1) /* of wakers: and which kind */

struct replay_zoom {
	const struct source *s;
	bool is_ours; /* who wakes from an interrupt says so */
	struct machine_zoom zoom;
	struct machine_waker wakers[MAX_WAKERS];
	struct machine_rival rivals[MAX_RIVALS];
	struct machine_zoom_wait last[MAX_LAST];
};

/* Of one cell. */
struct look {
	struct replay_zoom *z;
	const struct replay_cell *c;
	uint32_t task;
	struct samples waits[3]; /* by cause */
	struct buckets wakers, rivals, takers;
	uint64_t nr_waits;
};

static void done(struct look *l)
{
	for (int i = 0; i < 3; i++)
		samples_done(&l->waits[i]);
	buckets_done(&l->wakers);
	buckets_done(&l->rivals);
	buckets_done(&l->takers);
}

int replay_zoom_new(const struct source *s, struct replay_zoom **out)
{
	struct replay_zoom *z = calloc(1, sizeof(*z));

	if (!z)
		return -ENOMEM;
	z->s = s;
	z->is_ours = s->facts->producer && strcmp(s->facts->producer, "schedscope") == 0;
	*out = z;
	return 0;
}

void replay_zoom_free(struct replay_zoom *z)
{
	free(z);
}

static const char *comm_of(const struct look *l, uint32_t task)
{
	const struct tasks *tasks = l->z->s->tasks;
	const char *comm = tasks_string(tasks,
	                                tasks_comm_at(tasks, task, replay_cell_moment(l->c)));

	return comm && *comm ? comm : "?";
}

static enum machine_from from_of(const struct pair_wait *w)
{
	if (w->flags & EV_FLAG_HARDIRQ)
		return MACHINE_FROM_HARDIRQ;
	return w->flags & EV_FLAG_SOFTIRQ ? MACHINE_FROM_SOFTIRQ : MACHINE_FROM_THREAD;
}

/* Who has a CPU from a moment on, and until when; false = nobody knows. */
static bool holder_at(const struct look *l, uint32_t cpu, uint64_t ts_ns, uint64_t *key,
                      uint64_t *until_ns)
{
	const struct timeline_whose slices = { TIMELINE_SLICE, TASKS_NONE, cpu },
				    idles = { TIMELINE_IDLE, TASKS_NONE, cpu };
	union timeline_row slice, idle;
	bool has_slice = timeline_after(l->z->s->timeline, &slices, ts_ns, &slice);
	bool has_idle;

	if (has_slice && slice.slice.start_ns <= ts_ns) {
		*key = slice.slice.task == TASKS_NONE ? IDLE : slice.slice.task;
		*until_ns = slice.slice.end_ns;
		return slice.slice.task != TASKS_NONE;
	}
	has_idle = timeline_after(l->z->s->timeline, &idles, ts_ns, &idle);
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

static void add_holder(const struct look *l, struct machine_zoom_wait *to, uint64_t key,
                       uint64_t ns)
{
	if (to->nr_holders == MACHINE_ZOOM_HOLDERS) {
		to->others_ns += ns;
		return;
	}
	to->holders[to->nr_holders++] = (struct machine_holder){
		.tid = key == IDLE ? 0 : source_tid(l->z->s, (uint32_t)key),
		.comm = key == IDLE ? NULL : comm_of(l, (uint32_t)key),
		.ns = ns,
		.times = 1,
	};
}

static void add_rivals(struct look *l, const struct pair_wait *w, struct machine_zoom_wait *to)
{
	uint64_t at = latency_start_ns(w), key, until;

	while (at < w->end_ns) {
		bool is_known = holder_at(l, w->cpu, at, &key, &until);

		if (until > w->end_ns)
			until = w->end_ns;
		if (is_known) {
			(void)buckets_sum(&l->rivals, key, until - at);
			add_holder(l, to, key, until - at);
		} else {
			l->z->zoom.other_rivals_ns += until - at;
			to->others_ns += until - at;
		}
		at = until;
	}
}

/* What it did before: ran, and slept then. */
static void add_before(const struct look *l, const struct pair_wait *w,
                       struct machine_zoom_wait *to)
{
	const struct timeline_whose slices = { TIMELINE_SLICE, l->task, TIMELINE_ANY_CPU },
				    sleeps = { TIMELINE_SLEEP, l->task, TIMELINE_ANY_CPU };
	uint64_t start_ns = pair_wait_start_ns(w);
	union timeline_row row;

	if (timeline_before(l->z->s->timeline, &slices, start_ns, &row))
		to->run_ns = row.slice.end_ns - row.slice.start_ns;
	if (w->cause != PAIR_WOKEN ||
	    !timeline_before(l->z->s->timeline, &sleeps, start_ns, &row) ||
	    row.sleep.end_ns != start_ns)
		return;
	to->sleep_ns = row.sleep.end_ns - row.sleep.start_ns;
	to->sleep = (enum machine_sleep)row.sleep.state;
}

static void add_waker(struct look *l, const struct pair_wait *w, struct machine_zoom_wait *to)
{
	enum machine_from from = from_of(w);
	bool is_thread = from == MACHINE_FROM_THREAD && w->waker != TASKS_NONE;

	to->from = from;
	to->waker_tid = is_thread ? source_tid(l->z->s, w->waker) : 0;
	to->waker_comm = is_thread ? comm_of(l, w->waker) : NULL;
	if (w->cause == PAIR_PREEMPTED) {
		if (w->waker != TASKS_NONE)
			(void)buckets_count(&l->takers, w->waker);
	} else {
		(void)buckets_add(&l->wakers, is_thread ? w->waker : INTERRUPT + from,
		                  latency_ns(w));
	}
}

static void add_wait(struct look *l, const struct pair_wait *w)
{
	struct machine_zoom_wait *to = &l->z->last[l->nr_waits++ % MAX_LAST];

	*to = (struct machine_zoom_wait){
		.start_ns = latency_start_ns(w),
		.wait_ns = latency_ns(w),
		.cause = (enum machine_cause)w->cause,
		.from_cpu = w->from_cpu == PAIR_NO_CPU ? -1 : w->from_cpu,
		.queue_cpu = w->cpu,
		.cpu = w->cpu,
	};
	samples_add(&l->waits[w->cause], latency_ns(w));
	add_waker(l, w, to);
	add_rivals(l, w, to);
	add_before(l, w, to);
}

static int collect(struct look *l, enum timeline_table table)
{
	const struct timeline_query q = replay_cell_query(l->c, table, l->task);
	struct timeline_iter it;
	union timeline_row row;
	int err = timeline_find(l->z->s->timeline, &q, &it);

	while (!err && timeline_next(&it, NULL, &row)) {
		if (table == TIMELINE_WAIT && !row.wait.is_open &&
		    replay_cell_has(l->c, row.wait.end_ns))
			add_wait(l, &row.wait);
		if (table == TIMELINE_SLEEP && !row.sleep.is_open &&
		    replay_cell_has(l->c, row.sleep.end_ns)) {
			struct machine_zoom_sleep *to = &l->z->zoom.sleeps[row.sleep.state];
			uint64_t ns = row.sleep.end_ns - row.sleep.start_ns;

			to->count++;
			to->ns += ns;
			to->max_ns = ns > to->max_ns ? ns : to->max_ns;
		}
	}
	return err;
}

static void show_waker(const struct look *l, uint32_t i, struct machine_waker *to)
{
	uint64_t key = l->wakers.at[i].key;
	struct samples waits = buckets_at(&l->wakers, i);
	bool is_thread = key < IDLE;

	*to = (struct machine_waker){
		.tid = is_thread ? source_tid(l->z->s, (uint32_t)key) : 0,
		.comm = is_thread ? comm_of(l, (uint32_t)key) : NULL,
		.from = is_thread ? MACHINE_FROM_THREAD : (enum machine_from)(key - INTERRUPT),
		.wait = replay_sums_dist(&waits),
	};
	to->is_from_known = l->z->is_ours || to->from != MACHINE_FROM_THREAD;
}

static int show_wakers(struct look *l)
{
	SCOPED(scoped_top) struct top top = { .limit = MAX_WAKERS };

	buckets_top(&l->wakers, true, &top);
	for (uint32_t i = 0; i < top.nr; i++)
		show_waker(l, (uint32_t)top.entries[i].id, &l->z->wakers[i]);
	l->z->zoom.wakers = l->z->wakers;
	l->z->zoom.nr_wakers = top.nr;
	return top.has_failed ? -ENOMEM : 0;
}

static uint64_t taken_by(const struct look *l, uint64_t key)
{
	for (uint32_t i = 0; i < l->takers.nr; i++)
		if (l->takers.at[i].key == key)
			return l->takers.at[i].count;
	return 0;
}

static int show_rivals(struct look *l, uint64_t waited_ns)
{
	SCOPED(scoped_top) struct top top = { .limit = MAX_RIVALS };
	struct machine_zoom *zoom = &l->z->zoom;
	uint64_t shown_ns = zoom->other_rivals_ns;

	buckets_top(&l->rivals, false, &top);
	for (uint32_t i = 0; i < top.nr; i++) {
		const struct bucket *b = &l->rivals.at[top.entries[i].id];

		l->z->rivals[i] = (struct machine_rival){
			.tid = b->key == IDLE ? 0 : source_tid(l->z->s, (uint32_t)b->key),
			.comm = b->key == IDLE ? NULL : comm_of(l, (uint32_t)b->key),
			.ns = b->sum_ns,
			.max_ns = b->max_ns,
			.share = waited_ns ? (double)b->sum_ns / (double)waited_ns : 0,
			.times = b->count,
			.taken = taken_by(l, b->key),
		};
		shown_ns += b->sum_ns;
	}
	zoom->other_rivals_ns += waited_ns > shown_ns ? waited_ns - shown_ns : 0;
	zoom->rivals = l->z->rivals;
	zoom->nr_rivals = top.nr;
	return top.has_failed ? -ENOMEM : 0;
}

static int by_newest(const void *a, const void *b)
{
	const struct machine_zoom_wait *left = a, *right = b;

	return (left->start_ns < right->start_ns) - (left->start_ns > right->start_ns);
}

static int show(struct look *l)
{
	struct machine_zoom *zoom = &l->z->zoom;
	uint64_t waited_ns = 0;
	int err = buckets_order(&l->wakers);

	for (int i = 0; i < 3; i++) {
		waited_ns += samples_sum(&l->waits[i]);
		zoom->waits[i] = replay_sums_dist(&l->waits[i]);
		if (l->waits[i].has_failed)
			err = -ENOMEM;
	}
	if (l->rivals.has_failed || l->takers.has_failed)
		err = -ENOMEM;
	zoom->nr_last = l->nr_waits < MAX_LAST ? l->nr_waits : MAX_LAST;
	qsort(l->z->last, zoom->nr_last, sizeof(*l->z->last), by_newest);
	zoom->last = l->z->last;
	if (!err)
		err = show_wakers(l);
	return err ? err : show_rivals(l, waited_ns);
}

int replay_zoom_look(struct replay_zoom *z, const struct replay_cell *c, uint32_t task,
                     const struct machine_task *row, const struct machine_zoom **out)
{
	SCOPED(done) struct look l = { .z = z, .c = c, .task = task };
	int err;

	z->zoom = (struct machine_zoom){ .tid = row->tid,
		                         .row = row,
		                         .is_ended = row->state == 'X',
		                         .seconds = replay_cell_seconds(c),
		                         .now_ns = c->to_ns };
	z->zoom.migrations = (uint64_t)(row->migrations_per_s * z->zoom.seconds + 0.5);
	err = collect(&l, TIMELINE_WAIT);
	if (!err)
		err = collect(&l, TIMELINE_SLEEP);
	if (!err)
		err = show(&l);
	if (err)
		return err;
	*out = &z->zoom;
	return 0;
}
