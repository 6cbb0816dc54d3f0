/*
 * report/axis — the time of a report in buckets of one width.
 *
 * A bucket begins where the one before it ends; the first begins with the time asked for, the last one holds its end. The width
 * is 1, 2 or 5 times a power of ten, doubled a few times, so that edges can be written after --from and --to.
 * What begins before the first bucket counts as begun in it.
 */
#pragma once

#include <stdint.h>

struct report_axis {
	uint64_t from_ns; /* times of the trace */
	uint64_t to_ns;   /* of what was asked for; the last bucket may end later */
	uint64_t width_ns;
	uint32_t nr;
};

/* At most that many buckets, at least one. */
struct report_axis axis_make(uint64_t from_ns, uint64_t to_ns, uint32_t max_nr);
/* Two buckets become one. */
void axis_halve(struct report_axis *a);
/* Both are here because every row of a report asks for them. */
static inline uint32_t axis_at(const struct report_axis *a, uint64_t ts_ns)
{
	uint64_t bucket = ts_ns > a->from_ns ? (ts_ns - a->from_ns) / a->width_ns : 0;

	return bucket < a->nr ? (uint32_t)bucket : a->nr - 1;
}

/* Where a bucket begins. */
static inline uint64_t axis_edge(const struct report_axis *a, uint32_t bucket)
{
	return a->from_ns + bucket * a->width_ns;
}
