/* Hostile queries: each kind is refused, or bounded. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "sql_fixture.h"

#define BOUND_NS   200000000ULL
#define SLACK_NS   3000000000ULL /* of a machine that does other things, too, and of sanitizers */
#define MANY_BYTES 20100

static struct sql_query bounded(void)
{
	return (struct sql_query){
		.max_rows = 100, .max_bytes = 100000, .max_ns = BOUND_NS, .max_memory = 32 << 20
	};
}

/* It fails, with a sentence that has these words. */
static void refuse(const struct pass_fixture *p, const char *text, const char *words)
{
	struct sql_query q = bounded();
	struct asked a = { 0 };

	ask(&a, p, &q, text);
	if (!a.err || !strstr(a.d.what, words))
		fail_msg("%.80s: %d, '%s', not '%s'", text, a.err, a.d.what, words);
	expect_eq(a.d.code, a.err);
	ask_done(&a);
}

/* It may succeed or not, but soon. */
static void bound(const struct pass_fixture *p, const char *text)
{
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), ns;
	struct sql_query q = bounded();
	struct asked a = { 0 };

	ask(&a, p, &q, text);
	ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	if (ns > BOUND_NS + SLACK_NS)
		fail_msg("%.80s: took %llu ms", text, (unsigned long long)(ns / 1000000));
	if (a.err && !a.d.what[0])
		fail_msg("%.80s: fails without a word", text);
	ask_done(&a);
}

static void only_select_is_allowed(void **state)
{
	static const char *const texts[] = {
		"ATTACH ':memory:' AS other",
		"ATTACH '/etc/passwd' AS other",
		"ATTACH 'file:/tmp/x?vfs=unix' AS other",
		"DETACH main",
		"PRAGMA temp_store",
		"PRAGMA hard_heap_limit = 0",
		"PRAGMA writable_schema = 1",
		"CREATE TABLE x(a)",
		"CREATE TEMP TABLE x(a)",
		"CREATE VIEW x AS SELECT 1",
		"CREATE VIRTUAL TABLE x USING wait",
		"CREATE VIRTUAL TABLE x USING wait(1)",
		"DROP TABLE wait",
		"ALTER TABLE wait RENAME TO x",
		"BEGIN",
		"COMMIT",
		"SAVEPOINT x",
		"VACUUM INTO '/tmp/schedscope-test'",
		"ANALYZE",
		"REINDEX",
		"SELECT * FROM pragma_database_list",
		"SELECT count(*) FROM pragma_table_info('wait')",
		"EXPLAIN SELECT 1",
	};

	sql_story(*state);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refuse(*state, texts[i],
		       strstr(texts[i], "VIRTUAL") || strstr(texts[i], "DROP") ||
		                       strstr(texts[i], "ALTER")
		               ? ""
		               : "only SELECT is allowed");
	refuse(*state, "INSERT INTO wait VALUES (1)", "");
	refuse(*state, "UPDATE wait SET ts = 0", "");
	refuse(*state, "DELETE FROM wait", "");
	refuse(*state, "INSERT INTO sqlite_master VALUES (1,1,1,1,1)", "");
	refuse(*state, "WITH x AS (SELECT 1) DELETE FROM wait", "");
}

static void one_statement_at_a_time(void **state)
{
	struct asked a = { 0 };
	struct sql_query q = bounded();

	sql_story(*state);
	refuse(*state, "SELECT 1; SELECT 2", "one statement at a time");
	refuse(*state, "SELECT 1;; /* x */ ATTACH 'x' AS y", "one statement at a time");
	refuse(*state, "SELECT 1; nonsense", "one statement at a time");
	refuse(*state, "", "the query is empty");
	refuse(*state, " ; -- nothing", "the query is empty");
	ask(&a, *state, &q, "SELECT 1; -- the end\n ; /* of it */");
	expect_eq(a.err, 0);
	ask_done(&a);
}

