/*
 * base/rates — a histogram of whole numbers of any size in little memory: sorted (value, count) pairs.
 *
 * Values below 1024 are kept exactly; above, the seven leading bits are (an error below 1/64). So there
 * are at most about 4,500 pairs, and a thread with few distinct rates costs a few dozen bytes. A plain
 * value: zero-initialised it is empty. A call that fails changes nothing.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct rates_bin {
	uint64_t value; /* the smallest one that belongs here */
	uint64_t count;
};

struct rates {
	struct rates_bin *bins; /* ascending by value */
	uint32_t nr;
	uint32_t capacity;
	uint64_t count; /* samples */
	uint64_t max;   /* exact */
};

MUST_USE int rates_add(struct rates *r, uint64_t value, uint64_t count); /* 0 or -ENOMEM */
MUST_USE int rates_merge(struct rates *into, const struct rates *from);
/* Nearest rank, the middle of its bin; the last rank is max. 0 when empty; never above max. */
uint64_t rates_percentile(const struct rates *r, uint32_t p10000);
void rates_done(struct rates *r);
