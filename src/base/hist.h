/*
 * base/hist — duration histograms in user space, and the one percentile function of the program.
 *
 * The slots are those of abi/hist.h with 64-bit counters. Everything is in nanoseconds. A histogram is
 * a plain value: zero-initialised it is empty; nothing here allocates or fails.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/hist.h"

struct hist {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* meaningful when count > 0 */
	uint64_t max_ns;
	uint64_t max_at_ns; /* boot time at which the longest one ended; 0 = unknown */
	uint32_t max_cpu;
	uint64_t slots[HIST_SLOTS];
};

/* First and last value, both included, that fall into one slot. */
struct hist_range {
	uint64_t first;
	uint64_t last;
};

/* Any histogram, for percentiles: its counters, what each slot covers, and how far values reach. */
struct hist_view {
	const uint64_t *slots;
	uint32_t nr_slots;
	struct hist_range (*range)(uint32_t slot);
	uint64_t min; /* 0 when unknown */
	uint64_t max; /* UINT64_MAX when unknown */
};

#define HIST_P(percent) ((uint32_t)((percent)*10000 / 100.0 + 0.5)) /* 99.9 -> 9990 */

struct hist_range hist_slot_range(uint32_t slot); /* in ns */

void hist_add(struct hist *h, uint64_t ns, uint64_t at_ns, uint32_t cpu);
void hist_merge(struct hist *into, const struct hist *from);
double hist_mean_ns(const struct hist *h); /* 0 when empty */

/* Number of the element that is the percentile of n sorted ones: ceil(p * n), at least 1. */
uint64_t percentile_rank(uint64_t n, uint32_t p10000);

/*
 * Nearest rank, interpolated inside its slot, never outside [min, max]. p10000 is the percentile times
 * 100 (5000 is the median). False, and *out untouched, when the histogram is empty.
 */
bool hist_view_percentile(const struct hist_view *v, uint32_t p10000, uint64_t *out);

/* The same for our own slots; 0 when empty. */
uint64_t hist_percentile_ns(const struct hist *h, uint32_t p10000);

/* Element of a sorted array that is the percentile; n > 0. */
uint64_t percentile_of_sorted(const uint64_t *sorted, uint64_t n, uint32_t p10000);
