/*
 * collect/sample/sample_copies — user stacks that programs copied out of the kernel, walked here and kept by their numbers.
 *
 * One ring per CPU, in all some 64 MiB at most, less where the user may not lock so much. A program that finds
 * no room in its ring counts a loss. A copy is walked by the caller's function when it is taken; equal stacks are kept
 * once. One thread. Blocks as long as the walking takes. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "sys/cpulist.h"

struct prof_stack;
struct sample_copies;
struct sample_stacks;
struct stack_copy;

/* Who walks them. A negative errno ends the taking. */
struct sample_walker {
	void *ctx;
	int (*prepare)(void *ctx); /* once all copies that will now be walked have been made */
	int (*walk)(void *ctx, const struct stack_copy *copy, struct prof_stack *out);
};

struct sample_copies_cfg {
	int map_fd; /* of the rings, by CPU */
	const struct cpulist *online;
	struct sample_stacks *stacks; /* where they are kept; lent */
	struct sample_walker walker;
	bool is_seldom; /* smaller rings will do: 2 MiB, in all 16 */
};

MUST_USE int sample_copies_open(const struct sample_copies_cfg *cfg, struct diag *d,
                                struct sample_copies **out);
void sample_copies_close(struct sample_copies *c); /* NULL is fine */
DEFINE_SCOPED(sample_copies, sample_copies_close)
/* Rings for CPUs that came online. What happens on one that stays without is counted as lost. */
void sample_copies_follow(struct sample_copies *c, const struct cpulist *online);

/* Walks all that is there. 0 or -errno. */
MUST_USE int sample_copies_take(struct sample_copies *c);
/* From the number of a copy to the hash of its stack, once for each. -ENOENT. */
MUST_USE int sample_copies_find(struct sample_copies *c, uint64_t number, uint64_t *hash);
