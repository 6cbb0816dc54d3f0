/*
 * replay/replay_cell — a recording's time, cut into intervals of one length: cells.
 *
 * The last cell may be shorter. A moment belongs to the cell in which it lies, one between two cells to the later, the end
 * of the recording to the last. What lasts counts in each cell for its part there, and as a whole where it ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/timeline_moment.h"

struct replay_grid {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t interval_ns; /* not 0 */
};

struct replay_cell {
	uint64_t from_ns;
	uint64_t to_ns;
	bool is_last;
};

uint64_t replay_grid_nr(const struct replay_grid *g); /* at least 1 */
/* The cell of that number, which must be below nr. */
struct replay_cell replay_grid_cell(const struct replay_grid *g, uint64_t number);
/* The number of the cell that ends at a position, or the first that ends later. */
uint64_t replay_grid_find(const struct replay_grid *g, uint64_t position_ns);

bool replay_cell_has(const struct replay_cell *c, uint64_t ts_ns);
/* How much of [start, end) lies in it. */
uint64_t replay_cell_cut(const struct replay_cell *c, uint64_t start_ns, uint64_t end_ns);
double replay_cell_seconds(const struct replay_cell *c);
/* Its last moment, which decides what is running. */
uint64_t replay_cell_moment(const struct replay_cell *c);
/*
 * A query for rows that are in it for a while, or end in it; task TASKS_NONE = of any task. It
 * includes a row of no length that ends just before it: check with replay_cell_has().
 */
struct timeline_query replay_cell_query(const struct replay_cell *c, enum timeline_table table,
                                        uint32_t task);
/* Rows that end in it. */
struct timeline_ended replay_cell_ended(const struct replay_cell *c, const struct timeline *t,
                                        enum timeline_table table);
