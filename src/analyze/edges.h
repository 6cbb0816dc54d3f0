/*
 * analyze/edges — how often one task did something to another, and what it cost: wakers and wakees,
 * preempters and preempted.
 *
 * An entry per pair that was seen, so no more than rows. Any numbers will do for tasks.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

#define EDGES_NONE UINT32_MAX

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
	uint32_t *dense; /* [by * nr_dense + to]: number + 1, for numbers below nr_dense; NULL = none */
	uint32_t nr_dense;
};

/* -ENOMEM, here and below. */
MUST_USE int edges_init(struct edges *e);
/* The same for tasks below nr_tasks, whose edges are found without a search where these are few. */
MUST_USE int edges_init_tasks(struct edges *e, uint32_t nr_tasks);
MUST_USE int edges_add(struct edges *e, uint32_t by, uint32_t to, uint64_t ns);
/* It will be added soon: the memory where it is looked for, and where it is, may be fetched meanwhile. */
void edges_fetch_place(const struct edges *e, uint32_t by, uint32_t to);
void edges_fetch(const struct edges *e, uint32_t by, uint32_t to);
/* The one that is there, else a new one without a count; lent until the next call. NULL without memory. */
struct edge *edges_get(struct edges *e, uint32_t by, uint32_t to);
/* The number of one that was added, before they are sorted; EDGES_NONE = none. */
uint32_t edges_find(const struct edges *e, uint32_t by, uint32_t to);
void edges_done(struct edges *e);
/* Brings those of one `by` together, the ones with the most time first. Nothing can be added any more. */
void edges_sort(struct edges *e);
/* Those of one, lent, in sorted edges; how many. */
uint32_t edges_of(const struct edges *e, uint32_t by, const struct edge **out);
