/*
 * report/gather — slices and waits become cells: who ran, who waited and how long, who woke whom, and what waits went to.
 *
 * The rows are divided into parts that follow each other in time, and each part is walked once, with tables of its own
 * (report/gather_rows), so that several are made at once. In each part the stays of its waits in the queues of CPUs are then
 * divided among the tasks that ran there (report/gather_blame). In the end the tables of the parts are joined; as rows are in the
 * order of their ends, parts have few buckets in common.
 */
#pragma once

#include <stdint.h>

#include "analyze/scope.h"
#include "base/attr.h"
#include "ledger/divide.h"
#include "ledger/ledger.h"
#include "report/axis.h"
#include "report/slots.h"
#include "report/tables.h"
#include "report/who.h"

#define GATHER_PARTS 8U

/* Rows of one table: from the first id up to, and without, the end. */
struct gather_rows {
	uint64_t first, end;
};

/* Of a wait in the queue of a CPU, cut to the time asked for and to a bucket. */
struct gather_stay {
	uint64_t start_ns, end_ns;
	uint32_t unit; /* that of a pair */
	uint16_t cpu;
	uint16_t bucket;
};

struct gather;
struct gather_plan;

/* Some rows, and what becomes of them. */
struct gather_part {
	const struct gather *g;
	const struct gather_plan *plan; /* of blame; NULL = none */
	struct gather_rows slices, waits;
	struct tables tables; /* until they are joined */
	struct gather_stay *stays;
	size_t nr, room;
	uint32_t *units; /* by raw number of who and band: 1 + the unit */
	struct gather_unit {
		uint32_t who;
		uint8_t band;
	} * pairs; /* by unit */
	uint32_t nr_pairs, room_pairs;
	uint8_t is_used[HIST_SLOTS]; /* slots of latency */
	int err;
};

struct gather {
	const struct scope *sc;
	struct report_axis axis;
	struct report_slots slots;
	struct who *who;
	struct tables *tables;
	struct ledger *ledger;            /* NULL = no blame */
	uint64_t max_cells;               /* of one table */
	struct gather_rows slices, waits; /* that count */
	struct gather_part parts[GATHER_PARTS];
};

/* What each raw number ran and waited, as scores of who, and which interrupts woke tasks. -ENOMEM. */
MUST_USE int gather_scores(struct who *w, const struct scope *sc);
/* All rows of a table. */
struct gather_rows gather_every(const struct source *s, enum timeline_table table);
/* The rows that end in a time. */
struct gather_rows gather_find(const struct source *s, enum timeline_table table, uint64_t from_ns,
                               uint64_t to_ns);
/* The interrupts that woke the tasks of these rows are known to who afterwards. -ENOMEM. */
MUST_USE int gather_wakers(struct gather *g);
/*
 * Slices, waits and blame, with several threads unless it is about few. All interrupts of their wakers must be known. Others may
 * gather at the same time, for the same who. -ENOMEM, -E2BIG.
 */
MUST_USE int gather_all(struct gather *g, bool is_parallel);

/* Of gather_all(): the rows of one part become its cells, and its stays. */
MUST_USE int gather_part_rows(struct gather_part *part);
/* Its stays become cells of blame. */
MUST_USE int gather_part_blame(struct gather_part *part);
/* What the parts share; NULL in *out without a ledger. is_mapped: of all of the time, so that columns of segments are found once. */
MUST_USE int gather_plan_new(const struct gather *g, bool is_mapped, struct gather_plan **out);
void gather_plan_free(struct gather_plan *p); /* NULL is fine */

void gather_done(struct gather *g);