static void functions_are_those_that_are_listed(void **state)
{
	static const char *const texts[] = {
		"load_extension('x')",
		"load_extension('/tmp/x.so', 'y')",
		"randomblob(10)",
		"zeroblob(1000000000)",
		"random()",
		"sqlite_version()",
		"sqlite_source_id()",
		"sqlite_compileoption_get(1)",
		"changes()",
		"last_insert_rowid()",
		"json('[1]')",
		"json_group_array(1)",
		"fts3_tokenizer('x')",
		"datetime('now')",
		"strftime('%s')",
		"soundex('x')",
		"likely(1)",
		"char(1, 2)",
		"nosuch(1)",
		"readfile('/etc/passwd')",
		"writefile('x', 'y')",
		"edit('x')",
	};
	char text[128];

	sql_story(*state);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		(void)snprintf(text, sizeof(text), "SELECT %s", texts[i]);
		refuse(*state, text, "");
	}
	refuse(*state, "SELECT randomblob(1)", "the function 'randomblob' is not allowed");
}

static void tables_are_ours_alone(void **state)
{
	sql_story(*state);
	refuse(*state, "SELECT * FROM sqlite_master", "the table 'sqlite_master' is not allowed");
	refuse(*state, "SELECT name FROM sqlite_schema", "is not allowed");
	refuse(*state, "SELECT * FROM json_each('[1]')", "no such table: json_each");
	refuse(*state, "SELECT * FROM dbstat", "no such table: dbstat");
	refuse(*state, "SELECT * FROM sqlite_stmt", "no such table");
}

static void errors_say_what_there_is(void **state)
{
	struct sql_query q = bounded();
	struct asked a = { 0 };

	sql_story(*state);
	ask(&a, *state, &q, "SELECT w.duration FROM wait w JOIN thread t USING (utid)");
	expect_eq(a.err, -EINVAL);
	assert_string_equal(a.d.what, "no such column: w.duration");
	assert_non_null(strstr(a.d.hint, "wait has id, ts, dur, "));
	assert_non_null(strstr(a.d.hint, "thread has utid, tid, "));
	ask(&a, *state, &q, "SELECT \"S\" FROM sleep");
	assert_string_equal(a.d.what, "no such column: S");
	ask(&a, *state, &q, "SELECT median(dur) FROM wait");
	assert_non_null(strstr(a.d.hint, "percentile(x, p)"));
	ask(&a, *state, &q, "SELECT percentile(dur, 101) FROM wait");
	assert_string_equal(a.d.what, "percentile(x, p): p is a number from 0 to 100");
	ask(&a, *state, &q, "SELECT \033[31m FROM wait");
	assert_null(strchr(a.d.what, 033));
	ask_done(&a);
}

static void endless_queries_end(void **state)
{
	static const char *const texts[] = {
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x",
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i FROM x) SELECT max(i) FROM x",
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT i FROM x WHERE i < 0",
		"SELECT count(*) FROM sched_slice a, sched_slice b, sched_slice c, sched_slice d, sched_slice e, sched_slice f, "
		"sched_slice g, sched_slice h, sched_slice i, sched_slice j, sched_slice k, sched_slice l",
		"SELECT count(*) FROM wait_part a, wait_part b, wait_part c, wait_part d, wait_part e, wait_part f, "
		"wait_part g, wait_part h, wait_part i, wait_part j, wait_part k, wait_part l",
		"SELECT count(*) FROM thread a, thread b, thread c, thread d, thread e, thread f, thread g, thread h, thread i, "
		"thread j, thread k, thread l, thread m, thread n, thread o",
	};

	sql_story(*state);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refuse(*state, texts[i], "the query took more than 200 ms");
}

static void memory_is_bounded(void **state)
{
	static const char *const texts[] = {
		("WITH RECURSIVE x(i, t) AS (SELECT 1, printf('%.90000c', 'x') UNION ALL SELECT i + 1, t || '' FROM x) "
		 "SELECT i FROM x ORDER BY t, i"),
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION SELECT i + 1 FROM x) SELECT count(*) FROM x",
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT percentile(i, 50) FROM x",
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT group_concat(i) FROM x",
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT i, count(*) FROM x GROUP BY i % 1000000",
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT DISTINCT i FROM x ORDER BY -i",
		"WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT sum(i) OVER (ORDER BY i DESC) FROM x",
	};

	sql_story(*state);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		bound(*state, texts[i]);
	/* With more time it is the memory that ends it. */
	for (size_t i = 0; i < 2; i++) {
		struct sql_query q = { .max_ns = 100 * BOUND_NS, .max_memory = 4 << 20 };
		struct asked a = { 0 };

		ask(&a, *state, &q, texts[i]);
		assert_string_equal(a.d.what, "the query needs too much memory");
		ask_done(&a);
	}
}

