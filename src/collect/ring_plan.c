#include "collect/ring_plan.h"

#include <errno.h>
#include <stdlib.h>

#define MIB            1048576ULL
#define BYTES_PER_CPU  (16 * MIB)
#define STACKS_FACTOR  4 /* with stacks, of which half of a ring may be full */
#define RING_BYTES_MAX (128 * MIB)
#define RING_BYTES_MIN 65536ULL /* a multiple of every page size */
#define MEMORY_SHARE   32       /* all rings together take at most this part of it */

static uint32_t power_of_two_below(uint64_t bytes)
{
	uint64_t p = RING_BYTES_MIN;

	while (p * 2 <= bytes && p < RING_BYTES_MAX)
		p *= 2;
	return (uint32_t)p;
}

static uint32_t pick_size(const struct ring_plan_cfg *cfg, uint32_t nr_rings)
{
	uint64_t bytes, share;

	if (cfg->ring_bytes || !nr_rings)
		return power_of_two_below(cfg->ring_bytes);
	bytes = (cfg->nr_cpus + nr_rings - 1) / nr_rings * BYTES_PER_CPU *
	        (cfg->has_stacks ? STACKS_FACTOR : 1);
	share = cfg->memory_bytes / MEMORY_SHARE / nr_rings;
	if (cfg->memory_bytes && share < bytes)
		bytes = share;
	return power_of_two_below(bytes);
}

/* LLC numbers have no gaps; CPUs without one share a ring of their own. */
static uint32_t group_by_llc(const struct ring_plan_cfg *cfg, uint32_t *ring_of_cpu)
{
	uint32_t nr_llcs = 0;
	bool has_unknown = false;

	for (uint32_t cpu = 0; cpu < cfg->nr_cpus; cpu++) {
		int32_t llc = cfg->llc_of_cpu ? cfg->llc_of_cpu[cpu] : -1;

		if (llc >= 0 && (uint32_t)llc >= nr_llcs)
			nr_llcs = (uint32_t)llc + 1;
		has_unknown |= llc < 0;
	}
	for (uint32_t cpu = 0; cpu < cfg->nr_cpus; cpu++) {
		int32_t llc = cfg->llc_of_cpu ? cfg->llc_of_cpu[cpu] : -1;

		ring_of_cpu[cpu] = llc >= 0 ? (uint32_t)llc : nr_llcs;
	}
	return nr_llcs + has_unknown;
}

int ring_plan_make(const struct ring_plan_cfg *cfg, struct ring_plan *out)
{
	uint32_t *ring_of_cpu = calloc(cfg->nr_cpus ? cfg->nr_cpus : 1, sizeof(*ring_of_cpu));

	if (!ring_of_cpu)
		return -ENOMEM;
	out->nr_cpus = cfg->nr_cpus;
	out->ring_of_cpu = ring_of_cpu;
	if (cfg->is_per_cpu) {
		for (uint32_t cpu = 0; cpu < cfg->nr_cpus; cpu++)
			ring_of_cpu[cpu] = cpu;
		out->nr_rings = cfg->nr_cpus;
	} else {
		out->nr_rings = group_by_llc(cfg, ring_of_cpu);
	}
	out->ring_bytes = pick_size(cfg, out->nr_rings);
	return 0;
}

void ring_plan_done(struct ring_plan *p)
{
	free(p->ring_of_cpu);
	p->ring_of_cpu = NULL;
}
