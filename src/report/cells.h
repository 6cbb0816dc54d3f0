/*
 * report/cells — sums by bucket of time and by a key of up to 64 bits: two numbers for each key that occurs.
 *
 * Each bucket has a hash table of its own, so that work which goes along the time stays in the caches. Takes 24 bytes for each
 * place, of which at least a third are in use. One thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct cell {
	uint64_t key;
	uint64_t a, b;
};

struct cell_set {
	struct cell *at;
	uint32_t nr;
	uint32_t room; /* a power of two */
};

struct cells {
	struct cell_set *sets; /* by bucket */
	uint32_t nr_sets;
	size_t nr;           /* of all */
	uint32_t first_room; /* of a set, a power of two; 0 = few */
};

#define CELLS_NO_KEY UINT64_MAX

/* Where the search for a key begins, in a set that has room. */
static inline uint32_t cells_first_place(const struct cell_set *s, uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 32) & (s->room - 1);
}

/* -ENOMEM. Keys are below CELLS_NO_KEY. */
MUST_USE int cells_init(struct cells *c, uint32_t nr_buckets);
void cells_done(struct cells *c); /* a zeroed one is fine */
/* The same where its key is new, or is not at its first place. */
MUST_USE int cells_add_slowly(struct cells *c, uint32_t bucket, uint64_t key, uint64_t a,
                              uint64_t b);
/* Most that is added is added to a cell that is there. */
MUST_USE static inline int cells_add(struct cells *c, uint32_t bucket, uint64_t key, uint64_t a,
                                     uint64_t b)
{
	const struct cell_set *s = &c->sets[bucket];
	struct cell *cell = s->room ? &s->at[cells_first_place(s, key)] : NULL;

	if (!cell || cell->key != key)
		return cells_add_slowly(c, bucket, key, a, b);
	cell->a += a;
	cell->b += b;
	return 0;
}
/* Buckets 2i and 2i + 1 become bucket i. -ENOMEM. */
MUST_USE int cells_halve(struct cells *c);
/* The same of what is open at the edges where buckets begin: only those of even buckets stay. */
void cells_halve_edges(struct cells *c);
/* Gives each cell another key; those of the same one are added up. -ENOMEM. */
MUST_USE int cells_rekey(struct cells *c, uint64_t (*key)(void *ctx, uint64_t key), void *ctx);
/* Room for so many of a bucket. -ENOMEM. */
MUST_USE int cells_reserve(struct cells *c, uint32_t bucket, uint32_t nr);
/* All that another one has, which has the same buckets; what that has afterwards is of no use. -ENOMEM. */
MUST_USE int cells_merge(struct cells *into, struct cells *from);
/* The cells of a bucket in the order of their keys, somewhere in room, which holds twice sets[bucket].nr. */
const struct cell *cells_list(const struct cells *c, uint32_t bucket, struct cell *room);