static void costly_functions_are_bounded(void **state)
{
#define LONG "printf('%.49000c', 'a')"
	static const char *const texts[] = {
		"SELECT instr(" LONG " || " LONG ", " LONG " || 'b')",
		"SELECT replace(" LONG " || " LONG ", " LONG " || 'b', 'c')",
		"SELECT " LONG " || " LONG
		" LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'",
		"SELECT " LONG " || " LONG
		" GLOB '*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b'",
		"SELECT " LONG " LIKE '_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_%_b'",
		"SELECT trim(" LONG ", " LONG "||'b')",
		"SELECT replace(replace(replace(" LONG ", 'a', 'aaaa'), 'a', 'aaaa'), 'a', 'aaaa')",
		"SELECT hex(hex(hex(hex(" LONG "))))",
		"SELECT printf('%9999999999d', 1), printf('%.999999999f', 1.5), printf('%*d', 2147483647, 1)",
		"SELECT quote(quote(quote(" LONG ")))",
	};

	sql_story(*state);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		bound(*state, texts[i]);
	refuse(*state, "SELECT 'x' LIKE " LONG, "LIKE or GLOB pattern too complex");
	refuse(*state, "SELECT length(" LONG " || " LONG " || " LONG ")", "a text is too long");
}

/* n times before, then the middle, then n times after. */
static const char *nested(char *out, const char *before, const char *middle, const char *after,
                          int nr)
{
	size_t len = 0;

	for (int i = 0; i < nr; i++)
		len += (size_t)snprintf(out + len, MANY_BYTES - len, "%s", before);
	len += (size_t)snprintf(out + len, MANY_BYTES - len, "%s", middle);
	for (int i = 0; i < nr; i++)
		len += (size_t)snprintf(out + len, MANY_BYTES - len, "%s", after);
	return out;
}

static void deep_and_wide_queries_are_refused(void **state)
{
	char text[MANY_BYTES], inner[MANY_BYTES];

	sql_story(*state);
	(void)snprintf(text, sizeof(text), "SELECT %s", nested(inner, "(", "1", ")", 2000));
	refuse(*state, text, "");
	(void)snprintf(text, sizeof(text), "SELECT %s", nested(inner, "-(", "1", ")", 2000));
	refuse(*state, text, "");
	(void)snprintf(text, sizeof(text), "SELECT %s", nested(inner, "1+", "1", "", 2000));
	refuse(*state, text, "");
	(void)snprintf(text, sizeof(text), "SELECT %s", nested(inner, "1,", "1", "", 500));
	refuse(*state, text, "too many columns");
	(void)snprintf(text, sizeof(text), "%s",
	               nested(inner, "SELECT 1 UNION ALL ", "SELECT 1", "", 200));
	refuse(*state, text, "too many terms in compound SELECT");
	(void)snprintf(text, sizeof(text), "%s",
	               nested(inner, "SELECT * FROM (", "SELECT 1", ")", 1000));
	refuse(*state, text, "");
	(void)snprintf(text, sizeof(text), "SELECT max(%s)", nested(inner, "1,", "1", "", 100));
	refuse(*state, text, "");
	(void)snprintf(text, sizeof(text), "SELECT count(*) FROM %s",
	               nested(inner, "thread,", "thread", "", 70));
	refuse(*state, text, "");
	memset(text, ' ', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	refuse(*state, text, "the query is longer than 20000 bytes");
	refuse(*state, "SELECT ?", "");
}

/* Each name stands for twice the one before: a billion of them, before the first step. */
static void names_that_multiply_are_bounded(void **state)
{
	char text[MANY_BYTES];

	sql_story(*state);
	for (int kind = 0; kind < 3; kind++) {
		static const char *const joins[] = { " p, ", " p JOIN ",
			                             " UNION ALL SELECT x FROM " };
		static const char *const ends[] = { " q", " q ON p.x = q.x", "" };
		static const char *const firsts[] = { "1 AS x", "p.x", "x" };
		size_t len = (size_t)snprintf(text, sizeof(text),
		                              "WITH a0(x) AS (SELECT utid FROM thread)");

		for (int i = 1; i < 30; i++) {
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			                        ", a%d(x) AS (SELECT %s FROM a%d%sa%d%s)", i,
			                        firsts[kind], i - 1, joins[kind], i - 1,
			                        ends[kind]);
		}
		(void)snprintf(text + len, sizeof(text) - len, " SELECT count(*) FROM a29");
		bound(*state, text);
	}
}

