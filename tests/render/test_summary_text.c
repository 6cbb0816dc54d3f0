#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "render/bottlenecks_text.h"
#include "render/summary_text.h"

static void add_cpus(struct report *r, uint32_t nr)
{
	report_begin_array(r, "cpus");
	for (uint32_t i = 0; i < nr; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "cpu_id", i);
		report_double(r, "busy_percent", i % 2 ? 50 : 100, 2);
		report_double(r, "idle_percent", i % 2 ? 25 : 0, 2);
		report_double(r, "unknown_percent", i % 2 ? 25 : 0, 2);
		report_end_object(r);
	}
	report_end_array(r);
}

static void add_rows(struct report *r, uint32_t nr)
{
	report_begin_array(r, "busiest_tasks");
	for (uint32_t i = 0; i < nr; i++) {
		report_begin_object(r, NULL);
		report_string(r, "comm", i ? "b\xc3\xa4r" : "evil\033[31m");
		report_u64(r, "tid", 100 + i);
		report_u64(r, "runtime_ns", 1500000);
		report_double(r, "of_one_cpu_percent", 75, 2);
		report_end_object(r);
	}
	report_end_array(r);
	report_begin_array(r, "longest_waits");
	for (uint32_t i = 0; i < nr; i++) {
		report_begin_object(r, NULL);
		report_string(r, "comm", "web");
		report_u64(r, "tid", 200 + i);
		report_u64(r, "wait_ns", 20000000);
		report_string(r, "cause", "woken");
		report_u64(r, "cpu", 1);
		report_u64(r, "after_start_ns", 1000001);
		report_string(r, "by", i ? "db" : NULL);
		report_bool(r, "is_open", i == 1);
		report_end_object(r);
	}
	report_end_array(r);
}

static void add_problem(struct report *r, const char *what)
{
	report_begin_object(r, NULL);
	report_string(r, "description", what);
	report_string(r, "remedy", "do less");
	report_string(r, "next", "explain FILE --tid 201 --at @1001001");
	report_end_object(r);
}

static void add_names(struct report *r, uint32_t nr)
{
	report_begin_array(r, "applicable_analyses");
	for (uint32_t i = 0; i < nr; i++)
		report_string(r, NULL, report_printf(r, "analysis_%u", i));
	report_end_array(r);
	report_begin_array(r, "inapplicable_analyses");
	report_begin_object(r, NULL);
	report_string(r, "id", "dsq_summary");
	report_string(r, "missing", "needs sched_ext data");
	report_end_object(r);
	report_end_array(r);
}

/* nr of everything; lost NULL = unknown. */
static struct report *sample(uint32_t nr, const uint64_t *lost)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_string(r, "file", "/some/where/t.pftrace");
	report_u64(r, "file_bytes", 1500000);
	report_string(r, "trace_source", "schedscope");
	report_double(r, "trace_duration_ms", 2, 3);
	report_u64(r, "start_timestamp", 1000);
	report_u64(r, "start_unix_timestamp", 1790000000000000000);
	report_string(r, "kernel", "6.12.0");
	report_null(r, "machine");
	report_u64(r, "num_cpus", nr);
	report_u64(r, "num_processes", 3);
	report_u64(r, "num_threads", 4);
	report_u64(r, "total_events", 56);
	if (lost)
		report_u64(r, "lost_events", *lost);
	else
		report_null(r, "lost_events");
	report_bool(r, "is_scx_trace", true);
	report_null(r, "scheduler");
	report_begin_array(r, "damage");
	report_begin_object(r, NULL);
	report_string(r, "what", "truncated_bytes");
	report_u64(r, "count", 7);
	report_u64(r, "of", 90);
	report_end_object(r);
	report_begin_object(r, NULL);
	report_string(r, "what", "slices_odd");
	report_u64(r, "count", 2);
	report_null(r, "of");
	report_end_object(r);
	report_end_array(r);
	add_cpus(r, nr);
	add_rows(r, nr);
	report_begin_array(r, "bottlenecks");
	add_problem(r, "web (2 tasks) waited 40.0ms for a CPU: 40.0ms behind hog");
	add_problem(r, "db (3) waited 30.0ms for a CPU: 30.0ms behind web");
	add_problem(r, "ls (4) waited 20.0ms for a CPU: 20.0ms behind web");
	report_end_array(r);
	report_begin_array(r, "high_rates");
	report_begin_object(r, NULL);
	report_string(r, "description", "CPU 0 switched");
	report_end_object(r);
	report_end_array(r);
	add_names(r, nr);
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	return r;
}

