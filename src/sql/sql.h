/*
 * sql/sql — one SELECT over a recording, by SQLite over the tables of sql/sql_table.
 *
 * The text comes from assistants and the recording from anywhere, so both are taken as hostile: SQLite has a database in memory
 * with nothing in it, no files, no extensions, no pragmas, no writes; only functions that are listed; and bounds on time, memory,
 * rows and bytes of the answer. What the bounds cut is said. An error is one sentence with what to do.
 *
 * A run is one thread's, and only one runs at a time in a process: the limit of memory is that of the process. It blocks for as
 * long as the query takes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

#define SQL_TEXT_MAX 20000U /* bytes of a query */

enum sql_shape {
	SQL_OBJECTS, /* "rows": an object each, for tables and CSV */
	SQL_ARRAYS,  /* "columns", and "rows" as arrays: shorter */
};

struct sql_query {
	const char *text;
	uint64_t max_rows;   /* of the answer; 0 = all */
	uint64_t max_bytes;  /* of the texts and numbers of the answer; 0 = all */
	uint64_t max_ns;     /* 0 = as long as it takes */
	uint64_t max_memory; /* 0 = 256 MiB */
	enum sql_shape shape;
	bool (*is_cancelled)(void *ctx); /* NULL = never */
	void *ctx;
};

struct sql_result {
	uint64_t nr_rows;      /* of the answer */
	const char *truncated; /* by which bound: "rows" or "bytes"; NULL = the answer is whole */
};

/*
 * Members columns, rows and row_count into the object that is open; truncated and truncated_by where something was cut. -EINVAL for a
 * query that is refused or does not make sense, -ETIME, -E2BIG, -ENOMEM, -ECANCELED.
 */
MUST_USE int sql_run(const struct source *s, const struct sql_query *q, struct report *r,
                     struct sql_result *out, struct diag *d);

/* For people: tables, columns, functions; one line each. */
void sql_help(FILE *out);
/*
 * Tables, columns and functions, or one table, into the object that is open. Brief: of all tables the names of the columns alone.
 * -ENODATA with a sentence for a table that there is not.
 */
MUST_USE int sql_help_report(struct report *r, const char *table, bool is_brief, struct diag *d);
