/*
 * sql/sql_table — a recording as tables: their columns with type and meaning, and how each value is read.
 *
 * One list says all of it: the tables that SQL sees, the help and docs/sql.md follow from it, and so can a file that has the
 * same tables. Nothing here knows SQLite. Rows are those of the timeline and of the lists beside it, read where they are; nothing is
 * copied. Times and durations are nanoseconds on the trace's clock. Unknown is null, never 0.
 *
 * utid is the number of a task (one life of a thread), upid that of a process, as in Perfetto: both count from 1, and are
 * not those of the kernel. A text is valid as long as the source, or, where it lies in the cell, as long as that.
 *
 * The source is lent, and must not change. One thread. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "ledger/ledger.h"

#define SQL_CELL_TEXT 80

struct sql_row;
struct sql_scan;
struct sql_view;

enum sql_type { SQL_INTEGER, SQL_TEXT };

/* By what rows are found without reading all of them. */
enum sql_role {
	SQL_PLAIN, /* by nothing; it has few different values */
	SQL_MANY,  /* nor that: nearly each row has another */
	SQL_KEY,  /* the number of a row, or, of a table of parts, that of what they are parts of */
	SQL_TIME, /* when it begins */
	SQL_TASK, /* utid */
	SQL_CPU,
};

struct sql_cell {
	bool is_null;
	int64_t i;
	const char *text;        /* of a text */
	char buf[SQL_CELL_TEXT]; /* where it may lie */
};

struct sql_column {
	const char *name;
	enum sql_type type;
	enum sql_role role;
	const char *doc;
	void (*read)(const struct sql_row *row, struct sql_cell *out);
};

struct sql_ops {
	uint64_t (*nr)(struct sql_view *v); /* rows, about */
	int (*begin)(struct sql_scan *scan);
	bool (*next)(struct sql_scan *scan); /* false at the end */
};

struct sql_table {
	const char *name;
	const char *doc;
	const struct sql_column *columns;
	uint32_t nr_columns;
	enum timeline_table rows; /* whose rows they are, TIMELINE_TABLES if ops are its own */
	const struct sql_ops *ops;
	uint32_t rows_per_key; /* about; 0 = a key has one row */
};

extern const struct sql_table *const sql_tables[];
extern const size_t nr_sql_tables;

/* NULL if there is none; in any case of letters. */
const struct sql_table *sql_table_find(const char *name);
/* The column with a role; -1 if there is none. */
int sql_table_role(const struct sql_table *t, enum sql_role role);

/* What is worked out once about a source. -ENOMEM. */
MUST_USE int sql_view_new(const struct source *s, struct sql_view **out);
void sql_view_free(struct sql_view *v); /* NULL is fine */
DEFINE_SCOPED(sql_view, sql_view_free)
const struct source *sql_view_source(const struct sql_view *v);
/* Rows of a table, about. */
uint64_t sql_table_rows(struct sql_view *v, const struct sql_table *t);

/* Which rows: more may come. */
struct sql_filter {
	uint32_t task;           /* TASKS_NONE = any */
	uint32_t cpu;            /* TIMELINE_ANY_CPU = any */
	uint64_t from_ns, to_ns; /* rows that begin then, to_ns excluded */
	bool has_key;
	uint64_t key;
};
#define SQL_FILTER_ALL                                                            \
	{                                                                         \
		.task = TASKS_NONE, .cpu = TIMELINE_ANY_CPU, .to_ns = UINT64_MAX, \
	}

struct sql_row {
	struct sql_view *v;
	uint64_t id;            /* of a row of the timeline, or a place in a list, from 0 on */
	uint64_t inner;         /* place of a part within */
	union timeline_row row; /* of the timeline; of a part, the wait */
	struct ledger_part part;
};

/* A walk over the rows of a table. */
struct sql_scan {
	const struct sql_table *table;
	struct sql_filter filter;
	struct sql_row row; /* the one at hand */
	/* private: */
	struct timeline_iter it;
	uint64_t at, end; /* of lists */
	struct ledger_walk walk;
	bool is_in_wait;
	bool has_failed; /* without memory: rows are missing */
};

/* Before the first row. -ENOMEM. */
MUST_USE int sql_scan_begin(struct sql_view *v, const struct sql_table *t,
                            const struct sql_filter *filter, struct sql_scan *out);
/* False at the end. */
bool sql_scan_next(struct sql_scan *scan);
/* A value of the row at hand. */
void sql_scan_read(const struct sql_scan *scan, uint32_t column, struct sql_cell *out);