static char *text_of(const struct report *r, size_t width, size_t height, bool is_utf8)
{
	struct summary_text_cfg cfg = {
		.width = width, .height = height, .is_utf8 = is_utf8, .is_utc = true
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(summary_text(report_root(r), &cfg, out), 0);
	fclose(out);
	return text;
}

static void the_whole_screen(void **state)
{
	const uint64_t lost = 9;
	struct report *r = sample(2, &lost);
	char *text = text_of(r, 0, 0, false);

	(void)state;
	assert_string_equal(
		text,
		"web (2 tasks) waited 40.0ms for a CPU: 40.0ms behind hog\n"
		"db (3) waited 30.0ms for a CPU: 30.0ms behind web\n"
		"try:  do less\n"
		"next: schedscope explain /some/where/t.pftrace --tid 201 --at @1001001\n"
		"/some/where/t.pftrace: 2.00ms of 2 CPUs, by schedscope, 2026-09-21 14:13:20 GMT\n"
		"Linux 6.12.0, sched_ext, 56 events of 4 threads (3 processes)\n"
		"1.5 MB; 9 events were lost; 7 of 90 truncated bytes; 2 slices odd\n"
		"-- CPU  # busy  . idle  ? unknown         busiest threads, % of one CPU --------\n"
		"   0 ########################### 100.0%   evil?[31m           100  1.50ms  75.0%\n"
		"   1 ##############......???????  50.0%   b\xc3\xa4r                 101  1.50ms  75.0%\n"
		"-- longest waits for a CPU; 'schedscope explain FILE' says why -----------------\n"
		"web                 200  20.0ms  at 0.002s, CPU 1, woken\n"
		"web                 201  20.0ms  at 0.002s, CPU 1, woken by db, not over\n"
		"-- more bottlenecks: 'schedscope analyze FILE bottlenecks' ---------------------\n"
		"ls (4) waited 20.0ms for a CPU: 20.0ms behind web\n"
		"CPU 0 switched\n"
		"-- analyses that apply: 'schedscope analyze FILE NAME' -------------------------\n"
		"analysis_0  analysis_1\n"
		"not dsq_summary, which needs sched_ext data\n");
	free(text);
	report_free(r);
}

static void causes_that_do_not_fit_are_left_out_whole(void **state)
{
	struct report *r = report_new(0);
	char *text;

	(void)state;
	report_begin_object(r, NULL);
	report_begin_array(r, "bottlenecks");
	add_problem(r, "first");
	report_begin_object(r, NULL);
	report_string(r, "description",
	              "web waited 40ms: 20ms behind hog, 15ms behind batch, 5ms behind db");
	report_end_object(r);
	report_end_array(r);
	report_end_object(r);
	text = text_of(r, 60, 0, false);
	assert_memory_equal(text,
	                    "first\nweb waited 40ms: 20ms behind hog, 15ms behind batch, ...\n",
	                    63);
	free(text);
	text = text_of(r, 55, 0, false);
	assert_memory_equal(text, "first\nweb waited 40ms: 20ms behind hog, ...\n", 44);
	free(text);
	text = text_of(r, 56, 0, false); /* just enough */
	assert_memory_equal(text,
	                    "first\nweb waited 40ms: 20ms behind hog, 15ms behind batch, ...\n",
	                    63);
	free(text);
	text = text_of(r, 40, 0, false);
	assert_memory_equal(text, "first\nweb waited 40ms: 20ms behind hog, ...\n", 44);
	free(text);
	text = text_of(r, 0, 0, false);
	assert_non_null(strstr(text, "5ms behind db\n"));
	free(text);
	report_free(r);
}

static void the_first_sentence_has_two_lines(void **state)
{
	struct report *r = report_new(0);
	char *text;

	(void)state;
	report_begin_object(r, NULL);
	report_begin_array(r, "bottlenecks");
	add_problem(
		r,
		"web waited 40ms for a CPU behind something that is long, and then behind another");
	report_end_array(r);
	report_end_object(r);
	text = text_of(r, 40, 0, false);
	assert_memory_equal(text,
	                    "web waited 40ms for a CPU behind\n  something that is long, ...\n",
	                    63);
	free(text);
	report_free(r);
}

static size_t count_lines(const char *text, size_t width)
{
	size_t nr = 0;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1, nr++) {
		char line[1024];

		snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
		assert_true(text_width(line) <= width);
	}
	return nr;
}

