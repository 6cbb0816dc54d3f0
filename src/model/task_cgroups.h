/*
 * model/task_cgroups — which cgroup each task was in, and when that changed. A part of model/tasks, which alone uses it.
 *
 * Cgroups are numbers from 1 on, in the order in which they were mentioned; 0 = unknown. What is said of a tid that has no
 * entry yet is kept for the entry that it will get, as recorders mention all tasks, also those that never do anything.
 * Bounded: what does not fit is dropped and counted, and the task's cgroup is unknown from then on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define TASK_CGROUPS_MAX 131072U /* as many as a recorder lists */

struct task_cgroups;

MUST_USE int task_cgroups_new(struct task_cgroups **out);
void task_cgroups_free(struct task_cgroups *c); /* NULL is fine */
/* To be read; what is kept for later entries is not part of it. -ENOMEM. */
MUST_USE int task_cgroups_copy(const struct task_cgroups *c, struct task_cgroups **out);

/* The number of the cgroup that the kernel knows by that id; 0 without room. */
uint32_t task_cgroups_of_id(struct task_cgroups *c, uint64_t id);
uint64_t task_cgroups_id(const struct task_cgroups *c, uint32_t cgroup);
/* The cgroups of a task, the newest first: since when it was in the nr-th; false for one that it does not have. */
bool task_cgroups_stay(const struct task_cgroups *c, uint32_t task, uint32_t nr, uint32_t *cgroup,
                       uint64_t *from_ns);
/* Its path, a string of model/tasks; 0 = unknown. */
void task_cgroups_set_path(struct task_cgroups *c, uint32_t cgroup, uint32_t path);
uint32_t task_cgroups_path(const struct task_cgroups *c, uint32_t cgroup);
uint32_t task_cgroups_nr(const struct task_cgroups *c); /* numbers are at most this */

/* An entry begins: it has what is kept for its tid. */
void task_cgroups_begin(struct task_cgroups *c, uint32_t task, uint32_t tid, uint64_t ts_ns);
/* An entry is forgotten. */
void task_cgroups_drop(struct task_cgroups *c, uint32_t task);
/* From then on; 0 = it is no longer known. */
void task_cgroups_set(struct task_cgroups *c, uint32_t task, uint32_t cgroup, uint64_t ts_ns);
/* The same of a tid that has no entry. */
void task_cgroups_keep(struct task_cgroups *c, uint32_t tid, uint32_t cgroup);
/* What is kept for a tid, which is forgotten. */
uint32_t task_cgroups_take(struct task_cgroups *c, uint32_t tid);
void task_cgroups_forget_kept(struct task_cgroups *c);

/* 0 before the first word about it. */
uint32_t task_cgroups_at(const struct task_cgroups *c, uint32_t task, uint64_t ts_ns);
uint32_t task_cgroups_now(const struct task_cgroups *c, uint32_t task);
uint64_t task_cgroups_dropped(const struct task_cgroups *c);
