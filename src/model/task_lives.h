/*
 * model/task_lives — who had a tid at a moment: the entries of model/tasks, in order of tid and birth.
 *
 * For recordings, whose tasks are all remembered. Built once, after the last record; later changes are not seen.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "model/tasks.h"

struct task_lives;

/* -ENOMEM. */
MUST_USE int task_lives_new(const struct tasks *tasks, struct task_lives **out);
void task_lives_free(struct task_lives *l); /* NULL is fine */

/* The last one created by then; before all of them the first one. TASKS_NONE for an unused tid. */
uint32_t task_lives_at(const struct task_lives *l, uint32_t tid, uint64_t ts_ns);
