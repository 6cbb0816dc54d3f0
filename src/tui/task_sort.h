/*
 * tui/task_sort — the order of tasks by any column.
 *
 * What is unknown comes last whichever way rows are sorted, and ties are in the order of tids: rows stay calm.
 */
#pragma once

#include "tui/view.h"

struct task_entry {
	double key;     /* NAN = unknown, or a text counts */
	uint64_t start; /* of the text, as a number: most texts differ there */
	const struct machine_task *task;
};

/* Whether it is measured over an interval, so that it is the same for all quiet tasks (struct machine_order). */
bool task_sort_is_measured(enum view_sort sort);
/* Texts and ids, small to large; all else is more interesting the larger it is. */
bool task_sort_is_ascending(enum view_sort sort);
/* m tells where the CPUs are. */
struct task_entry task_sort_entry(const struct machine *m, const struct machine_task *t,
                                  enum view_sort sort);
/* Below 0 if a comes before b; 0 if only the tid decides. */
int task_sort_keys(const struct task_entry *a, const struct task_entry *b, const struct screen *s);
int task_sort_order(const struct task_entry *a, const struct task_entry *b, const struct screen *s);
/* Of a CPU; NULL = unknown. */
const struct machine_cpu *task_sort_cpu(const struct machine *m, int32_t cpu);
