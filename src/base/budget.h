/*
 * base/budget — how much memory a piece of work may take, counted by all of its threads together.
 *
 * Code that is about to allocate much takes the bytes first, and returns them if it frees the
 * memory before the work is over. A request that does not fit takes nothing and is remembered, so
 * that the other threads stop early and one message says why. NULL is a budget without a limit. Any
 * thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct budget {
	uint64_t limit_bytes;
	_Atomic uint64_t used_bytes;
	atomic_bool is_exceeded;
};

void budget_init(struct budget *b, uint64_t limit_bytes);
MUST_USE bool budget_take(struct budget *b, uint64_t bytes);
void budget_give(struct budget *b, uint64_t bytes);
/* For tables that know their own size: *held, what was taken for one, becomes bytes. */
MUST_USE bool budget_hold(struct budget *b, uint64_t *held, uint64_t bytes);
/* Whether a request did not fit. */
bool budget_is_exceeded(const struct budget *b);
uint64_t budget_limit(const struct budget *b); /* UINT64_MAX without one */
