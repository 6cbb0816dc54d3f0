#include "analyze/edges.h"

#include <errno.h>
#include <stdlib.h>

#include "base/map.h"

#define FIRST_CAPACITY 64

int edges_init(struct edges *e, uint32_t nr_tasks)
{
	*e = (struct edges){ .nr_tasks = nr_tasks };
	e->last = calloc(nr_tasks ? nr_tasks : 1, sizeof(*e->last));
	return e->last ? map_new(2 * sizeof(uint32_t), MAP_MAX_CAP, &e->by_pair) : -ENOMEM;
}

static int new_edge(struct edges *e, const uint32_t pair[2])
{
	uint32_t capacity = e->capacity ? 2 * e->capacity : FIRST_CAPACITY;

	if (e->nr == e->capacity) {
		struct edge *more = reallocarray(e->at, capacity, sizeof(*more));

		if (!more)
			return -ENOMEM;
		e->at = more;
		e->capacity = capacity;
	}
	e->at[e->nr] = (struct edge){ .by = pair[0], .to = pair[1] };
	return map_insert(e->by_pair, pair, e->nr);
}

static int find(struct edges *e, uint32_t by, uint32_t to, uint32_t *out)
{
	const uint32_t pair[2] = { by, to };
	uint32_t i = e->last[to];
	int err;

	if (i && e->at[i - 1].by == by) {
		*out = i - 1;
		return 0;
	}
	if (!map_find(e->by_pair, pair, &i)) {
		err = new_edge(e, pair);
		if (err)
			return err;
		i = e->nr++;
	}
	e->last[to] = i + 1;
	*out = i;
	return 0;
}

int edges_add(struct edges *e, uint32_t by, uint32_t to, uint64_t ns)
{
	uint32_t i;
	int err = find(e, by, to, &i);

	if (err)
		return err;
	e->at[i].count++;
	e->at[i].sum_ns += ns;
	if (ns > e->at[i].max_ns)
		e->at[i].max_ns = ns;
	return 0;
}

void edges_done(struct edges *e)
{
	free(e->at);
	free(e->last);
	map_free(e->by_pair);
	*e = (struct edges){ 0 };
}
