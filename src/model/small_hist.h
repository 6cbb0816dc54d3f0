/*
 * model/small_hist — a histogram of durations in 560 bytes, for where there are thousands of them.
 *
 * Four slots per power of two, up to 2^36 ns (69 s); longer ones count in the last. Extremes and sums are the
 * owner's business. A plain value: zero-initialised it is empty.
 */
#pragma once

#include <stdint.h>

#define SMALL_HIST_SLOTS 140

struct small_hist {
	uint32_t slots[SMALL_HIST_SLOTS];
};

void small_hist_add(struct small_hist *h, uint64_t ns);
/* As hist_percentile_ns(), between the known extremes; 0 when empty. */
uint64_t small_hist_percentile_ns(const struct small_hist *h, uint32_t p10000, uint64_t min_ns,
                                  uint64_t max_ns);
