/*
 * collect/sample/sample_stacks — stacks by their hash, each kept once.
 *
 * Bounded. Pure. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct plumbing;
struct prof_stack;
struct sample_stacks;

/* plumbing is cut off; it is borrowed and may be NULL. */
MUST_USE int sample_stacks_new(uint32_t max_stacks, const struct plumbing *plumbing,
                               struct sample_stacks **out);
void sample_stacks_free(struct sample_stacks *s); /* NULL is fine */
/* One that is there already stays. -E2BIG when there is no room. */
MUST_USE int sample_stacks_add(struct sample_stacks *s, uint64_t hash,
                               const struct prof_stack *stack);
/* Hash 0 is the empty stack. Addresses stay as long as s; end is enum prof_end. -ENOENT. */
MUST_USE int sample_stacks_get(const struct sample_stacks *s, uint64_t hash, const uint64_t **ips,
                               uint32_t *nr, uint32_t *end);
