/* What a query may do, and for how long: nothing but to read the tables. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "sql/sql_priv.h"

#define STEPS_BETWEEN 2000      /* of SQLite's machine, between two looks at the clock */
#define ASK_NS        20000000U /* between two questions to the caller */

/*
 * Files of SQLite: there are none. Databases in memory need no file, and where SQLite would take one nevertheless
 * it gets an error. Nor is there randomness, or a time of day.
 */
static int refuse_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	(void)vfs;
	(void)name;
	(void)flags;
	(void)out;
	file->pMethods = NULL;
	return SQLITE_CANTOPEN;
}

static int refuse_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_IOERR_DELETE;
}

static int find_nothing(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*out = 0;
	return SQLITE_OK;
}

static int same_name(sqlite3_vfs *vfs, const char *name, int len, char *out)
{
	(void)vfs;
	return snprintf(out, (size_t)len, "%s", name) < len ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int no_randomness(sqlite3_vfs *vfs, int len, char *out)
{
	(void)vfs;
	memset(out, 0, (size_t)len);
	return len;
}

static int no_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

static int no_time(sqlite3_vfs *vfs, double *out)
{
	(void)vfs;
	*out = 0;
	return SQLITE_ERROR;
}

static int no_error(sqlite3_vfs *vfs, int len, char *out)
{
	(void)vfs;
	if (len > 0)
		*out = 0;
	return 0;
}

/* SQLite keeps it in a list of its own and so writes to it; only one query runs at a time. */
static sqlite3_vfs no_files = {
	.iVersion = 1,
	.szOsFile = sizeof(sqlite3_file),
	.mxPathname = 64,
	.zName = "schedscope-no-files",
	.xOpen = refuse_open,
	.xDelete = refuse_delete,
	.xAccess = find_nothing,
	.xFullPathname = same_name,
	.xRandomness = no_randomness,
	.xSleep = no_sleep,
	.xCurrentTime = no_time,
	.xGetLastError = no_error,
};

/*
 * Some functions of SQLite take time with the product of the lengths of two texts, and none of them asks whether the time is up: so
 * texts are short. What a query is made of is bounded, too, as it is all read before the first step.
 */
static const struct {
	int what, most;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 100000 },
	{ SQLITE_LIMIT_SQL_LENGTH, SQL_TEXT_MAX },
	{ SQLITE_LIMIT_COLUMN, 200 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 30 },
	{ SQLITE_LIMIT_VDBE_OP, 50000 },
	{ SQLITE_LIMIT_FUNCTION_ARG, 16 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
	{ SQLITE_LIMIT_VARIABLE_NUMBER, 0 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

static const struct {
	int what, is_on;
} switches[] = {
	{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
	{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
	{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
	{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
	{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
	/* A name in double quotes that is none is an error, not a text. */
	{ SQLITE_DBCONFIG_DQS_DML, 0 },
	{ SQLITE_DBCONFIG_DQS_DDL, 0 },
};

bool sql_guard_is_over(struct sql_db *x)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (x->end_ns && now_ns >= x->end_ns)
		x->is_late = true;
	if (x->q->is_cancelled && now_ns - x->asked_ns >= ASK_NS) {
		x->asked_ns = now_ns;
		x->is_cancelled = x->is_cancelled || x->q->is_cancelled(x->q->ctx);
	}
	return x->is_late || x->is_cancelled;
}

static int on_progress(void *ctx)
{
	return sql_guard_is_over(ctx);
}

static int refuse(struct sql_db *x, const char *kind, const char *name)
{
	if (!x->refused_kind) {
		x->refused_kind = kind;
		(void)snprintf(x->refused_name, sizeof(x->refused_name), "%s", name ? name : "");
	}
	return SQLITE_DENY;
}

/* Called for everything that a query consists of, while it is prepared: so it watches the time of that, too. */
static int authorize(void *ctx, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
	struct sql_db *x = ctx;

	(void)database;
	(void)trigger;
	if (sql_guard_is_over(x))
		return SQLITE_DENY;
	if (x->is_declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		/* Without a column it may be the name of a subquery, of which no value is read. */
		if (!second || !*second || sql_table_find(first))
			return SQLITE_OK;
		return refuse(x, "table", first);
	case SQLITE_FUNCTION:
		return sql_function_is_allowed(second) ? SQLITE_OK : refuse(x, "function", second);
	default:
		return refuse(x, "statement", NULL);
	}
}

int64_t sql_guard_memory(int64_t bytes)
{
	return sqlite3_hard_heap_limit64(bytes);
}

int sql_guard_open(struct sql_db *x)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX |
	            SQLITE_OPEN_PRIVATECACHE;
	int was;

	if (sqlite3_vfs_register(&no_files, 0) ||
	    sqlite3_open_v2(":memory:", &x->db, flags, no_files.zName))
		return -ENOMEM;
	/* What sorting needs lies in memory, of which there is a limit. */
	if (sqlite3_exec(x->db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL))
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(x->db, limits[i].what, limits[i].most);
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		(void)sqlite3_db_config(x->db, switches[i].what, switches[i].is_on, &was);
	/* Those that come with SQLite: of JSON, full texts, statistics. */
	return sqlite3_drop_modules(x->db, NULL) ? -ENOMEM : 0;
}

void sql_guard_close_door(struct sql_db *x)
{
	if (x->q->max_ns)
		x->end_ns = clock_read_ns(CLOCK_MONOTONIC) + x->q->max_ns;
	sqlite3_progress_handler(x->db, STEPS_BETWEEN, on_progress, x);
	(void)sqlite3_set_authorizer(x->db, authorize, x);
}
