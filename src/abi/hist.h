/*
 * abi/hist — the layout of duration histograms, as BPF fills them and user space reads them.
 *
 * 216 slots: 1 us wide below 32 us, 10 us wide below 512 us, then 8 slots per power of two (at most
 * 1/8 of the value) up to 2^26 us (67 s). Longer durations count in the last slot; the extremes are
 * exact beside it. All counters only grow: a reader subtracts what it has seen before.
 */
#pragma once

#include <linux/types.h>

#define HIST_FINE_US    32  /* 1 us per slot below this */
#define HIST_LINEAR_US  512 /* 10 us per slot below this */
#define HIST_STEP_US    10
#define HIST_LINEAR_END (HIST_FINE_US + (HIST_LINEAR_US - HIST_FINE_US) / HIST_STEP_US)
#define HIST_LOG2_FIRST 9  /* 2^9 us = HIST_LINEAR_US */
#define HIST_LOG2_LAST  25 /* the highest power of two with slots of its own */
#define HIST_SUB_BITS   3  /* 8 slots per power of two */
#define HIST_SLOTS      (HIST_LINEAR_END + ((HIST_LOG2_LAST - HIST_LOG2_FIRST + 1) << HIST_SUB_BITS))

#define HIST_BLOCK_SLOTS 8 /* slots travel in blocks, and empty blocks stay at home */
#define HIST_BLOCKS      (HIST_SLOTS / HIST_BLOCK_SLOTS)

/* BPF has no multiplication that keeps the upper half, so its compiler would divide. Exact, as asserted below. */
#define HIST_US_FACTOR   274877907ULL /* 2^38 / 1000, rounded up */
#define HIST_STEP_FACTOR 205U         /* 2^11 / 10, rounded up */

/* Rounding a factor up adds less than one part of the divisor to the largest dividend. */
_Static_assert((HIST_US_FACTOR * 1000 - (1ULL << 38)) << 32 < 1ULL << 38, "exact below 2^32 ns");
_Static_assert((HIST_STEP_FACTOR * HIST_STEP_US - (1U << 11)) * HIST_LINEAR_US < 1U << 11,
               "exact for all steps");
_Static_assert(HIST_SLOTS == 216, "layout shared with BPF");
_Static_assert(HIST_SLOTS % HIST_BLOCK_SLOTS == 0 && HIST_BLOCKS <= 32, "one bit per block");

/* floor(log2 v) for v > 0. Comparisons only: BPF has no instruction for it. */
static inline __u32 hist_log2(__u64 v)
{
	__u32 log = 0;

	if (v >> 32) {
		v >>= 32;
		log += 32;
	}
	if (v >> 16) {
		v >>= 16;
		log += 16;
	}
	if (v >> 8) {
		v >>= 8;
		log += 8;
	}
	if (v >> 4) {
		v >>= 4;
		log += 4;
	}
	if (v >> 2) {
		v >>= 2;
		log += 2;
	}
	return log + (__u32)(v >> 1);
}

static inline __u64 hist_us(__u64 ns)
{
	return ns >> 32 ? ns / 1000 : ns * HIST_US_FACTOR >> 38;
}

static inline __u32 hist_slot(__u64 ns)
{
	__u64 us = hist_us(ns);
	__u32 log;

	if (us < HIST_FINE_US)
		return (__u32)us;
	if (us < HIST_LINEAR_US)
		return HIST_FINE_US + (((__u32)us - HIST_FINE_US) * HIST_STEP_FACTOR >> 11);
	log = hist_log2(us);
	if (log > HIST_LOG2_LAST)
		return HIST_SLOTS - 1;
	/* The bits below the leading one choose the slot within its power of two. */
	return HIST_LINEAR_END + ((log - HIST_LOG2_FIRST) << HIST_SUB_BITS) +
	       (__u32)((us >> (log - HIST_SUB_BITS)) & ((1U << HIST_SUB_BITS) - 1));
}

/* The extremes of one epoch (the time between two drains); valid while epoch matches. */
struct abi_extremes {
	__u64 min_ns;
	__u64 max_ns;
	__u64 max_at_ns; /* when the maximum ended, boot-time clock */
	__u32 max_cpu;   /* where it ended */
	__u32 epoch;
};

/*
 * Extremes alternate between two places by the parity of the epoch: a reader that has just begun a
 * new epoch finds those of the finished one unchanging.
 */
struct abi_hist {
	__u64 sum_ns;
	struct abi_extremes extremes[2];
	__u32 count;
	__u32 sent_count; /* count when last handed to user space; the reader's own note */
	__u32 blocks; /* bit per block of slots that was ever used; others mean nothing to a reader */
	__u32 pad_;
	__u32 slots[HIST_SLOTS];
};

_Static_assert(sizeof(struct abi_hist) == 952, "layout shared with BPF");
