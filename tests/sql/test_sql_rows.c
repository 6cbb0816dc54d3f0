/* Tables over a recording whose answer is known by heart. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sql_fixture.h"

#define TEXT_BYTES 512

/* All values of the answer, "a b|c d". */
static const char *values(const struct report_node *root, char out[TEXT_BYTES])
{
	size_t len = 0;

	out[0] = 0;
	for (const struct report_node *row = report_at(root, "rows")->first; row; row = row->next)
		for (const struct report_node *at = row->first; at; at = at->next) {
			const char *end = at->next ? " " : row->next ? "|" : "";
			char *to = out + len;
			size_t room = TEXT_BYTES - len;

			if (at->type == REPORT_I64)
				len += (size_t)snprintf(to, room, "%" PRId64 "%s", at->i64, end);
			else if (at->type == REPORT_DOUBLE)
				len += (size_t)snprintf(to, room, "%.*f%s", at->decimals, at->f,
				                        end);
			else
				len += (size_t)snprintf(to, room, "%s%s",
				                        at->type == REPORT_STRING ? at->text : "-",
				                        end);
		}
	return out;
}

static void expect(const struct pass_fixture *p, const char *text, const char *expected)
{
	struct asked a = { 0 };
	struct sql_query q = { 0 };
	char got[TEXT_BYTES];

	ask(&a, p, &q, text);
	if (a.err)
		fail_msg("%s: %s", text, a.d.what);
	if (strcmp(values(a.root, got), expected))
		fail_msg("%s: %s, not %s", text, got, expected);
	ask_done(&a);
}

static void rows_of_tasks_are_what_happened(void **state)
{
	struct pass_fixture *p = *state;

	sql_story(p);
	expect(p, "SELECT tid, name, pid, start_ts, end_ts FROM thread ORDER BY tid",
	       "10 hog 100 900000 -|11 web 100 900000 -|12 web 100 900000 -|13 db 100 900000 -");
	expect(p, "SELECT pid, threads FROM process", "100 4");
	expect(p, "SELECT path, kernel_id FROM cgroup ORDER BY path", "/free 8|/limited 7");
	expect(p,
	       "SELECT t.tid, s.ts, s.dur, s.cpu, s.end_state, s.is_open FROM sched_slice s JOIN thread t USING (utid) "
	       "WHERE s.cpu = 0 ORDER BY s.ts",
	       "11 1000000 20000 0 R 0|10 1020000 40000 0 S 0|11 1060000 140000 0 S 0|12 1200000 100000 0 R 0|"
	       "12 1365000 35000 0 D 0");
	expect(p,
	       "SELECT tid, ts, dur, syscall, arg, waker, reason FROM sleep WHERE syscall NOT NULL",
	       "13 1010000 100000 futex 0xabc0 web a lock or a condition");
	expect(p, "SELECT tid, ts, target_cpu, waker, is_new FROM wakeup", "13 1100000 0 web 0");
	expect(p, "SELECT tid, ts, from_cpu, to_cpu FROM migration", "13 1370000 1 2");
	expect(p, "SELECT cpus, start_ts, end_ts, dur FROM trace", "4 0 1500000 1500000");
}

static void waits_have_their_parts(void **state)
{
	struct pass_fixture *p = *state;

	sql_story(p);
	expect(p, "SELECT tid, ts, dur, queue_dur, cause, waker FROM wait ORDER BY ts",
	       "11 1020000 40000 40000 preempted hog|13 1100000 20000 10000 woken web|"
	       "12 1300000 65000 65000 preempted -");
	expect(p,
	       "SELECT w.tid, p.kind, p.dur, p.culprit, g.path FROM wait w JOIN wait_part p ON p.wait_id = w.id "
	       "LEFT JOIN cgroup g ON g.cgroup_id = p.culprit_cgroup_id ORDER BY p.ts",
	       "11 task 40000 hog -|13 waking 10000 - -|13 idle 10000 - -|"
	       "12 throttled 60000 /limited /limited|12 idle 5000 - -");
	expect(p, "SELECT kind, dur, quota, period FROM throttle",
	       "quota 60000 20000000 100000000");
	expect(p, "SELECT path, sum(dur) FROM throttle JOIN cgroup USING (cgroup_id) GROUP BY path",
	       "/limited 60000");
}

