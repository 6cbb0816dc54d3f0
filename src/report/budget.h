/*
 * report/budget — how much room the tables of a report have, and how they are made to fit: buckets are joined, bands of latency
 * widened, threads folded.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "report/slots.h"

struct report_data;

struct budget_plan {
	uint32_t max_buckets;
	uint64_t max_cells; /* of one table, while counting */
	enum report_bands bands;
	size_t step; /* how coarse it is */
};

/* Of all packed tables, for a recording of so many events. */
uint64_t budget_bytes(uint64_t nr_events);
/* The finest that will fit, by what a few buckets come to; folds threads. -ENOMEM. */
MUST_USE int budget_choose(struct report_data *r, struct budget_plan *out);
/* Coarser, until what was counted by the plan fits. -ENOMEM. */
MUST_USE int budget_fit(struct report_data *r, const struct budget_plan *plan);
/* Bytes for single slices and waits: what is left. */
uint64_t budget_detail(const struct report_data *r);
/* Cells of all lanes together. */
uint32_t budget_lanes(const struct report_data *r);
