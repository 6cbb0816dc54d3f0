#include "tui/task_pick.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tui/task_sort.h"

/* The last in order of those kept is at the top. */
static void sift_down(struct task_entry *heap, size_t nr, const struct screen *s)
{
	for (size_t at = 0;;) {
		size_t child = 2 * at + 1;
		struct task_entry swap;

		if (child >= nr)
			return;
		if (child + 1 < nr && task_sort_order(&heap[child + 1], &heap[child], s) > 0)
			child++;
		if (task_sort_order(&heap[child], &heap[at], s) <= 0)
			return;
		swap = heap[at];
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
}

static void sift_up(struct task_entry *heap, size_t at, const struct screen *s)
{
	while (at) {
		size_t parent = (at - 1) / 2;
		struct task_entry swap = heap[at];

		if (task_sort_order(&heap[at], &heap[parent], s) <= 0)
			return;
		heap[at] = heap[parent];
		heap[parent] = swap;
		at = parent;
	}
}

/* Keeps the first cap of them in order. */
struct keeper {
	struct task_entry *heap;
	size_t nr, cap;
	const struct screen *s;
};

static void keep(struct keeper *k, struct task_entry e)
{
	if (k->nr < k->cap) {
		k->heap[k->nr] = e;
		sift_up(k->heap, k->nr++, k->s);
	} else if (k->cap && task_sort_order(&e, &k->heap[0], k->s) < 0) {
		k->heap[0] = e;
		sift_down(k->heap, k->cap, k->s);
	}
}

/* Writes the kept ones from `from` on; taken from the end, so that only those are put into order. */
static void report_kept(struct keeper *k, size_t from, const void **out)
{
	for (size_t left = k->nr; left > from; left--) {
		out[left - 1 - from] = k->heap[0].task;
		k->heap[0] = k->heap[left - 1];
		sift_down(k->heap, left - 1, k->s);
	}
}

static int keeper_init(struct keeper *k, size_t cap, const struct screen *s)
{
	*k = (struct keeper){ .heap = calloc(cap + 1, sizeof(*k->heap)), .cap = cap, .s = s };
	return k->heap ? 0 : -ENOMEM;
}

static long window_of_all(const struct task_pick *p, const struct screen *s, size_t from, size_t nr,
                          const void **out)
{
	const struct task_metric *by = task_metric_sorted(s);
	struct keeper k;

	if (keeper_init(&k, from + nr, s))
		return -ENOMEM;
	/* All of them: as they lie in memory, which is much faster. */
	for (size_t i = 0; i < p->nr; i++)
		keep(&k, task_sort_entry(p->m, &p->tasks[p->filter ? p->rows[i] : i], by));
	report_kept(&k, from, out);
	free(k.heap);
	return (long)nr;
}

/* Part [from, from + nr) of the order of entries. */
static int window_of(const struct task_entry *entries, size_t nr_entries, const struct screen *s,
                     size_t from, size_t nr, const void **out)
{
	struct keeper k;

	if (!nr)
		return 0;
	if (keeper_init(&k, from + nr, s))
		return -ENOMEM;
	for (size_t i = 0; i < nr_entries; i++)
		keep(&k, entries[i]);
	report_kept(&k, from, out);
	free(k.heap);
	return 0;
}

bool task_pick_find(const struct task_pick *p, uint32_t tid, size_t *at)
{
	size_t low = 0, high = p->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->tasks[p->rows[middle]].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	return low < p->nr && p->tasks[p->rows[low]].tid == tid;
}

/* Three parts of the order: before the quiet ones, among them, behind them. */
struct order_parts {
	struct task_entry *before, *behind;
	size_t nr_before, nr_behind;
	size_t *out_of; /* places, by tid, of all that are not among the quiet ones; ascending */
	size_t nr_out;
};

static void scoped_parts(struct order_parts *a)
{
	free(a->before);
	free(a->behind);
	free(a->out_of);
}

struct active {
	struct task_entry entry;
	size_t at; /* by tid */
};

static int by_place(const void *a, const void *b)
{
	const struct active *first = a, *second = b;

	return (first->at > second->at) - (first->at < second->at);
}

/* Active ones among rows, by place. */
static size_t find_active(const struct task_pick *p, const struct screen *s, struct active *out)
{
	const struct task_metric *by = task_metric_sorted(s);
	size_t nr = 0;

	for (size_t i = 0; i < p->order->nr_active; i++) {
		const struct machine_task *t = &p->tasks[p->order->active[i]];
		size_t at = 0;

		if (p->filter && !task_filter_match(p->filter, t))
			continue;
		if (p->place_of)
			at = p->place_of[p->order->active[i]];
		else if (!task_pick_find(p, t->tid, &at))
			continue;
		out[nr++] = (struct active){ task_sort_entry(p->m, t, by), at };
	}
	qsort(out, nr, sizeof(*out), by_place);
	return nr;
}

static void divide(const struct task_pick *p, const struct screen *s, const struct active *active,
                   size_t nr, struct order_parts *out)
{
	struct task_entry quiet = { .task = NULL };
	size_t first_quiet = 0;

	while (first_quiet < nr && active[first_quiet].at == first_quiet)
		first_quiet++;
	if (first_quiet < p->nr)
		quiet = task_sort_entry(p->m, &p->tasks[p->rows[first_quiet]],
		                        task_metric_sorted(s));
	for (size_t i = 0; i < nr; i++) {
		int side = quiet.task ? task_sort_keys(&active[i].entry, &quiet, s) : -1;

		if (!side)
			continue;
		if (side < 0)
			out->before[out->nr_before++] = active[i].entry;
		else
			out->behind[out->nr_behind++] = active[i].entry;
		out->out_of[out->nr_out++] = active[i].at;
	}
}

static int find_parts(const struct task_pick *p, const struct screen *s, struct order_parts *out)
{
	size_t room = p->order->nr_active + 1;
	SCOPED(scoped_free) struct active *active = calloc(room, sizeof(*active));

	out->before = calloc(room, sizeof(*out->before));
	out->behind = calloc(room, sizeof(*out->behind));
	out->out_of = calloc(room, sizeof(*out->out_of));
	if (!active || !out->before || !out->behind || !out->out_of)
		return -ENOMEM;
	divide(p, s, active, find_active(p, s, active), out);
	return 0;
}

/* The nth of the quiet ones on, by tid, around those that are elsewhere. */
static void put_quiet(const struct task_pick *p, const struct order_parts *a, size_t nth, size_t nr,
                      const void **out)
{
	size_t at = nth, skip = 0;

	while (skip < a->nr_out && a->out_of[skip] <= at) {
		skip++;
		at++;
	}
	for (size_t i = 0; i < nr; at++) {
		if (skip < a->nr_out && a->out_of[skip] == at) {
			skip++;
			continue;
		}
		out[i++] = &p->tasks[p->rows[at]];
	}
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static long window_of_parts(const struct task_pick *p, const struct screen *s, size_t from,
                            size_t nr, const void **out)
{
	SCOPED(scoped_parts) struct order_parts a = { 0 };
	size_t nr_quiet, nr_put = 0, part;
	int err = find_parts(p, s, &a);

	if (err)
		return err;
	nr_quiet = p->nr - a.nr_out;
	if (from < a.nr_before) {
		nr_put = least(nr, a.nr_before - from);
		err = window_of(a.before, a.nr_before, s, from, nr_put, out);
	}
	from = from + nr_put - a.nr_before;
	if (!err && nr_put < nr && from < nr_quiet) {
		part = least(nr - nr_put, nr_quiet - from);
		put_quiet(p, &a, from, part, out + nr_put);
		nr_put += part;
		from += part;
	}
	if (!err && nr_put < nr)
		err = window_of(a.behind, a.nr_behind, s, from - nr_quiet, nr - nr_put,
		                out + nr_put);
	return err ? err : (long)nr;
}

static void put_by_tid(const struct task_pick *p, const struct screen *s, size_t from, size_t nr,
                       const void **out)
{
	for (size_t i = 0; i < nr; i++) {
		size_t at = s->is_ascending ? from + i : p->nr - 1 - from - i;

		out[i] = &p->tasks[p->rows[at]];
	}
}

static bool is_measured(const struct screen *s)
{
	const struct task_metric *by = task_metric_sorted(s);

	return by && task_metric_is_measured(by);
}

long task_pick_window(const struct task_pick *p, const struct screen *s, size_t from, size_t nr,
                      const void **out)
{
	if (p->order && s->sort == SORT_TID) {
		put_by_tid(p, s, from, nr, out);
		return (long)nr;
	}
	if (p->order && is_measured(s))
		return window_of_parts(p, s, from, nr, out);
	return window_of_all(p, s, from, nr, out);
}

static size_t nr_before(const struct task_entry *entries, size_t nr, const struct task_entry *e,
                        const struct screen *s)
{
	size_t before = 0;

	for (size_t i = 0; i < nr; i++)
		before += task_sort_order(&entries[i], e, s) < 0;
	return before;
}

static bool is_among(const struct task_entry *entries, size_t nr, const struct task_entry *e)
{
	for (size_t i = 0; i < nr; i++)
		if (entries[i].task == e->task)
			return true;
	return false;
}

static int place_in_parts(const struct task_pick *p, const struct screen *s, size_t at)
{
	SCOPED(scoped_parts) struct order_parts a = { 0 };
	struct task_entry e = task_sort_entry(p->m, &p->tasks[p->rows[at]], task_metric_sorted(s));
	size_t skipped = 0;

	if (find_parts(p, s, &a))
		return -1;
	if (is_among(a.before, a.nr_before, &e))
		return (int)nr_before(a.before, a.nr_before, &e, s);
	if (is_among(a.behind, a.nr_behind, &e))
		return (int)(p->nr - a.nr_behind + nr_before(a.behind, a.nr_behind, &e, s));
	while (skipped < a.nr_out && a.out_of[skipped] < at)
		skipped++;
	return (int)(a.nr_before + at - skipped);
}

static int place_in_all(const struct task_pick *p, const struct screen *s, size_t at)
{
	const struct task_metric *by = task_metric_sorted(s);
	struct task_entry wanted = task_sort_entry(p->m, &p->tasks[p->rows[at]], by);
	int place = 0;

	for (size_t i = 0; i < p->nr; i++) {
		struct task_entry e = task_sort_entry(p->m, &p->tasks[p->filter ? p->rows[i] : i],
		                                      by);

		place += task_sort_order(&e, &wanted, s) < 0;
	}
	return place;
}

int task_pick_place(const struct task_pick *p, const struct screen *s, uint32_t tid)
{
	size_t at = 0;

	if (p->order) {
		if (!task_pick_find(p, tid, &at))
			return -1;
		if (s->sort == SORT_TID)
			return (int)(s->is_ascending ? at : p->nr - 1 - at);
		if (is_measured(s))
			return place_in_parts(p, s, at);
	} else {
		while (at < p->nr && p->tasks[p->rows[at]].tid != tid)
			at++;
		if (at == p->nr)
			return -1;
	}
	return place_in_all(p, s, at);
}
