/*
 * ledger/divide — the parts of very many waits, added up by who waited and by what had the CPU.
 *
 * A wait of ledger_next_stay() is divided into the segments of its CPU's time, each of which is added to a place of a matrix: a row
 * for who waits, a column for each task and for each kind of what is no task. What has no place there is given as a part. The sums
 * are those of all the parts of ledger_next().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "ledger/ledger.h"

/* A part of a wait by ledger_next_stay(), of the kind LEDGER_STAY. */
struct ledger_stay {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t unit; /* whatever the caller counts by, from 0 on */
	uint16_t cpu;
};

/* Where the time of a task goes whose slice begins then or later. */
struct divide_column {
	uint64_t since_ns; /* UINT64_MAX = all of it is given as parts */
	uint32_t column;
};

/*
 * The columns of all segments of all CPUs, found once: of very many waits each segment is a part of dozens. It never changes, so that
 * several threads may divide by it at once.
 */
struct divide_map;

struct divide {
	/* Filled by the caller, and lent: */
	const struct ledger *l;
	const struct divide_column *columns; /* by task */
	uint32_t kinds; /* the column of LEDGER_UNKNOWN; those of the other kinds follow */
	uint64_t *sums; /* [unit * width + column]; NULL = all is given as parts */
	size_t width;
	uint32_t *touched; /* the places of sums that are not 0 any more; NULL = they are not listed */
	uint32_t nr_touched;
	bool is_urgent_apart; /* tasks with a real-time or deadline priority are given as parts */
	const struct divide_map
		*map; /* made of this one's ledger and columns; NULL = they are found each time */
	int (*part)(void *ctx, uint32_t unit, const struct ledger_part *part);
	void *ctx;
	/* Its own: */
	uint32_t *near; /* by CPU: the segment where the last stay ended */
};

/* Of what is filled by the caller, up to is_urgent_apart. NULL without memory. */
struct divide_map *divide_map_new(const struct divide *d);
void divide_map_free(struct divide_map *m); /* NULL is fine */
DEFINE_SCOPED(divide_map, divide_map_free)
/* -ENOMEM. */
MUST_USE int divide_init(struct divide *d);
void divide_done(struct divide *d); /* a zeroed one is fine */
/* Of stays whose ends are near those of the ones before it is quick. Fails only if part() does. */
MUST_USE int divide_stay(struct divide *d, const struct ledger_stay *stay);
/* Whether a part that a task had was with a real-time or deadline priority. */
bool divide_is_urgent(const struct ledger_part *part);
