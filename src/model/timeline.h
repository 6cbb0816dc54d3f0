/*
 * model/timeline — the rows of model/pair, kept as columns, found by CPU, by task and by time.
 *
 * Rows have ids that count up per table and never change. Columns grow in chunks of TIMELINE_CHUNK_ROWS; times
 * within a second or so of their chunk take four bytes, others twelve.
 * Without a window all rows are kept up to the cap, later ones are dropped and counted. With a window, rows
 * that ended longer ago than that are forgotten chunk by chunk, and the cap shortens the window: the oldest chunk
 * of any table goes first, so that the tables cover the same time, timeline_whole_from_ns(). A window needs
 * tasks that remember their dead for at least as long (tasks_cfg.keep_dead_ns), as rows hold their indices.
 *
 * A snapshot is a timeline of its own, made in the time that it takes to count chunks: it shares the full chunks, which
 * never change, and copies the last one of each table. It may be read, and freed, on another thread than the one that adds rows.
 *
 * One thread each. Pure: no I/O, no clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "model/pair.h"

#define TIMELINE_CHUNK_ROWS 4096U
#define TIMELINE_ANY_CPU    UINT32_MAX

struct budget;
struct timeline;
struct timeline_list;

/* Each holds the struct pair_* of its name. */
enum timeline_table {
	TIMELINE_SLICE,
	TIMELINE_WAIT,
	TIMELINE_SLEEP,
	TIMELINE_WAKEUP,
	TIMELINE_MIGRATION,
	TIMELINE_SPAN,
	TIMELINE_COUNTER,
	TIMELINE_MARK,
	TIMELINE_IDLE,
	TIMELINE_GAP,
	TIMELINE_DSQ,
	TIMELINE_RUN,
	TIMELINE_PMU,
	TIMELINE_THROTTLE,
	TIMELINE_STEAL,
	TIMELINE_TABLES,
};

#define TIMELINE_BIT(name) (1U << TIMELINE_##name)
#define TIMELINE_ALL       ((1U << TIMELINE_TABLES) - 1)

union timeline_row {
	struct pair_slice slice;
	struct pair_wait wait;
	struct pair_sleep sleep;
	struct pair_wakeup wakeup;
	struct pair_migration migration;
	struct pair_span span;
	struct pair_counter counter;
	struct pair_mark mark;
	struct pair_idle idle;
	struct pair_gap gap;
	struct pair_dsq dsq;
	struct pair_run run;
	struct pair_pmu pmu;
	struct pair_throttle throttle;
	struct pair_steal steal;
};

struct timeline_cfg {
	size_t cap_bytes;   /* of all columns; 0 picks 1 GiB */
	uint64_t window_ns; /* 0 = keep all */
	uint32_t tables;    /* bit per table that is wanted; 0 = all */
	struct budget
		*budget; /* of all chunks, those that only snapshots still hold too; NULL = none */
};

struct timeline_loss {
	uint64_t dropped; /* rows that found no room */
	uint64_t cut;     /* rows forgotten before their time */
};

MUST_USE int timeline_new(const struct timeline_cfg *cfg, struct timeline **out);
void timeline_free(struct timeline *t); /* NULL is fine */
DEFINE_SCOPED(timeline, timeline_free)
/* To be given to pair_add_out(). */
struct pair_out timeline_out(struct timeline *t);

/* Ids of the rows that are there: from first up to, and without, end. */
uint64_t timeline_first(const struct timeline *t, enum timeline_table table);
uint64_t timeline_end(const struct timeline *t, enum timeline_table table);
/* False for an id that is not there (any more). */
bool timeline_row(const struct timeline *t, enum timeline_table table, uint64_t id,
                  union timeline_row *out);
/*
 * The column of a field, by its offset in the struct, from row id on; *nr is how many rows of it lie there.
 * NULL for an id that is not there or an offset that is not a field, or is a time: times are packed. Valid
 * until the next record.
 */
const void *timeline_column(const struct timeline *t, enum timeline_table table, size_t offset,
                            uint64_t id, uint32_t *nr);
/* Copies up to max of the times of a field (start_ns, ...), from row id on; how many. */
uint32_t timeline_times(const struct timeline *t, enum timeline_table table, size_t offset,
                        uint64_t id, uint64_t *out, uint32_t max);
size_t timeline_bytes(const struct timeline *t); /* of columns and indexes */
void timeline_loss(const struct timeline *t, struct timeline_loss *out);

/* Time has passed: what is older than the window is forgotten, also in tables that get no rows. */
void timeline_advance(struct timeline *t, uint64_t now_ns);
/* Which tables are wanted from now on, none for 0; the rows of others are forgotten. */
void timeline_want(struct timeline *t, uint32_t tables);
/* From then on no row was forgotten before its time; 0 = none ever was. */
uint64_t timeline_whole_from_ns(const struct timeline *t);
/* Its rows, as they are now, without a window; more can be added. -ENOMEM. */
MUST_USE int timeline_snapshot(const struct timeline *t, struct timeline **out);

struct timeline_query {
	enum timeline_table table;
	uint32_t task; /* TASKS_NONE = any */
	uint32_t cpu;  /* TIMELINE_ANY_CPU = any */
	/* Rows that overlap [from_ns, to_ns); a moment must lie in it. */
	uint64_t from_ns;
	uint64_t to_ns;
};

/* Filled by timeline_find(); valid until the next record. */
struct timeline_iter {
	const struct timeline *t;
	struct timeline_query q;
	const struct timeline_list *list; /* of the parts of an index; NULL: the table itself */
	uint32_t key, part;
	const uint32_t *order; /* of the part: ids minus first */
	uint64_t first;
	uint64_t at;
	uint64_t end;
};

/*
 * Rows in the order of their ends. Indexes by task and CPU are made at the first question after a record; with a window, a
 * snapshot takes over what was built for those before it. -ENOMEM.
 */
MUST_USE int timeline_find(struct timeline *t, const struct timeline_query *q,
                           struct timeline_iter *out);
/*
 * Builds one index now: of a table, by task or by CPU. Different ones may be built at the same time. -ENOMEM.
 */
MUST_USE int timeline_index(struct timeline *t, enum timeline_table table, bool is_by_task);
/*
 * While frozen nothing is built, so that several threads may query at once: a query that needs a
 * missing index returns -ENOTSUP. No record may come meanwhile.
 */
void timeline_freeze(struct timeline *t, bool is_frozen);
/* False at the end. id and row may be NULL. */
bool timeline_next(struct timeline_iter *it, uint64_t *id, union timeline_row *row);
