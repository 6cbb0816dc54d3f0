/*
 * trace/perfdata/stack_maps — what processes have mapped at a moment. Changes come in order of time.
 *
 * A forked process shares its parent's until either changes. Each state has a number that no other one has.
 */
#pragma once

#include "trace/perfdata/stacks.h"

struct stack_map {
	uint64_t start, end, offset;
	uint32_t path;
	uint32_t pad_;
};

struct stack_space;

struct stack_maps {
	const struct reader *r;
	struct map *pids; /* -> index in spaces */
	struct stack_space **spaces;
	size_t nr, cap;
	uint32_t last_state;
};

MUST_USE int stack_maps_init(struct stack_maps *m, const struct reader *r);
void stack_maps_done(struct stack_maps *m);
MUST_USE int stack_maps_change(struct stack_maps *m, const struct pd_change *change);
/* NULL = nothing is mapped. */
const struct stack_space *stack_maps_of(const struct stack_maps *m, uint32_t pid);
uint32_t stack_space_state(const struct stack_space *s); /* 0 for NULL */
/* NULL = nothing is there. */
const struct stack_map *stack_space_find(const struct stack_space *s, uint64_t address);
