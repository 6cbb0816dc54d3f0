/*
 * collect/sample_stacks — stacks by their hash, each fetched from the kernel once.
 *
 * Bounded by the size of the kernel's map. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct plumbing;
struct sample_stacks;

/* plumbing is borrowed and may be NULL. */
MUST_USE int sample_stacks_new(int map_fd, uint32_t max_stacks, const struct plumbing *plumbing,
                               struct sample_stacks **out);
void sample_stacks_free(struct sample_stacks *s); /* NULL is fine */
/* Hash 0 is the empty stack. Addresses stay as long as s. 0 or -errno. */
MUST_USE int sample_stacks_get(struct sample_stacks *s, uint64_t hash, const uint64_t **ips,
                               uint32_t *nr);
