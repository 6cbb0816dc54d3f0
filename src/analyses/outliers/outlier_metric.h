/*
 * analyses/outliers/outlier_metric — one measured thing of many owners (tasks or CPUs), and those of them that lie outside.
 *
 * All numbers of all owners are held against each other; an owner is listed once, with its worst number, and how
 * many of its numbers lie outside.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyses/outliers/outlier_math.h"
#include "analyze/grouped.h"
#include "analyze/scope.h"
#include "analyze/top.h"

struct outlier_metric {
	const char *name; /* wakeup_latency_ns */
	const char *high; /* key of the list of those above */
	const char *low;  /* of those below; NULL = not requested */
	bool is_cpu;      /* owners are CPUs, else tasks */
	double scale;     /* numbers are so many times what is shown; 0 = 1 */
	struct grouped numbers;
	/* Since outlier_metric_judge(): */
	struct samples sorted;
	struct outlier_bounds bounds;
	struct top highs, lows;
	uint64_t nr_high, nr_low; /* owners */
};

/* -ENOMEM. */
MUST_USE int outlier_metric_judge(struct outlier_metric *m, enum outlier_method method,
                                  uint32_t nr_owners, uint32_t limit);
void outlier_metric_done(struct outlier_metric *m);
/* The lists, as members. */
void outlier_metric_report_lists(const struct outlier_metric *m, const struct source *s,
                                 struct report *r);
/* The sizes of the lists before they were cut, as members. */
void outlier_metric_report_counts(const struct outlier_metric *m, struct report *r);
/* The object {total_points, outlier_count, ..., thresholds}. */
void outlier_metric_report_result(const struct outlier_metric *m, struct report *r,
                                  const char *key);
