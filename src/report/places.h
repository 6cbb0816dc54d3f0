/* report/places — CPUs in the order of nodes, last-level caches and cores. */
#pragma once

#include <stdint.h>

#include "analyze/source.h"

struct cpu_place {
	int32_t node, llc, core; /* below 0 = not known */
	uint32_t cpu;
};

/* Of CPUs 0 to nr - 1; to be freed. NULL = no memory. */
struct cpu_place *cpu_places(const struct source *s, uint32_t nr);
