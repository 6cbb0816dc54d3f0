/*
 * model/task_names — the names that tasks have had, and the strings of the whole model. A part of model/tasks, which alone uses it.
 *
 * A task keeps its last TASKS_MAX_NAMES names with their times. Where the dead are forgotten after a while, so are names: a
 * string that no task has had for as long is removed, and its id given to another. Rows and notes that hold the id of a name are
 * older than that, and gone. Strings of other things (task_names_intern()) stay. Bounded; what finds no place is counted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/tasks.h"

struct task_names;

/* keep_ns: as tasks_cfg.keep_dead_ns. -ENOMEM. */
MUST_USE int task_names_new(uint64_t keep_ns, struct task_names **out);
void task_names_free(struct task_names *n); /* NULL is fine */
/* For another thread to read: a copy takes no new strings. -ENOMEM. */
MUST_USE int task_names_copy(const struct task_names *n, struct task_names **out);

/* The task is called so from then on. */
void task_names_set(struct task_names *n, struct task *e, const char *comm, size_t len,
                    uint64_t ts_ns);
void task_names_drop(struct task_names *n, struct task *e, uint64_t ts_ns); /* all of them */
/* Ids of strings: the name at a time, the one of that number, the newest being 0. 0 = none. */
uint32_t task_names_at(const struct task_names *n, const struct task *e, uint64_t ts_ns);
uint32_t task_names_nth(const struct task_names *n, const struct task *e, uint32_t nr);

/* 0 without room. */
uint32_t task_names_intern(struct task_names *n, const char *s, size_t len);
const char *task_names_string(const struct task_names *n, uint32_t id);
uint64_t task_names_no_room(const struct task_names *n); /* names that found no place */
