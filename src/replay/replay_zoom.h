/*
 * session/replay_zoom — one thread of a recording, closely, in one cell: its waits, whom it waited for, who wakes it.
 *
 * Waits are those that ended in the cell, by the definitions of session/replay_sums. Whom it waited for is who held the CPU on
 * which it came to run in the end, wherever it began to wait: the times of rivals add up to the waits. Lent until the next
 * look. One thread.
 */
#pragma once

#include <stdint.h>

#include "analyze/machine_zoom.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "session/replay_cell.h"

struct replay_zoom;

MUST_USE int replay_zoom_new(const struct source *s, struct replay_zoom **out); /* -ENOMEM */
void replay_zoom_free(struct replay_zoom *z);                                   /* NULL is fine */
/* row is that of the task, lent. -ENOMEM. */
MUST_USE int replay_zoom_look(struct replay_zoom *z, const struct replay_cell *c, uint32_t task,
                              const struct machine_task *row, const struct machine_zoom **out);
