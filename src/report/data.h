/*
 * report/data — the data behind the figures of a report: sums in buckets of time, detail of single slices and waits, lanes, stacks.
 *
 * Sums of whole buckets are those that `analyze --from --to` reports of the same time and tasks (docs/report-schema.md says which).
 * What is too much for max_bytes is made coarser: buckets are joined, then threads that matter least are folded into entries of
 * their name and cgroup, and detail is kept around the worst waits only; the document says so.
 *
 * Takes up to about 100 bytes of memory for each slice and wait while it is made. One thread; it starts others itself, and waits
 * for them. Never prints.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/pass.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "model/pair.h"

struct ledger;
struct report_data;

struct report_data_cfg {
	const struct source *s;
	const struct pass_args *args;
	struct ledger *ledger;         /* of all of the time, lent; NULL: one is made */
	uint64_t max_bytes;            /* of all packed tables; 0 = by the number of events */
	const struct pair_wait *worst; /* around which detail is kept, the worst first */
	size_t nr_worst;
};

/* Counts of waits of woken and new tasks: by bucket of time in which they begin, and by slot of latency. */
struct report_heat {
	uint32_t nr_buckets;
	uint32_t nr_slots;
	uint64_t first_ns; /* of the first bucket, since the start of the recording */
	uint64_t width_ns;
	const uint64_t *counts;         /* [bucket * nr_slots + slot] */
	const struct hist_range *slots; /* what each slot covers, in ns */
};

/* What a CPU did, by fine bucket. */
struct report_lane_cell {
	uint8_t busy;       /* 255 = all of the time */
	uint8_t unknown;    /* likewise */
	uint16_t depth_max; /* tasks in its queue */
	uint32_t depth_mean_x16;
	uint32_t who; /* that ran most; 0 = none */
};

struct report_lanes {
	uint32_t nr_cpus;
	uint32_t nr_buckets;
	uint64_t first_ns; /* since the start of the recording */
	uint64_t width_ns;
	const struct report_lane_cell *cells; /* [cpu * nr_buckets + bucket] */
};

/*
 * In two steps: the first, for which the first two members of cfg do, needs no ledger and no worst waits, and may be made beside what
 * finds them. -ENOMEM, or what scope_init() says of the arguments.
 */
MUST_USE int report_data_begin(const struct report_data_cfg *cfg, struct diag *d,
                               struct report_data **out);
MUST_USE int report_data_make(struct report_data *r, const struct report_data_cfg *cfg,
                              struct diag *d);
void report_data_free(struct report_data *r); /* NULL is fine */
DEFINE_SCOPED(report_data, report_data_free)

/* Members of the document, into the object that is open: time, buckets, fine, cpus, who, wakers, causes, slots, bands, detail, ... */
void report_data_document(const struct report_data *r, struct json_writer *w);
/* All <script id="table-..."> elements. -EIO. */
MUST_USE int report_data_write(const struct report_data *r, FILE *out);

/* Lent, for pictures without scripts; heat is NULL where no task waited, lanes where nothing ran. */
const struct report_heat *report_data_heat(const struct report_data *r);
const struct report_lanes *report_data_lanes(const struct report_data *r);
