/*
 * analyze/windows — something counted per key (a CPU) and stretch of time, to say not only that there was much of it,
 * but when.
 *
 * The requested time is cut into windows of equal length, at least WINDOWS_MIN_NS, at most
 * WINDOWS_MAX of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define WINDOWS_MAX    64U
#define WINDOWS_MIN_NS 100000000ULL

struct windows {
	uint64_t from_ns;
	uint64_t span_ns;
	uint64_t window_ns;
	uint32_t nr; /* windows */
	uint32_t nr_keys;
	uint64_t *sums; /* by key, then by window */
};

/* From here to there it was above the limit all the time. */
struct stretch {
	uint64_t from_ns;
	uint64_t to_ns; /* 0 = never */
	double per_second;
};

/* -ENOMEM. */
MUST_USE int windows_init(struct windows *w, uint64_t from_ns, uint64_t span_ns, uint32_t nr_keys);
void windows_done(struct windows *w);
/* One at a moment. */
void windows_count(struct windows *w, uint32_t key, uint64_t ts_ns);
/* The stretch of windows, each above the limit (per second), that has most; false if there is none. */
bool windows_worst(const struct windows *w, uint32_t key, double per_second, struct stretch *out);
/* What all windows within a stretch have. */
uint64_t windows_sum(const struct windows *w, uint32_t key, const struct stretch *in);
