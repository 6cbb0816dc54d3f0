#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat/report/stat_build.h"

#define DELAY_FIELDS (3U << 6) /* run_delay_ns and pcount */

static int compare_pairs(const void *pa, const void *pb)
{
	const struct stat_pair *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

/* All domains in one list, sorted by name, then equal names folded into one. */
static int sum_domains(struct stat_build *b, const struct stat_schedstat_in *in,
                       struct stat_pairs *out)
{
	struct stat_pair *items;
	size_t nr_all = 0, nr = 0;

	for (size_t i = 0; i < in->nr_domains; i++)
		nr_all += in->domains[i].fields.nr;
	items = ARENA_ARRAY(b->mem, struct stat_pair, nr_all);
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_domains; i++)
		for (size_t k = 0; k < in->domains[i].fields.nr; k++)
			items[nr++] = in->domains[i].fields.items[k];
	qsort(items, nr, sizeof(items[0]), compare_pairs);
	nr = 0;
	for (size_t i = 0; i < nr_all; i++) {
		if (nr && strcmp(items[nr - 1].name, items[i].name) == 0)
			items[nr - 1].value += items[i].value;
		else
			items[nr++] = items[i];
	}
	*out = (struct stat_pairs){ items, nr };
	return 0;
}

int stat_build_schedstat(struct stat_build *b, struct stat_schedstat *out)
{
	const struct stat_schedstat_in *in = b->in->schedstat;

	out->domains = in->domains;
	out->nr_domains = in->nr_domains;
	out->cpu = in->cpu;
	out->has_mean_delay = in->cpu.pcount > 0 && !(in->cpu.absent & DELAY_FIELDS);
	if (out->has_mean_delay)
		out->mean_delay_us = (double)in->cpu.run_delay_ns / (double)in->cpu.pcount / 1000.0;
	return sum_domains(b, in, &out->total);
}
