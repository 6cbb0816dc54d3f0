/* sql/sql_priv — what the files of sql/sql share. */
#pragma once

#include <sqlite3.h>

#include "sql/sql.h"
#include "sql/sql_table.h"

/* A connection and what bounds it. */
struct sql_db {
	sqlite3 *db;
	struct sql_view *v;
	const struct sql_query *q;
	uint64_t end_ns;   /* on the monotonic clock; 0 = none */
	uint64_t asked_ns; /* when the caller was last asked */
	uint32_t tables;   /* bit per table that the query mentions */
	bool is_declaring; /* a table of ours is about to be known */
	bool is_late;
	bool is_cancelled;
	const char *refused_kind; /* function, table, statement; NULL = nothing was refused */
	char refused_name[64];
};

/* sql_guard.c */
/* Opens it, with all bounds. -ENOMEM. */
MUST_USE int sql_guard_open(struct sql_db *x);
/* No more tables and functions may be added; from now on only what is allowed is. */
void sql_guard_close_door(struct sql_db *x);
/* Whether the time is up, or the caller gave up. */
bool sql_guard_is_over(struct sql_db *x);
/* The limit of memory of the process, for as long as a query runs; what it was before. */
int64_t sql_guard_memory(int64_t bytes);

/* sql_error.c */
/* What SQLite, or a bound, says of the query that failed, in a sentence; a negative errno. */
int sql_error(const struct sql_db *x, struct diag *d);

/* sql_module.c */
/* -ENOMEM. */
MUST_USE int sql_module_add(struct sql_db *x);

/* sql_functions.c */
struct sql_function {
	const char *call; /* percentile(x, p) */
	const char *doc;
};
extern const struct sql_function sql_functions[];
extern const size_t nr_sql_functions;
/* -ENOMEM. */
MUST_USE int sql_functions_add(struct sql_db *x);
/* Whether a query may use it: ours, and those of SQLite that are harmless. */
bool sql_function_is_allowed(const char *name);
/* Those of SQLite, separated by commas. */
const char *sql_functions_of_sqlite(void);
