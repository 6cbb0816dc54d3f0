/*
 * replay/replay_zoom — one thread of a recording in detail, in one cell: its waits, what it waited
 * for, what wakes it.
 *
 * Waits are those that ended in the cell, by the definitions of replay/replay_sums. It waited for
 * the tasks that held the CPU on which it finally ran, wherever it began to wait: the times of
 * rivals add up to the waits. Lent until the next refresh. One thread.
 */
#pragma once

#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "machine/machine_zoom.h"
#include "replay/replay_cell.h"

struct replay_zoom;

MUST_USE int replay_zoom_new(const struct source *s, struct replay_zoom **out); /* -ENOMEM */
void replay_zoom_free(struct replay_zoom *z);                                   /* NULL is fine */
/* row is that of the task, lent. -ENOMEM. */
MUST_USE int replay_zoom_refresh(struct replay_zoom *z, const struct replay_cell *c, uint32_t task,
                                 const struct machine_task *row, const struct machine_zoom **out);
