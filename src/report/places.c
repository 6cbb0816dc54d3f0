#include "report/places.h"

#include <stdlib.h>

static int by_place(const void *a, const void *b)
{
	const struct cpu_place *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->llc != y->llc)
		return x->llc < y->llc ? -1 : 1;
	if (x->core != y->core)
		return x->core < y->core ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

struct cpu_place *cpu_places(const struct source *s, uint32_t nr)
{
	struct cpu_place *all = calloc(nr ? nr : 1, sizeof(*all));

	for (uint32_t i = 0; all && i < nr; i++)
		all[i] = (struct cpu_place){ source_node(s, i), source_llc(s, i), source_core(s, i),
			                     i };
	if (all && nr)
		qsort(all, nr, sizeof(*all), by_place);
	return all;
}
