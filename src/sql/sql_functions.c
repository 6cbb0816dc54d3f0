/* Functions that queries may use: ours, and those of SQLite that are harmless. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "sql/sql_priv.h"

#define NS_PER_MS 1e6
#define NS_PER_US 1e3
#define NS_PER_S  1e9

/* The first ones are those of this file. */
const struct sql_function sql_functions[] = {
	{ "percentile(x, p)",
	  "aggregate: the p-th percentile (0 to 100) of numbers, exact, by nearest rank as in all analyses" },
	{ "ms(x)", "nanoseconds as milliseconds" },
	{ "us(x)", "nanoseconds as microseconds" },
	{ "s(x)", "nanoseconds as seconds" },
	{ "at_s(ts)",
	  "a time as seconds after the start of the trace, as --from and --to take it" },
};
const size_t nr_sql_functions = sizeof(sql_functions) / sizeof(sql_functions[0]);

/* Not among them: what makes large values of small ones (zeroblob, randomblob), or reads anything but its arguments. */
static const char of_sqlite[] =
	"abs, avg, ceil, ceiling, coalesce, count, cume_dist, dense_rank, exp, first_value, floor, format, glob, "
	"group_concat, hex, ifnull, iif, instr, lag, last_value, lead, length, like, ln, log, log10, log2, lower, ltrim, "
	"max, min, mod, nth_value, ntile, nullif, percent_rank, pow, power, printf, quote, rank, replace, round, "
	"row_number, rtrim, sign, sqrt, substr, substring, sum, total, trim, trunc, typeof, unicode, upper";

const char *sql_functions_of_sqlite(void)
{
	return of_sqlite;
}

/* Whether it is one of the words of a list. */
static bool is_in(const char *list, const char *name, size_t len)
{
	for (const char *at = list; *at; at += strspn(at, ", ")) {
		size_t word = strcspn(at, ", ");

		if (word == len && sqlite3_strnicmp(at, name, (int)len) == 0)
			return true;
		at += word;
	}
	return false;
}

bool sql_function_is_allowed(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; i < nr_sql_functions; i++)
		if (strcspn(sql_functions[i].call, "(") == len && len &&
		    sqlite3_strnicmp(sql_functions[i].call, name, (int)len) == 0)
			return true;
	return len && is_in(of_sqlite, name, len);
}

static bool is_number(sqlite3_value *v)
{
	int type = sqlite3_value_numeric_type(v);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void divide(sqlite3_context *out, int argc, sqlite3_value **args)
{
	const double *by = sqlite3_user_data(out);

	(void)argc;
	if (is_number(args[0]))
		sqlite3_result_double(out, sqlite3_value_double(args[0]) / *by);
}

static void since_start(sqlite3_context *out, int argc, sqlite3_value **args)
{
	const struct sql_db *x = sqlite3_user_data(out);
	int64_t start_ns = (int64_t)sql_view_source(x->v)->start_ns, ns;

	(void)argc;
	if (!is_number(args[0]))
		return;
	/* Whole nanoseconds are subtracted first: a double of both has not enough digits. */
	if (sqlite3_value_numeric_type(args[0]) == SQLITE_INTEGER &&
	    !__builtin_sub_overflow(sqlite3_value_int64(args[0]), start_ns, &ns))
		sqlite3_result_double(out, (double)ns / NS_PER_S);
	else
		sqlite3_result_double(out, (sqlite3_value_double(args[0]) - (double)start_ns) /
		                                   NS_PER_S);
}

/* All are integers until the first that is not. */
union value {
	int64_t i;
	double f;
};

struct values {
	union value *at;
	size_t nr, room;
	double percentile;
	bool is_real;
	bool has_failed;
};

static bool make_room(struct values *v)
{
	size_t room = v->room ? 2 * v->room : 64;
	union value *at;

	if (v->nr < v->room)
		return true;
	at = sqlite3_realloc64(v->at, room * sizeof(*at));
	if (!at)
		return false;
	v->at = at;
	v->room = room;
	return true;
}

static void make_real(struct values *v)
{
	for (size_t i = 0; i < v->nr && !v->is_real; i++)
		v->at[i].f = (double)v->at[i].i;
	v->is_real = true;
}

static void keep_value(struct values *v, sqlite3_value *value)
{
	if (sqlite3_value_numeric_type(value) == SQLITE_FLOAT)
		make_real(v);
	if (v->is_real)
		v->at[v->nr++].f = sqlite3_value_double(value);
	else
		v->at[v->nr++].i = sqlite3_value_int64(value);
}

static void add_value(sqlite3_context *out, int argc, sqlite3_value **args)
{
	struct values *v = sqlite3_aggregate_context(out, sizeof(*v));
	double p;

	(void)argc;
	if (!v || v->has_failed || !is_number(args[0]))
		return;
	p = is_number(args[1]) ? sqlite3_value_double(args[1]) : -1;
	if (!(p >= 0 && p <= 100)) {
		v->has_failed = true;
		sqlite3_result_error(out, "percentile(x, p): p is a number from 0 to 100", -1);
		return;
	}
	if (!make_room(v)) {
		v->has_failed = true;
		sqlite3_result_error_nomem(out);
		return;
	}
	v->percentile = p;
	keep_value(v, args[0]);
}

static int compare_reals(const void *left, const void *right)
{
	double a = ((const union value *)left)->f, b = ((const union value *)right)->f;

	return (a > b) - (a < b);
}

static int compare_integers(const void *left, const void *right)
{
	int64_t a = ((const union value *)left)->i, b = ((const union value *)right)->i;

	return (a > b) - (a < b);
}

/* Also called where a query ends early, to free what it has. */
static void take_percentile(sqlite3_context *out)
{
	struct values *v = sqlite3_aggregate_context(out, 0);
	const union value *at;

	if (v && v->nr && !v->has_failed) {
		qsort(v->at, v->nr, sizeof(*v->at), v->is_real ? compare_reals : compare_integers);
		at = &v->at[percentile_rank(v->nr, (uint32_t)(v->percentile * 100 + 0.5)) - 1];
		if (v->is_real)
			sqlite3_result_double(out, at->f);
		else
			sqlite3_result_int64(out, at->i);
	}
	if (v)
		sqlite3_free(v->at);
}

int sql_functions_add(struct sql_db *x)
{
	static const double ms = NS_PER_MS, us = NS_PER_US, s = NS_PER_S;
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = sqlite3_create_function_v2(x->db, "ms", 1, flags, (void *)&ms, divide, NULL, NULL,
	                                    NULL);

	if (!rc)
		rc = sqlite3_create_function_v2(x->db, "us", 1, flags, (void *)&us, divide, NULL,
		                                NULL, NULL);
	if (!rc)
		rc = sqlite3_create_function_v2(x->db, "s", 1, flags, (void *)&s, divide, NULL,
		                                NULL, NULL);
	if (!rc)
		rc = sqlite3_create_function_v2(x->db, "at_s", 1, flags, x, since_start, NULL, NULL,
		                                NULL);
	if (!rc)
		rc = sqlite3_create_function_v2(x->db, "percentile", 2, flags, NULL, NULL,
		                                add_value, take_percentile, NULL);
	return rc ? -ENOMEM : 0;
}