static void functions_are_exact(void **state)
{
	struct pass_fixture *p = *state;

	sql_story(p);
	expect(p, "SELECT ms(1500000), us(1500), s(2500000000), at_s(1000000), at_s(NULL), ms('x')",
	       "1.5 1.5 2.5 0.001 - -");
	expect(p,
	       "WITH v(x) AS (VALUES (5), (1), (9), (3)) SELECT percentile(x, 50), percentile(x, 0), percentile(x, 100), "
	       "percentile(x, 75.1) FROM v",
	       "3 1 9 9");
	expect(p,
	       "WITH v(x) AS (VALUES (5), (1.5), (NULL), ('7'), ('no')) SELECT percentile(x, 100), percentile(x, 1) FROM v",
	       "7 1.5");
	expect(p, "SELECT percentile(dur, 50) FROM wait WHERE 0", "-");
	/* Beyond what a double holds. */
	expect(p,
	       "WITH v(x) AS (VALUES (9007199254740993), (9007199254740992)) SELECT percentile(x, 100) FROM v",
	       "9007199254740993");
}

static void values_of_all_types_are_shown(void **state)
{
	struct pass_fixture *p = *state;

	sql_story(p);
	expect(p, "SELECT 1, -2, 0.5, 1/3.0, 1e-9, 123456.789, NULL, 'a', x'41', 9e999",
	       "1 -2 0.5 0.3333333 0.000000001 123456.789 - a (bytes: use hex()) -");
}

static void the_empty_recording_has_tables_too(void **state)
{
	struct pass_fixture *p = *state;

	finish(p, 1000);
	expect(p, "SELECT count(*), sum(dur) FROM wait", "0 -");
	expect(p,
	       "SELECT (SELECT count(*) FROM wait_part), (SELECT count(*) FROM sample), (SELECT count(*) FROM stack)",
	       "0 0 0");
	expect(p, "SELECT comm, count(*) FROM sched_slice GROUP BY comm", "");
}

static void names_of_columns_are_keys(void **state)
{
	struct pass_fixture *p = *state;
	struct sql_query q = { .text = "SELECT ts, ts, 1 AS a, 2 AS a, 3 AS \"\" FROM wakeup",
		               .shape = SQL_OBJECTS };
	struct report *r = report_new(0);
	struct sql_result result;
	struct diag d = { 0 };
	const struct report_node *root;

	sql_story(p);
	report_begin_object(r, NULL);
	expect_eq(sql_run(&p->source, &q, r, &result, &d), 0);
	report_end_object(r);
	root = report_root(r);
	assert_non_null(report_at(root, "rows.0.ts_2"));
	assert_non_null(report_at(root, "rows.0.a_2"));
	assert_non_null(report_at(root, "rows.0.column_5"));
	assert_string_equal(text_at(root, "columns.1"), "ts_2");
	report_free(r);
}

static void answers_are_cut_where_they_must_and_say_so(void **state)
{
	struct pass_fixture *p = *state;
	struct sql_query q = { .max_rows = 2 };
	struct asked a = { 0 };

	sql_story(p);
	ask(&a, p, &q, "SELECT ts FROM sched_slice");
	expect_eq(a.err, 0);
	expect_eq(len_at(a.root, "rows"), 2);
	assert_string_equal(a.result.truncated, "rows");
	assert_string_equal(text_at(a.root, "truncated_by"), "rows");
	q = (struct sql_query){ .max_bytes = 100 };
	ask(&a, p, &q, "SELECT 'a text of twenty-four byt' FROM sched_slice, sched_slice");
	expect_eq(a.err, 0);
	assert_string_equal(a.result.truncated, "bytes");
	expect_eq(a.result.nr_rows, 4);
	ask(&a, p, &q, "SELECT ts FROM sched_slice");
	expect_eq(a.err, 0);
	assert_null(a.result.truncated);
	assert_null(report_at(a.root, "truncated"));
	ask_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
		CASE(rows_of_tasks_are_what_happened),
		CASE(waits_have_their_parts),
		CASE(functions_are_exact),
		CASE(values_of_all_types_are_shown),
		CASE(the_empty_recording_has_tables_too),
		CASE(names_of_columns_are_keys),
		CASE(answers_are_cut_where_they_must_and_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
