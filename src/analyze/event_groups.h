/*
 * analyze/event_groups — events of one type, put into groups by the values of some fields, and measured.
 *
 * Metrics: "count"; "avg_slice_ns" (prev_slice_ns); "avg_used_slice_ns" (prev_used_slice_ns); "avg_latency_us",
 * "p50_latency", "p95_latency", "p99_latency" and "max_latency" (next_dsq_lat_us); "avg_queue_depth"
 * (next_dsq_nr_queued); any other name is the mean of that field. Each works alone. Events without the field
 * count in the group, not in the metric; a metric without any event is null. Percentiles are the program's own
 * (nearest rank). The time window ends with the newest event and includes both ends.
 *
 * Bounded: events of groups beyond EVENT_GROUPS_MAX are counted as left out. All memory is the caller's arena.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

#define EVENT_GROUPS_MAX     4096U
#define EVENT_GROUPS_METRICS 16U
#define EVENT_GROUPS_FIELDS  8U

struct arena;
struct diag;
struct event_buffer;
struct facts;
struct tasks;

struct event_groups_cfg {
	const char *event_type;  /* NULL = all */
	uint64_t time_window_ms; /* 0 = all that is there */
	const char *const *group_by;
	uint32_t nr_group_by;
	const char *const *metrics;
	uint32_t nr_metrics;
	uint32_t top_n; /* 0 = all */
};

/*
 * "groups", a list of {"group_key", "count", "metrics"}, by count; "events", how many there were, and
 * "left_out". -EINVAL with a diag for too many fields or metrics, or -ENOMEM.
 */
MUST_USE int event_groups_make(const struct event_groups_cfg *cfg, const struct event_buffer *b,
                               const struct tasks *tasks, struct arena *mem, struct diag *d,
                               struct facts **out);
