/*
 * machine/task_order — which rows of an array hold which ids, in the order of ids, while rows are
 * added, moved and removed.
 *
 * Changes are noted, and done all at once by settle(): one pass over 4-byte numbers if there were any, nothing else.
 * Zeroed it is empty. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct task_order {
	uint32_t *ids;     /* ascending; those that have gone are still there until settle() */
	uint32_t *rows;    /* parallel to ids; UINT32_MAX = gone */
	uint32_t *rank_of; /* of a row; UINT32_MAX = not in yet */
	size_t nr, cap, nr_gone;
	uint32_t *coming; /* rows that are new */
	size_t nr_coming, coming_cap;
};

/* Room for rows up to nr; before any of them is added. 0 or -ENOMEM. */
MUST_USE int task_order_reserve(struct task_order *o, size_t nr);
MUST_USE int task_order_add(struct task_order *o, uint32_t row); /* 0 or -ENOMEM */
/* The row is removed, and last (which may be the same) takes its place. */
void task_order_drop(struct task_order *o, uint32_t row, uint32_t last);
/* id_of() returns the id of an added row. */
void task_order_settle(struct task_order *o, uint32_t (*id_of)(const void *ctx, uint32_t row),
                       const void *ctx);
void task_order_done(struct task_order *o);
