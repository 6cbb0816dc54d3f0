/*
 * report/stack_cells — stacks as a tree of frames from the root, and how often each was seen, or slept in, by bucket and by who.
 *
 * Stacks that were seen most come first; what finds no room counts as "[other stacks]". Off-CPU time is that of sleeps whose stack was
 * recorded.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/json_write.h"
#include "report/gather.h"
#include "report/pack.h"

struct stack_node {
	uint32_t parent; /* 1 + its node; 0 = none */
	uint32_t function;
};

struct stack_cells {
	const struct source *s;
	uint32_t *leaves; /* by stack of the source: its node */
	struct stack_node *nodes;
	uint32_t nr, room;
	uint32_t *functions; /* frames of the source; UINT32_MAX: [other stacks] */
	uint32_t nr_functions, room_functions;
	uint64_t kinds; /* bits of enum source_stack_kind that occur */
};

/* max_bytes: of names and nodes. -ENOMEM. */
MUST_USE int stack_cells_gather(struct stack_cells *c, struct gather *g, uint64_t max_bytes);
/* The table "frame": parent, name. -ENOMEM. */
MUST_USE int stack_cells_pack(const struct stack_cells *c, struct pack *out);
/* Members "functions" and "stack_kinds", where there are stacks. */
void stack_cells_document(const struct stack_cells *c, struct json_writer *out);
void stack_cells_done(struct stack_cells *c);
