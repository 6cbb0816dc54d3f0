#include "machine/task_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define NONE UINT32_MAX

struct newcomer {
	uint32_t id, row;
};

int task_order_reserve(struct task_order *o, size_t nr)
{
	/* Those that have gone take room until they are settled. */
	size_t last = nr + o->nr_gone, ids = o->cap, rows = o->cap;

	return GROW(o->ids, ids, last) || GROW(o->rows, rows, last) ||
	                       GROW(o->rank_of, o->cap, last)
	               ? -ENOMEM
	               : 0;
}

int task_order_add(struct task_order *o, uint32_t row)
{
	if (GROW(o->coming, o->coming_cap, o->nr_coming))
		return -ENOMEM;
	o->coming[o->nr_coming++] = row;
	o->rank_of[row] = NONE;
	return 0;
}

/* Few rows are added between two calls of settle(), and the last ones are removed first. */
static size_t find_coming(const struct task_order *o, uint32_t row)
{
	size_t i = o->nr_coming;

	while (i-- > 0)
		if (o->coming[i] == row)
			return i;
	return o->nr_coming;
}

void task_order_drop(struct task_order *o, uint32_t row, uint32_t last)
{
	if (o->rank_of[row] == NONE) {
		o->coming[find_coming(o, row)] = o->coming[o->nr_coming - 1];
		o->nr_coming--;
	} else {
		o->rows[o->rank_of[row]] = NONE;
		o->nr_gone++;
	}
	if (row == last)
		return;
	o->rank_of[row] = o->rank_of[last];
	if (o->rank_of[last] == NONE)
		o->coming[find_coming(o, last)] = row;
	else
		o->rows[o->rank_of[last]] = row;
}

static void close_gaps(struct task_order *o)
{
	size_t to = 0;

	for (size_t i = 0; i < o->nr; i++) {
		if (o->rows[i] == NONE)
			continue;
		o->ids[to] = o->ids[i];
		o->rows[to] = o->rows[i];
		o->rank_of[o->rows[to]] = (uint32_t)to;
		to++;
	}
	o->nr = to;
	o->nr_gone = 0;
}

static int by_id(const void *a, const void *b)
{
	const struct newcomer *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

static void put(struct task_order *o, size_t at, uint32_t id, uint32_t row)
{
	o->ids[at] = id;
	o->rows[at] = row;
	o->rank_of[row] = (uint32_t)at;
}

/* From the end, so that nothing is overwritten that is still needed; ends where nothing moves any more. */
static void merge(struct task_order *o, const struct newcomer *new, size_t nr_new)
{
	size_t old = o->nr, at = o->nr + nr_new;

	o->nr = at;
	while (nr_new) {
		at--;
		if (old && o->ids[old - 1] > new[nr_new - 1].id) {
			old--;
			put(o, at, o->ids[old], o->rows[old]);
		} else {
			nr_new--;
			put(o, at, new[nr_new].id, new[nr_new].row);
		}
	}
}

void task_order_settle(struct task_order *o, uint32_t (*id_of)(const void *ctx, uint32_t row),
                       const void *ctx)
{
	struct newcomer *new;

	if (o->nr_gone)
		close_gaps(o);
	if (!o->nr_coming)
		return;
	new = calloc(o->nr_coming, sizeof(*new));
	if (!new)
		return; /* they follow with the next one */
	for (size_t i = 0; i < o->nr_coming; i++)
		new[i] = (struct newcomer){ id_of(ctx, o->coming[i]), o->coming[i] };
	qsort(new, o->nr_coming, sizeof(*new), by_id);
	merge(o, new, o->nr_coming);
	o->nr_coming = 0;
	free(new);
}

void task_order_done(struct task_order *o)
{
	free(o->ids);
	free(o->rows);
	free(o->rank_of);
	free(o->coming);
	memset(o, 0, sizeof(*o));
}
