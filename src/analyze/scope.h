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
uint64_t scope_cut(const struct scope *sc, uint64_t start_ns, uint64_t end_ns);
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

/* The next row that the scope leaves; false at the end. One walk stays with one table. */
bool rows_slice(struct rows *it, struct pair_slice *out);
bool rows_wait(struct rows *it, struct pair_wait *out);
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
