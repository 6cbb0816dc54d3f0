/*
 * replay/replay_past — how busy CPUs were, and how long woken tasks waited, in the cells before a position.
 *
 * Cells are worked out when they are first seen and remembered as long as they lie within MACHINE_HISTORY of the position;
 * a refresh goes back from the newest one until it has read a number of rows: after a far jump the history grows for some
 * refreshes. Playing costs one cell per refresh. The result is lent until the next refresh. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "machine/machine.h"
#include "replay/replay_cell.h"

struct replay_past;

MUST_USE int replay_past_new(const struct source *s, uint32_t nr_cpus, struct replay_past **out);
void replay_past_free(struct replay_past *p); /* NULL is fine */

/* Up to the cell of that number. */
void replay_past_refresh(struct replay_past *p, const struct replay_grid *g, uint64_t number);
bool replay_past_is_whole(const struct replay_past *p); /* complete at this position */
struct machine_history replay_past_busy(const struct replay_past *p, uint32_t cpu);
/* How many tasks waited for it, the mean of each cell; to run there in the end. */
struct machine_history replay_past_waiting(const struct replay_past *p, uint32_t cpu);
struct machine_heat replay_past_heat(const struct replay_past *p);
#define REPLAY_PAST_RUNS 2U /* that can be lent at a time */
/* What tasks ran together, of one CPU, since the first of them was seen. Lent until that one of the runs is asked for again. */
struct machine_history replay_past_run(struct replay_past *p, uint32_t which, const uint32_t *tasks,
                                       size_t nr_tasks);
