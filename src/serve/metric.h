/*
 * serve/metric — the one table of metrics: names, types, labels, what each means and where it comes from.
 *
 * Everything that shows a metric takes its words from here: the three formats, docs/metrics.md (metric_write_docs()) and
 * the tests. Names of counters end with _total, those of times with _seconds. No metric has a label whose values are
 * thread or process ids.
 */
#pragma once

#include <stdio.h>

#include "base/attr.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

enum metric_id {
	METRIC_BUILD,
	METRIC_START_TIME,
	METRIC_RELOADS,
	METRIC_UNMEASURED,
	METRIC_SCHED_DELAY,
	METRIC_WAKING_DELAY,
	METRIC_SLICE,
	METRIC_SLEEP,
	METRIC_CPU_IDLE,
	METRIC_RUNQUEUE_DEPTH,
	METRIC_MIGRATIONS,
	METRIC_CGROUP_DELAY,
	METRIC_CGROUP_RUN,
	METRIC_THROTTLED,
	METRIC_THROTTLED_PERIODS,
	METRIC_CGROUPS_SEEN,
	METRIC_CGROUPS_FORGOTTEN,
	METRIC_CGROUPS_MERGED,
	METRIC_BLAME,
	METRIC_BLAME_MERGED,
	METRIC_BLAME_COVERED,
	METRIC_WASTED_IDLE,
	METRIC_DSQ_LATENCY,
	METRIC_SCX_ENABLED,
	METRIC_SCX_SCHEDULER,
	METRIC_SCX_ENABLES,
	METRIC_SCX_REJECTED,
	METRIC_EVENTS,
	METRIC_LOST_EVENTS,
	METRIC_FLIGHT_DUMPS,
	METRIC_FLIGHT_KEPT,
	METRIC_PARQUET_FILES,
	METRIC_PARQUET_FAILURES,
	METRIC_PARQUET_WRITTEN,
	METRIC_OWN_CPU,
	METRIC_OWN_MEMORY,
	METRIC_REPLAY_POSITION,
	METRICS,
};

struct metric {
	const char *name; /* as in the classic text */
	enum metric_type type;
	const char *unit;   /* "seconds", "bytes", or "" */
	const char *labels; /* "victim, culprit"; "" = none */
	const char *help;   /* one line, for the formats */
	const char *definition;
	const char *from; /* who counts it, and when it is there */
};

extern const struct metric metrics[METRICS];

const char *metric_type_name(enum metric_type type); /* as in the classic text */
/* docs/metrics.md. 0 or -EIO. */
MUST_USE int metric_write_docs(FILE *out);
