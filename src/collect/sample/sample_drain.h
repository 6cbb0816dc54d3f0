/*
 * collect/sample/sample_drain — takes finished generations of stacks and rows out of the kernel's maps.
 *
 * The caller has begun the next generation, and waited until no program writes to others any more. The current one stays
 * in the maps. What does not fit here is counted. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct sample_copies;
struct sample_rows;
struct sample_stacks;

struct sample_drain {
	int stacks_fd, rows_fd;
	struct sample_stacks *stacks;
	struct sample_rows *rows;
	struct sample_copies *copies; /* NULL = none are made */
	uint64_t lost;                /* samples, over all generations */
};

MUST_USE int sample_drain_take(struct sample_drain *d, uint32_t current); /* 0 or -errno */