/* Subqueries of subqueries, of which each stands for two, and joins of as many tables as there may be. */
static void what_is_prepared_is_bounded(void **state)
{
	char text[MANY_BYTES];
	size_t len;

	sql_story(*state);
	for (int kind = 0; kind < 2; kind++) {
		len = (size_t)snprintf(text, sizeof(text), "WITH a0(x) AS (SELECT 1)");
		for (int i = 1; i < 30; i++)
			len += (size_t)snprintf(
				text + len, sizeof(text) - len,
				kind ? ", a%d(x) AS (SELECT x FROM a%d WHERE x IN (SELECT x FROM a%d))"
				     : ", a%d(x) AS (SELECT (SELECT x FROM a%d) + (SELECT x FROM a%d))",
				i, i - 1, i - 1);
		(void)snprintf(text + len, sizeof(text) - len, " SELECT x FROM a29");
		bound(*state, text);
	}
	for (int kind = 0; kind < 3; kind++) {
		static const char *const ands[] = { " AND ", " OR ", " AND NOT " };

		len = (size_t)snprintf(text, sizeof(text), "SELECT count(*) FROM wait w0");
		for (int i = 1; i < 60; i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, ", wait w%d", i);
		for (int i = 1; i < 60; i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
			                        "%sw%d.utid = w%d.waker_utid",
			                        i > 1 ? ands[kind] : " WHERE ", i - 1, i);
		bound(*state, text);
	}
	len = (size_t)snprintf(text, sizeof(text), "SELECT count(*) FROM wait WHERE 1");
	for (int i = 0; i < 90; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		                        " AND (ts = %d OR utid = %d OR cpu = %d)", i, i, i);
	bound(*state, text);
}

static bool stop(void *ctx)
{
	int *nr = ctx;

	return ++*nr > 2;
}

static void a_caller_can_give_up(void **state)
{
	int nr = 0;
	struct sql_query q = { .is_cancelled = stop, .ctx = &nr };
	struct asked a = { 0 };

	sql_story(*state);
	ask(&a, *state, &q,
	    "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x");
	expect_eq(a.err, -ECANCELED);
	expect_eq(nr, 3);
	ask_done(&a);
}

static void nothing_is_left_behind_for_the_next_one(void **state)
{
	struct sql_query q = bounded();
	struct asked a = { 0 };

	sql_story(*state);
	for (int i = 0; i < 20; i++) {
		ask(&a, *state, &q, i % 2 ? "SELECT count(*) FROM wait" : "SELECT * FROM nothing");
		expect_eq(a.err, i % 2 ? 0 : -EINVAL);
	}
	ask_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
		CASE(only_select_is_allowed),
		CASE(one_statement_at_a_time),
		CASE(functions_are_those_that_are_listed),
		CASE(tables_are_ours_alone),
		CASE(errors_say_what_there_is),
		CASE(endless_queries_end),
		CASE(memory_is_bounded),
		CASE(costly_functions_are_bounded),
		CASE(deep_and_wide_queries_are_refused),
		CASE(names_that_multiply_are_bounded),
		CASE(what_is_prepared_is_bounded),
		CASE(a_caller_can_give_up),
		CASE(nothing_is_left_behind_for_the_next_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
