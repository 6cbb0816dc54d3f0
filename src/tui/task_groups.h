/*
 * tui/task_groups — processes added up by name or by cgroup, or as a tree, as rows of the same kind.
 *
 * Of a group: shares, rates, memory and threads are sums, STALLED is the longest, percentiles are those of its worst process, for they
 * cannot be added up; its number is that of its first process, its class and cgroup what all of them share. A tree has each
 * process below its parent, siblings in the order of the screen. Only processes that the filter leaves are in there.
 *
 * Rows are made once per refresh and lent until the next call. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "machine/machine.h"
#include "tui/task_filter.h"
#include "tui/view.h"

struct task_groups;

MUST_USE int task_groups_new(struct task_groups **out); /* 0 or -ENOMEM */
void task_groups_free(struct task_groups *g);           /* NULL is fine */
/* By screen.by, which is not TASKS_BY_PROCESS. -ENOMEM. */
MUST_USE int task_groups_make(struct task_groups *g, const struct machine *m,
                              const struct screen *s, const struct task_filter *filter,
                              const struct machine_task **out, size_t *nr);
/* Of the rows that were made last: the name or cgroup of the group with that number; NULL = none. */
const char *task_groups_key(const struct task_groups *g, uint32_t tid);
