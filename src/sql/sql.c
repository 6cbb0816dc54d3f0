#include "sql/sql.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "sql/sql_priv.h"

#define DEFAULT_MEMORY ((uint64_t)256 << 20)
#define OTHER_BYTES    10U /* of what is neither an integer nor a text, about */
#define MAX_DECIMALS   6   /* of numbers from 1 on */

struct run {
	struct sql_db db;
	sqlite3_stmt *stmt;
	struct report *r;
	const char **names; /* of columns, valid as long as the report */
	int nr_columns;
	int64_t memory_before;
};

static void end_run(struct run *x)
{
	(void)sqlite3_finalize(x->stmt);
	(void)sqlite3_close(x->db.db);
	(void)sql_guard_memory(x->memory_before);
	sql_view_free(x->db.v);
	free(x->names);
}

static int open_db(struct sql_db *x, struct diag *d)
{
	int err = sql_guard_open(x);

	if (!err)
		err = sql_functions_add(x);
	if (!err)
		err = sql_module_add(x);
	if (err)
		return diag_set(d, err, NULL, "SQLite cannot be started");
	sql_guard_close_door(x);
	return 0;
}

/* Behind the first statement there may be a semicolon and comments. */
static int check_rest(struct sql_db *x, const char *rest, struct diag *d)
{
	sqlite3_stmt *stmt = NULL;
	const char *more = rest;
	int rc = SQLITE_OK;

	while (*more && rc == SQLITE_OK && !stmt)
		rc = sqlite3_prepare_v3(x->db, more, -1, 0, &stmt, &more);
	if (rc == SQLITE_OK && !stmt)
		return 0;
	(void)sqlite3_finalize(stmt);
	return diag_set(d, -EINVAL, "send the others one by one", "one statement at a time");
}

static int prepare(struct run *x, const char *text, struct diag *d)
{
	const char *rest;

	if (strlen(text) > SQL_TEXT_MAX)
		return diag_set(d, -EINVAL, NULL, "the query is longer than %u bytes",
		                SQL_TEXT_MAX);
	if (sqlite3_prepare_v3(x->db.db, text, -1, 0, &x->stmt, &rest))
		return sql_error(&x->db, d);
	if (!x->stmt)
		return diag_set(d, -EINVAL, "SELECT ... FROM a table", "the query is empty");
	/* A program of EXPLAIN shows addresses of ours. */
	if (!sqlite3_stmt_readonly(x->stmt) || !sqlite3_column_count(x->stmt) ||
	    sqlite3_stmt_isexplain(x->stmt) == 1)
		return diag_set(d, -EINVAL, NULL, "only SELECT is allowed");
	return check_rest(&x->db, rest, d);
}

/* Names of columns, each once: they are keys of objects. */
static const char *name_column(const struct run *x, int column)
{
	const char *name = sqlite3_column_name(x->stmt, column);
	uint32_t nr = 1;

	if (!name || !*name)
		return report_printf(x->r, "column_%d", column + 1);
	for (int i = 0; i < column; i++)
		nr += sqlite3_column_name(x->stmt, i) &&
		      strcmp(sqlite3_column_name(x->stmt, i), name) == 0;
	return nr > 1 ? report_printf(x->r, "%s_%u", name, nr) : report_printf(x->r, "%s", name);
}

static int put_columns(struct run *x, struct diag *d)
{
	x->nr_columns = sqlite3_column_count(x->stmt);
	x->names = calloc((size_t)x->nr_columns, sizeof(*x->names));
	if (!x->names)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	report_begin_array(x->r, "columns");
	for (int i = 0; i < x->nr_columns; i++) {
		x->names[i] = name_column(x, i);
		report_string(x->r, NULL, x->names[i]);
	}
	report_end_array(x->r);
	return 0;
}

/* As few as show the value, and no more than anyone reads. */
static int decimals_of(double value)
{
	double size = fabs(value), unit = 1;
	int most = MAX_DECIMALS, nr = 0;

	for (double at = size; at > 0 && at < 1 && most < 15; at *= 10)
		most++;
	for (; nr < most; nr++, unit *= 10)
		if (fabs(rint(value * unit) - value * unit) < 1e-9 * unit * (size < 1 ? size : 1))
			break;
	return nr;
}

static size_t put_text(struct report *r, const char *key, sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	report_string(r, key, text);
	return (text ? strlen(text) : 0) + sizeof("\"\"");
}

/* Bytes that the answer has more. */
static size_t put_value(const struct run *x, const char *key, int column)
{
	double value;

	switch (sqlite3_column_type(x->stmt, column)) {
	case SQLITE_INTEGER:
		report_i64(x->r, key, sqlite3_column_int64(x->stmt, column));
		return (size_t)snprintf(NULL, 0, "%" PRId64 ",",
		                        (int64_t)sqlite3_column_int64(x->stmt, column));
	case SQLITE_FLOAT:
		value = sqlite3_column_double(x->stmt, column);
		report_double_if(x->r, key, isfinite(value), value, decimals_of(value));
		break;
	case SQLITE_NULL:
		report_null(x->r, key);
		break;
	case SQLITE_BLOB:
		report_string(x->r, key, "(bytes: use hex())");
		break;
	default:
		return put_text(x->r, key, x->stmt, column);
	}
	return OTHER_BYTES;
}

static size_t put_row(const struct run *x, enum sql_shape shape)
{
	size_t bytes = sizeof("[]");

	if (shape == SQL_OBJECTS)
		report_begin_object(x->r, NULL);
	else
		report_begin_array(x->r, NULL);
	for (int i = 0; i < x->nr_columns; i++) {
		bytes += put_value(x, shape == SQL_OBJECTS ? x->names[i] : NULL, i);
		bytes += shape == SQL_OBJECTS ? strlen(x->names[i]) : 0;
	}
	if (shape == SQL_OBJECTS)
		report_end_object(x->r);
	else
		report_end_array(x->r);
	return bytes;
}

static int put_rows(struct run *x, const struct sql_query *q, struct sql_result *out,
                    struct diag *d)
{
	uint64_t bytes = 0;
	int rc;

	report_begin_array(x->r, "rows");
	while ((rc = sqlite3_step(x->stmt)) == SQLITE_ROW) {
		if (q->max_rows && out->nr_rows == q->max_rows)
			out->truncated = "rows";
		else if (q->max_bytes && bytes >= q->max_bytes)
			out->truncated = "bytes";
		if (out->truncated)
			break;
		bytes += put_row(x, q->shape);
		out->nr_rows++;
	}
	report_end_array(x->r);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		return sql_error(&x->db, d);
	return 0;
}

int sql_run(const struct source *s, const struct sql_query *q, struct report *r,
            struct sql_result *out, struct diag *d)
{
	uint64_t memory = q->max_memory ? q->max_memory : DEFAULT_MEMORY;
	SCOPED(end_run) struct run x = { .db = { .q = q }, .r = r };
	int err;

	*out = (struct sql_result){ 0 };
	x.memory_before = sql_guard_memory((int64_t)memory);
	if (sql_view_new(s, &x.db.v))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = open_db(&x.db, d);
	if (!err)
		err = prepare(&x, q->text, d);
	if (!err)
		err = put_columns(&x, d);
	if (!err)
		err = put_rows(&x, q, out, d);
	if (err)
		return err;
	report_u64(r, "row_count", out->nr_rows);
	if (out->truncated) {
		report_bool(r, "truncated", true);
		report_string(r, "truncated_by", out->truncated);
	}
	return 0;
}
