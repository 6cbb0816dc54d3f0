/*
 * analyze/edges — how often one task did something to another, and what it cost: who woke whom, who preempted whom.
 *
 * An entry per pair of tasks that was seen, so no more than rows.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct map;

struct edge {
	uint32_t by; /* TASKS_NONE = nobody */
	uint32_t to;
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
};

struct edges {
	struct edge *at;
	uint32_t nr;
	uint32_t capacity;
	uint32_t *last; /* by task: number + 1 of its latest edge, as most come from the one before */
	uint32_t nr_tasks;
	struct map *by_pair;
};

/* -ENOMEM. Tasks are below nr_tasks. */
MUST_USE int edges_init(struct edges *e, uint32_t nr_tasks);
MUST_USE int edges_add(struct edges *e, uint32_t by, uint32_t to, uint64_t ns);
void edges_done(struct edges *e);
