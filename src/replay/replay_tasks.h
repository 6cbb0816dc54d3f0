/*
 * replay/replay_tasks — the threads and processes of a recording in one cell, as rows for a screen.
 *
 * Threads are those that were seen by the end of the cell and had not exited before it; one that exited in it has the state
 * X. Processes are sums of their threads, with those that ended. A thread whose process is unknown is one of its own. Rows
 * are lent until the next refresh. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "machine/machine.h"
#include "replay/replay_scx.h"
#include "replay/replay_sums.h"

struct replay_tasks;
struct trace_info;

struct replay_tasks_cfg {
	const struct scope *scope;     /* all lent: of the whole recording */
	const struct units *processes; /* of that */
	const struct trace_info *info; /* NULL = nothing more is known */
	const struct replay_scx *scx;
};

MUST_USE int replay_tasks_new(const struct replay_tasks_cfg *cfg, struct replay_tasks **out);
void replay_tasks_free(struct replay_tasks *t); /* NULL is fine */

/* A row to add what others know, and its task; NULL = there is none. */
struct machine_task *replay_tasks_thread(struct replay_tasks *t, uint32_t tid, uint32_t *task);
/* The same of a process, with all tasks that it ever had, lent until the next call; NULL also without memory. */
struct machine_task *replay_tasks_process(struct replay_tasks *t, uint32_t tgid,
                                          const uint32_t **tasks, size_t *nr);
/* sums are those of the cell. -ENOMEM. */
MUST_USE int replay_tasks_refresh(struct replay_tasks *t, const struct replay_cell *c,
                                  const struct replay_sums *sums);
const struct machine_task *replay_tasks_threads(const struct replay_tasks *t, size_t *nr);
const struct machine_task *replay_tasks_processes(const struct replay_tasks *t, size_t *nr);
