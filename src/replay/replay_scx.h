/*
 * replay/replay_scx — sched_ext in one cell of a recording: which scheduler, its dispatch queues,
 * which task was dispatched from which.
 *
 * A queue is listed in the cells in which a task left it or waits in it. Its latency is from
 * insertion to leaving, of the tasks that left in the cell; its depth follows from the waits whose
 * beginning is known. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "machine/machine.h"
#include "replay/replay_cell.h"

struct replay_scx;

MUST_USE int replay_scx_new(const struct source *s, struct replay_scx **out); /* -ENOMEM */
void replay_scx_free(struct replay_scx *x);                                   /* NULL is fine */

/* "enabled", "disabled"; NULL = the recording knows nothing of sched_ext. name: of the scheduler, NULL = none, ? = some. */
const char *replay_scx_state(const struct replay_scx *x, uint64_t ts_ns, const char **name);
/* Lent until the next call. -ENOMEM. */
MUST_USE int replay_scx_queues(struct replay_scx *x, const struct replay_cell *c,
                               const struct machine_dsq **out, size_t *nr);
/* What sched_ext said last of a task by then, at a switch or as it left a queue; false = nothing. */
bool replay_scx_of_task(const struct replay_scx *x, uint32_t task, uint64_t ts_ns,
                        struct pair_run *out);
