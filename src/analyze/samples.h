/*
 * analyze/samples — durations collected by an analysis, and what they come to.
 *
 * Exact: all values are kept, sorted once. Percentiles are those of base/hist: nearest rank.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report.h"
#include "base/attr.h"

struct samples {
	uint64_t *values;
	size_t nr;
	size_t capacity;
	bool is_sorted;
	bool has_failed; /* without memory; such samples are incomplete */
};

/* A zeroed struct is empty. */
void samples_add(struct samples *s, uint64_t value);
void samples_done(struct samples *s);

uint64_t samples_sum(const struct samples *s);
double samples_mean(const struct samples *s); /* 0 when empty */
/* p10000 as in base/hist: HIST_P(99.9). Sorts. 0 when empty: ask nr first. */
uint64_t samples_percentile(struct samples *s, uint32_t p10000);

/*
 * Members min, max, avg, p50, p95, p99, p999 with the suffix behind each ("_latency_ns" makes min_latency_ns);
 * null each when there is no sample.
 */
void samples_report(struct samples *s, struct report *r, const char *suffix);
/*
 * An array under key with rows {at_least_ns, below_ns, count}: ranges 1, 2, 5, 10, 20, ... from the one with the smallest
 * sample to the one with the largest. Small ones share the first row where there would be more than a screen holds.
 */
void samples_report_histogram(const struct samples *s, struct report *r, const char *key);
/* An object {count, min, max, mean, median, p95, p99, p999} under key; null when there is no sample. */
void samples_report_object(struct samples *s, struct report *r, const char *key);
