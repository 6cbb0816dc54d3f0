/*
 * analyze/moves — tasks that went from one CPU to another, and how far that is.
 *
 * Taken from sched_migrate_task where it was recorded, else from slices: a task that ran on one CPU and next on
 * another has moved, at the latest when the second slice began.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/scope.h"
#include "base/attr.h"

/* A move is one of these: between nodes, or between caches of a node, never both. */
enum move_hop { MOVE_SAME_LLC, MOVE_CROSS_LLC, MOVE_CROSS_NODE, MOVE_UNKNOWN, MOVE_HOPS };

struct moves {
	const struct scope *sc;
	struct scope
		all; /* of all times and CPUs, because a slice is compared with the previous one */
	struct pass_args all_args;
	bool is_from_slices;
	uint16_t *last_cpu; /* by task; where it ran last */
	struct rows it;
};

/* -ENOMEM. */
MUST_USE int moves_init(struct moves *m, const struct scope *sc);
/* In the order of time; cpu is where a move was recorded. False at the end. */
bool moves_next(struct moves *m, struct pair_migration *out);
void moves_done(struct moves *m);
/* "basis": sched_migrate_task or slices. */
void moves_report_basis(const struct moves *m, struct report *r);

enum move_hop move_hop(const struct source *s, uint32_t from_cpu, uint32_t to_cpu);
/* Whether the place of any CPU is known. */
bool move_knows_places(const struct source *s);