static void it_fits_any_screen(void **state)
{
	static const size_t sizes[][2] = { { 80, 24 }, { 200, 50 }, { 50, 24 }, { 132, 30 } };

	(void)state;
	for (uint32_t nr = 0; nr < 600; nr = nr * 3 + 1)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			struct report *r = sample(nr, NULL);
			char *text = text_of(r, sizes[i][0], sizes[i][1], i % 2);

			assert_true(count_lines(text, sizes[i][0]) < sizes[i][1]);
			assert_non_null(strstr(text, "an unknown number of events was lost"));
			assert_true(!nr || strstr(text, "web"));
			free(text);
			report_free(r);
		}
}

static void many_cpus_are_one_character_each(void **state)
{
	struct report *r = sample(64, NULL);
	char *text = text_of(r, 80, 24, false), *blocks = text_of(r, 80, 24, true);

	(void)state;
	assert_non_null(strstr(text, "   0 9595959595959595959595959595959595"));
	assert_non_null(strstr(text, "  34 9595959595959595959595959595"));
	assert_non_null(strstr(blocks, "   0 \u2588\u2585\u2588\u2585"));
	free(text);
	free(blocks);
	report_free(r);
}

static void what_is_left_out_is_counted(void **state)
{
	struct report *r = sample(40, NULL);
	char *text = text_of(r, 80, 24, false);
	const char *more = strstr(text, "+ ");
	unsigned int left = 0, shown = 0;

	(void)state;
	assert_non_null(more);
	assert_int_equal(sscanf(more, "+ %u (--list)", &left), 1);
	for (const char *at = text; (at = strstr(at, "analysis_")); at++)
		shown++;
	assert_int_equal(shown + left, 40);
	free(text);
	report_free(r);
}

static char *next_of(const char *file, struct report_clock clock, size_t width,
                     char buf[COMMAND_TEXT_BYTES])
{
	struct report *r = sample(1, NULL);

	bottleneck_next(report_at(report_root(r), "bottlenecks.0"), file, clock, width, buf);
	report_free(r);
	return buf;
}

static void the_next_command_can_be_copied(void **state)
{
	const struct report_clock unknown = { 0 };
	char buf[COMMAND_TEXT_BYTES];

	(void)state;
	assert_string_equal(next_of("t.pftrace", unknown, 0, buf),
	                    "schedscope explain t.pftrace --tid 201 --at @1001001");
	assert_string_equal(next_of("t.pftrace", unknown, 52, buf),
	                    "schedscope explain t.pftrace --tid 201 --at @1001001");
	assert_string_equal(next_of("t.pftrace", unknown, 51, buf),
	                    "schedscope explain FILE --tid 201 --at @1001001");
	assert_string_equal(next_of("t.pftrace", (struct report_clock){ true, 1001 }, 0, buf),
	                    "schedscope explain t.pftrace --tid 201 --at 0.001s");
	assert_string_equal(next_of("a b", unknown, 0, buf),
	                    "schedscope explain FILE --tid 201 --at @1001001");
	assert_string_equal(next_of("-t", unknown, 0, buf),
	                    "schedscope explain FILE --tid 201 --at @1001001");
}

static void the_list_has_remedies_and_commands(void **state)
{
	struct report_text_cfg cfg = { .width = 30, .file = "t" };
	struct report *r = sample(1, NULL);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(bottlenecks_text(report_root(r), &cfg, out), 0);
	fclose(out);
	assert_ptr_equal(strstr(text, " 1. web (2 tasks) waited\n"
	                              "    40.0ms for a CPU: 40.0ms\n"
	                              "    behind hog\n"
	                              "    try:  do less\n"
	                              "    next: schedscope explain FILE --tid 201 --at @1001001\n"
	                              " 2. db (3)"),
	                 text);
	assert_non_null(strstr(text, "\n\nCPU 0 switched\n"));
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_screen),
		cmocka_unit_test(the_first_sentence_has_two_lines),
		cmocka_unit_test(causes_that_do_not_fit_are_left_out_whole),
		cmocka_unit_test(it_fits_any_screen),
		cmocka_unit_test(many_cpus_are_one_character_each),
		cmocka_unit_test(what_is_left_out_is_counted),
		cmocka_unit_test(the_next_command_can_be_copied),
		cmocka_unit_test(the_list_has_remedies_and_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
