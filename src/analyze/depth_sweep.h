/*
 * analyze/depth_sweep — how many of a set of intervals cover each moment: how long how many, the most, and when.
 *
 * Intervals come as changes: the time times 2, and 1 more for one that begins. So in ascending order what ends
 * comes before what begins at the same moment, and nothing counts twice. Pure.
 */
#pragma once

#include <stdint.h>

#include "analyze/samples.h"

/* Room for the time spent at each depth, all 0, up to the highest that can be; all 0 again afterwards. */
struct depth_times {
	uint64_t *at_ns;
	uint32_t most;
};

struct depth_found {
	uint64_t sum; /* depth times time */
	uint32_t max;
	uint32_t p99; /* smallest depth that is not exceeded for 99 % of the time */
	uint64_t max_at;
};

/*
 * Slices and the ends of waits, sorted into others, which has room for both. Nearly every slice begins when a
 * wait for the same CPU ends: that changes nothing, and both are left out.
 */
struct samples depth_join(const struct samples *slices, const struct samples *ended,
                          uint64_t *others);
/* Over the time from 0 to span. Sorts both lists. */
void depth_sweep(const struct samples *begun, const struct samples *others, uint64_t span,
                 const struct depth_times *times, struct depth_found *out);
