/*
 * report/task_rows — one row for each thread: how long it ran, how often, how long it waited for a CPU, and its wakeup latency.
 *
 * The numbers are those of process_runtime, blame and wakeup_latency of one thread, with the same keys, put side by side by the
 * thread itself: a tid may have had several owners. The threads that ran longest, then those that waited longest.
 */
#pragma once

#include <stdint.h>

#include "analyze/pass.h"
#include "analyze/report.h"
#include "base/attr.h"

#define TASK_ROWS_LANES 20U

struct task_rows {
	struct report *report; /* {"total_tasks", "tasks": [...]} */
	/* Those worth a lane: half of them by time on CPUs, half by time waited; in the order of the rows. */
	uint32_t lanes[TASK_ROWS_LANES];
	uint32_t nr_lanes;
};

/* At most limit rows. -ENOMEM, or what a filter makes impossible, with a sentence. */
MUST_USE int task_rows_make(struct task_rows *t, const struct source *s,
                            const struct pass_args *args, uint32_t limit, struct diag *d);
void task_rows_done(struct task_rows *t);
