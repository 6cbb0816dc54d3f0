/*
 * collect/sample_drain — takes a finished generation of stacks and rows out of the kernel's maps.
 *
 * The caller has begun the next generation, and waited until no program writes to this one any more. Others stay in
 * the maps. What finds no room here is counted. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct sample_rows;
struct sample_stacks;

struct sample_drain {
	int stacks_fd, rows_fd;
	struct sample_stacks *stacks;
	struct sample_rows *rows;
	uint64_t lost; /* samples, over all generations */
};

MUST_USE int sample_drain_take(struct sample_drain *d, uint32_t generation); /* 0 or -errno */
