#include "analyses/blame_pairs.h"

#include <errno.h>
#include <stdlib.h>

#define MATRIX_UNITS 1024U /* 8 MiB */

bool blame_pairs_is_small(uint32_t nr_units)
{
	return nr_units <= MATRIX_UNITS;
}

int blame_pairs_init(struct blame_pairs *p, uint32_t nr_units)
{
	*p = (struct blame_pairs){ .nr_units = nr_units, .width = nr_units + LEDGER_KINDS };
	if (!blame_pairs_is_small(nr_units))
		return edges_init(&p->edges);
	p->ns = calloc(nr_units * p->width + 1, sizeof(*p->ns));
	return p->ns ? 0 : -ENOMEM;
}

void blame_pairs_done(struct blame_pairs *p)
{
	free(p->ns);
	edges_done(&p->edges);
	*p = (struct blame_pairs){ 0 };
}

int blame_pairs_add(struct blame_pairs *p, uint32_t victim, uint32_t culprit, uint64_t ns)
{
	if (!p->ns)
		return edges_add(&p->edges, victim, culprit, ns);
	p->ns[victim * p->width + culprit] += ns;
	return 0;
}

int blame_pairs_fold(struct blame_pairs *p, const struct blame_pairs *from, const uint32_t *unit_of)
{
	int err = 0;

	for (uint32_t victim = 0; victim < from->nr_units && !err; victim++) {
		const uint64_t *row = from->ns + victim * from->width;

		for (uint32_t i = 0; i < from->nr_units && !err; i++)
			if (row[i])
				err = blame_pairs_add(p, unit_of[victim], unit_of[i], row[i]);
	}
	return err;
}

void blame_pairs_end(struct blame_pairs *p)
{
	edges_sort(&p->edges);
}

static uint32_t most_of_edges(const struct blame_pairs *p, uint32_t victim, uint32_t max,
                              struct blame_culprit *out)
{
	const struct edge *at;
	uint32_t nr = edges_of(&p->edges, victim, &at);

	nr = nr < max ? nr : max;
	for (uint32_t i = 0; i < nr; i++)
		out[i] = (struct blame_culprit){ at[i].to, at[i].sum_ns };
	return nr;
}

uint32_t blame_pairs_most(const struct blame_pairs *p, uint32_t victim, uint32_t max,
                          struct blame_culprit *out)
{
	uint32_t nr = 0;

	if (!p->ns)
		return most_of_edges(p, victim, max, out);
	for (uint32_t culprit = 0; culprit < p->nr_units; culprit++) {
		uint64_t ns = p->ns[victim * p->width + culprit];
		uint32_t at = nr;

		if (!ns || (nr == max && (!max || out[max - 1].ns >= ns)))
			continue;
		if (nr < max)
			nr++;
		else
			at = max - 1;
		for (; at > 0 && out[at - 1].ns < ns; at--)
			out[at] = out[at - 1];
		out[at] = (struct blame_culprit){ culprit, ns };
	}
	return nr;
}
