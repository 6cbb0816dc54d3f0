/*
 * analyze/edges — how often one task did something to another, and what it cost: wakers and wakees,
 * preempters and preempted.
 *
 * An entry per pair that was seen, so no more than rows. Any numbers will do for tasks.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct edge {
	uint32_t by; /* TASKS_NONE = none */
	uint32_t to;
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
};

struct edges {
	struct edge *at; /* in the order in which they came up, until edges_sort() */
	uint32_t nr;
	uint32_t *places; /* by hash: number + 1; 0 = free */
	uint32_t nr_places;
};

/* -ENOMEM, here and below. */
MUST_USE int edges_init(struct edges *e);
MUST_USE int edges_add(struct edges *e, uint32_t by, uint32_t to, uint64_t ns);
void edges_done(struct edges *e);
/* Brings those of one `by` together, the ones with the most time first. Nothing can be added any more. */
void edges_sort(struct edges *e);
/* Those of one, lent, in sorted edges; how many. */
uint32_t edges_of(const struct edges *e, uint32_t by, const struct edge **out);
