/*
 * analyze/scope — the part of a source that the arguments of an analysis select, worked out once,
 * and its rows.
 *
 * Rows that overlap the requested time are taken whole; scope_cut() says how much of one lies inside. A moment
 * must lie in it. The CPU of a wait is where the task ran in the end, that of a sleep where it ran before, and
 * a migration belongs to both of its CPUs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/pass.h"
#include "base/attr.h"

enum scope_takes {
	SCOPE_NEVER,
	SCOPE_ALWAYS,
	SCOPE_AT_TIMES, /* while it is in one of the cgroups */
};

struct scope {
	const struct source *s;
	const struct pass_args *args;
	uint64_t from_ns; /* the time asked for, within the source */
	uint64_t to_ns;
	uint64_t span_ns;
	uint64_t covered_ns; /* of that, without holes: what rates divide by */
	uint32_t nr_tasks;   /* indices of tasks are below this */
	uint32_t nr_cpus;
	uint8_t *takes;   /* by task, enum scope_takes; NULL = all */
	uint8_t *cgroups; /* by number: those asked for; NULL = all */
	bool is_all;      /* nothing is left out */
};

/* -ENOMEM, or -ENODATA for cgroups that are unknown, with a sentence. */
MUST_USE int scope_init(struct scope *sc, const struct source *s, const struct pass_args *args,
                        struct diag *d);
void scope_done(struct scope *sc);
/* The same without any filter; args is room for its arguments. To be used as long as sc, and not to be freed. */
struct scope scope_whole(const struct scope *sc, struct pass_args *args);

/* At that time: when a row about it begins. */
bool scope_takes(const struct scope *sc, uint32_t task, uint64_t ts_ns);
/* At any time. */
bool scope_takes_ever(const struct scope *sc, uint32_t task);
bool scope_overlaps(const struct scope *sc, uint64_t start_ns, uint64_t end_ns);
/* How much of [start, end) lies in the time asked for. */
static inline uint64_t scope_cut(const struct scope *sc, uint64_t start_ns, uint64_t end_ns)
{
	if (start_ns < sc->from_ns)
		start_ns = sc->from_ns;
	if (end_ns > sc->to_ns)
		end_ns = sc->to_ns;
	return start_ns < end_ns ? end_ns - start_ns : 0;
}
/* Whether a moment lies in it. */
bool scope_has(const struct scope *sc, uint64_t ts_ns);
/* "pid_filter": what was asked for, or null. */
void scope_report_pid(const struct scope *sc, struct report *r);

#define ROWS_MAX_COLS  13
#define ROWS_MAX_TIMES 3
#define ROWS_BATCH     256

/* A walk over a table, column by column. Zeroed except for the scope, it is at the beginning. */
struct rows {
	const struct scope *sc;
	uint64_t id; /* of the last row + 1; 0 = not begun */
	uint32_t at; /* in the columns at hand */
	uint32_t nr;
	const void *cols[ROWS_MAX_COLS];
	uint64_t times[ROWS_MAX_TIMES][ROWS_BATCH]; /* unpacked, a batch at a time */
};

/* The columns of a table that a walk reads: the first nr_times are times. */
struct row_columns {
	enum timeline_table table;
	uint32_t nr_times;
	uint32_t nr;
	size_t offsets[ROWS_MAX_COLS];
};

extern const struct row_columns rows_of_slices, rows_of_waits;

#define ROWS_U64(it, k) (((const uint64_t *)(it)->cols[k])[(it)->at])
#define ROWS_U32(it, k) (((const uint32_t *)(it)->cols[k])[(it)->at])
#define ROWS_U16(it, k) (((const uint16_t *)(it)->cols[k])[(it)->at])
#define ROWS_U8(it, k)  (((const uint8_t *)(it)->cols[k])[(it)->at])

/* Of the walks below: the columns of the next rows; false behind the last one. */
bool rows_load(struct rows *it, const struct row_columns *c);
/* Whether a scope that leaves something out takes the row. */
bool rows_takes(const struct rows *it, uint32_t task, uint32_t cpu, uint64_t start_ns,
                uint64_t end_ns);

/*
 * The next row that the scope leaves; false at the end. One walk stays with one table. The two that most analyses walk over are here,
 * so that a column is not read where its field is not used.
 */
static inline bool rows_slice(struct rows *it, struct pair_slice *out)
{
	while (++it->at < it->nr || rows_load(it, &rows_of_slices)) {
		*out = (struct pair_slice){
			.start_ns = ROWS_U64(it, 0),
			.end_ns = ROWS_U64(it, 1),
			.task = ROWS_U32(it, 2),
			.cpu = ROWS_U16(it, 3),
			.prio = (int16_t)ROWS_U16(it, 4),
			.end = ROWS_U8(it, 5),
			.policy = ROWS_U8(it, 6),
		};
		if (it->sc->is_all ||
		    rows_takes(it, out->task, out->cpu, out->start_ns, out->end_ns))
			return true;
	}
	return false;
}

static inline bool rows_wait(struct rows *it, struct pair_wait *out)
{
	while (++it->at < it->nr || rows_load(it, &rows_of_waits)) {
		*out = (struct pair_wait){
			.waking_ns = ROWS_U64(it, 0),
			.wakeup_ns = ROWS_U64(it, 1),
			.end_ns = ROWS_U64(it, 2),
			.task = ROWS_U32(it, 3),
			.waker = ROWS_U32(it, 4),
			.waker_cpu = ROWS_U16(it, 5),
			.from_cpu = ROWS_U16(it, 6),
			.cpu = ROWS_U16(it, 7),
			.cause = ROWS_U8(it, 8),
			.flags = ROWS_U8(it, 9),
			.is_open = ROWS_U8(it, 10),
			.by = ROWS_U16(it, 11),
		};
		if (it->sc->is_all ||
		    rows_takes(it, out->task, out->cpu, pair_wait_woken_ns(out), out->end_ns))
			return true;
	}
	return false;
}

bool rows_sleep(struct rows *it, struct pair_sleep *out);
bool rows_wakeup(struct rows *it, struct pair_wakeup *out);
bool rows_migration(struct rows *it, struct pair_migration *out);
bool rows_idle(struct rows *it, struct pair_idle *out);
/* Those of tasks only. */
bool rows_task_gap(struct rows *it, struct pair_gap *out);
/* Those of CPUs only. */
bool rows_cpu_gap(struct rows *it, struct pair_gap *out);
/* The id of the row that came last. */
uint64_t rows_id(const struct rows *it);
