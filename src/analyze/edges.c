#include "analyze/edges.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_DENSE    1024U /* 4 MiB */
#define FIRST_PLACES 256U  /* twice as many as edges, so that a search stays short */

int edges_init(struct edges *e)
{
	*e = (struct edges){ .nr_places = FIRST_PLACES };
	e->places = calloc(FIRST_PLACES, sizeof(*e->places));
	e->at = calloc(FIRST_PLACES / 2, sizeof(*e->at));
	return e->places && e->at ? 0 : -ENOMEM;
}

int edges_init_tasks(struct edges *e, uint32_t nr_tasks)
{
	int err = edges_init(e);

	if (err || nr_tasks > MAX_DENSE)
		return err;
	e->nr_dense = nr_tasks;
	e->dense = calloc((size_t)nr_tasks * nr_tasks + 1, sizeof(*e->dense));
	return e->dense ? 0 : -ENOMEM;
}

/* Where the edge is, or belongs. */
static uint32_t place_of(const struct edges *e, uint32_t by, uint32_t to)
{
	uint64_t mixed = ((uint64_t)by << 32 | to) * 0x9e3779b97f4a7c15ULL;
	uint32_t mask = e->nr_places - 1, i = (uint32_t)(mixed >> 32) & mask;

	while (e->places[i] &&
	       (e->at[e->places[i] - 1].by != by || e->at[e->places[i] - 1].to != to))
		i = (i + 1) & mask;
	return i;
}

static int grow(struct edges *e)
{
	struct edge *more = reallocarray(e->at, e->nr_places, sizeof(*more));
	uint32_t *places;

	if (!more)
		return -ENOMEM;
	e->at = more;
	places = calloc(2ULL * e->nr_places, sizeof(*places));
	if (!places)
		return -ENOMEM;
	free(e->places);
	e->places = places;
	e->nr_places *= 2;
	for (uint32_t i = 0; i < e->nr; i++)
		e->places[place_of(e, e->at[i].by, e->at[i].to)] = i + 1;
	return 0;
}

/* The place that holds the number of an edge, or will. */
static uint32_t *find(const struct edges *e, uint32_t by, uint32_t to)
{
	if (by < e->nr_dense && to < e->nr_dense)
		return &e->dense[(size_t)by * e->nr_dense + to];
	return &e->places[place_of(e, by, to)];
}

struct edge *edges_get(struct edges *e, uint32_t by, uint32_t to)
{
	uint32_t *place = find(e, by, to);

	if (*place)
		return &e->at[*place - 1];
	if (e->nr == e->nr_places / 2) {
		if (e->nr_places > UINT32_MAX / 4 || grow(e))
			return NULL;
		place = find(e, by, to);
	}
	e->at[e->nr] = (struct edge){ .by = by, .to = to };
	*place = ++e->nr;
	return &e->at[e->nr - 1];
}

int edges_add(struct edges *e, uint32_t by, uint32_t to, uint64_t ns)
{
	struct edge *edge = edges_get(e, by, to);

	if (!edge)
		return -ENOMEM;
	edge->count++;
	edge->sum_ns += ns;
	if (ns > edge->max_ns)
		edge->max_ns = ns;
	return 0;
}

void edges_fetch_place(const struct edges *e, uint32_t by, uint32_t to)
{
	if (by < e->nr_dense && to < e->nr_dense)
		__builtin_prefetch(&e->dense[(size_t)by * e->nr_dense + to]);
}

void edges_fetch(const struct edges *e, uint32_t by, uint32_t to)
{
	uint32_t number;

	if (by >= e->nr_dense || to >= e->nr_dense)
		return;
	number = e->dense[(size_t)by * e->nr_dense + to];
	if (number)
		__builtin_prefetch(&e->at[number - 1], 1);
}

uint32_t edges_find(const struct edges *e, uint32_t by, uint32_t to)
{
	uint32_t number = *find(e, by, to);

	return number ? number - 1 : EDGES_NONE;
}

static int by_time(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->by != right->by)
		return left->by < right->by ? -1 : 1;
	if (left->sum_ns != right->sum_ns)
		return left->sum_ns > right->sum_ns ? -1 : 1;
	return (left->to > right->to) - (left->to < right->to);
}

void edges_sort(struct edges *e)
{
	if (e->nr)
		qsort(e->at, e->nr, sizeof(*e->at), by_time);
}

uint32_t edges_of(const struct edges *e, uint32_t by, const struct edge **out)
{
	uint32_t low = 0, high = e->nr, end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (e->at[middle].by < by)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < e->nr && e->at[end].by == by; end++)
		;
	*out = e->nr ? &e->at[low] : NULL;
	return end - low;
}

void edges_done(struct edges *e)
{
	free(e->at);
	free(e->places);
	free(e->dense);
	*e = (struct edges){ 0 };
}
