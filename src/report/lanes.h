/*
 * report/lanes — what each CPU did, in fine buckets: how much of the time it was busy or unknown, how many tasks were in its queue,
 * and who ran most.
 *
 * Made from the track of each CPU in a ledger, and from stays in queues. As many buckets as fit, for all CPUs together, into
 * LANES_MAX_CELLS.
 */
#pragma once

#include "base/attr.h"
#include "report/data.h"
#include "report/gather.h"
#include "report/pack.h"

struct lanes {
	struct report_axis axis;
	struct report_lanes view;
	struct report_lane_cell *cells; /* who is a raw number until lanes_number() */
};

/* max_cells: of all CPUs. -ENOMEM. */
MUST_USE int lanes_make(struct lanes *l, const struct gather *g, uint32_t max_cells);
/* Marks the raw numbers that it uses. */
void lanes_mark(const struct lanes *l, const struct who *w, uint8_t *is_used);
/* Gives them the numbers of the report. */
void lanes_number(struct lanes *l, const struct who *w);
/* -ENOMEM. */
MUST_USE int lanes_pack(const struct lanes *l, struct pack *out);
void lanes_done(struct lanes *l);
