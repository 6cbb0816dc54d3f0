/*
 * collect/ring_plan — how many rings, which CPUs share one, how large each is. Pure.
 *
 * CPUs that share a last-level cache share a ring: its head stays in their cache. Rings are large enough for
 * a tenth of a second of a million events per second and CPU, and small enough to leave memory to others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct ring_plan {
	uint32_t nr_cpus;
	uint32_t nr_rings;
	uint32_t ring_bytes;   /* each */
	uint32_t *ring_of_cpu; /* nr_cpus of them */
};

struct ring_plan_cfg {
	uint32_t nr_cpus;          /* possible ones */
	const int32_t *llc_of_cpu; /* -1 = unknown; NULL = all unknown */
	bool is_per_cpu;           /* one ring for each CPU instead */
	bool has_stacks;           /* which take most of the room */
	uint32_t ring_bytes;       /* each; 0 picks from the number of CPUs and the memory */
	uint64_t memory_bytes;     /* of the machine; 0 = unknown */
};

MUST_USE int ring_plan_make(const struct ring_plan_cfg *cfg,
                            struct ring_plan *out); /* 0 or -ENOMEM */
void ring_plan_done(struct ring_plan *p);
