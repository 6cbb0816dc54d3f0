/*
 * tui/task_sort — the order of tasks by any column.
 *
 * What is unknown comes last whichever way rows are sorted, and ties are in the order of tids: rows stay calm.
 */
#pragma once

#include "tui/task_metrics.h"
#include "tui/view.h"

struct task_entry {
	double key;     /* NAN = unknown, or a text counts */
	uint64_t start; /* of the text, as a number: most texts differ there */
	const char *text;
	const struct machine_task *task;
};

/* by is task_metric_sorted() of the screen; m has the topology. */
struct task_entry task_sort_entry(const struct machine *m, const struct machine_task *t,
                                  const struct task_metric *by);
/* Below 0 if a comes before b; 0 if only the tid decides. */
int task_sort_keys(const struct task_entry *a, const struct task_entry *b, const struct screen *s);
int task_sort_order(const struct task_entry *a, const struct task_entry *b, const struct screen *s);
