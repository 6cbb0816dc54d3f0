#include "../unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/blame_text.h"

#define MS 1000000ULL

/* The sums of a victim, or of all; what is stolen is not measured. */
static void add_sums(struct report *r, uint64_t waits, uint64_t task_ms, uint64_t throttled_ms)
{
	report_u64(r, "waits", waits);
	report_u64(r, "wait_ns", (task_ms + throttled_ms) * MS);
	report_u64(r, "max_wait_ns", task_ms * MS);
	report_u64(r, "task_ns", task_ms * MS);
	report_u64(r, "throttled_ns", throttled_ms * MS);
	report_null(r, "stolen_ns");
	report_u64(r, "irq_ns", 3 * MS);
	report_u64(r, "idle_ns", 0);
}

static void add_culprit(struct report *r, const char *comm, double percent)
{
	report_begin_object(r, NULL);
	report_u64(r, "pid", 77);
	report_string(r, "comm", comm);
	report_double(r, "percent", percent, 2);
	report_end_object(r);
}

static struct report *sample(const char *mode)
{
	struct report *r = report_new(0);

	assert_non_null(r);
	report_begin_object(r, NULL);
	report_string(r, "aggregation_mode", mode);
	add_sums(r, 12, 1500, 80);
	report_u64(r, "total_victims", 5);
	report_begin_array(r, "victims");
	report_begin_object(r, NULL);
	report_u64(r, "pid", 42);
	report_string(r, "comm", "web\033[31m");
	add_sums(r, 11, 1500, 0);
	report_begin_array(r, "blames");
	add_culprit(r, "backup", 71.4);
	add_culprit(r, "make", 28.6);
	report_end_array(r);
	report_end_object(r);
	report_begin_object(r, NULL);
	report_u64(r, "pid", 43);
	report_string(r, "comm", "build");
	add_sums(r, 1, 0, 80);
	report_begin_array(r, "blames");
	report_end_array(r);
	report_end_object(r);
	report_end_array(r);
	report_end_object(r);
	expect_eq(report_error(r), 0);
	return r;
}

static char *text_of(const struct blame_interval *b, size_t width)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	expect_eq(blame_text(b, width, out), 0);
	expect_eq(fclose(out), 0);
	return text;
}

static void victims_with_what_they_waited_for(void **state)
{
	struct report *r = sample("per_comm");
	struct blame_interval b = {
		.root = report_root(r), .interval_s = 1, .events = 1000, .lost = 2, .cpu_pct = 3.14
	};
	char *text = text_of(&b, 0);

	(void)state;
	assert_string_equal(
		text,
		"last 1.0 s: tasks waited 1.58s in all, 1.50s of that behind other "
		"tasks\n\n"
		"VICTIM           WAITS WAITED BEHIND               LONGEST THROTTLED    IRQ\n"
		"web?[31m            11  1.50s backup 71%, make 29%   1.50s         - 3.00ms\n"
		"build                1 80.0ms                            -    80.0ms 3.00ms\n"
		"and 3 more; --top N shows N\n\n"
		"not measured here: stolen time\n"
		"events 1000, lost 2, user space 3.1% of a CPU\n");
	free(text);
	report_free(r);
}

static void threads_have_their_numbers(void **state)
{
	struct report *r = sample("per_thread");
	struct blame_interval b = { .root = report_root(r), .interval_s = 1 };
	char *text = text_of(&b, 0);

	(void)state;
	assert_non_null(strstr(text, "build/43 "));
	assert_non_null(strstr(text, "backup/77 71%"));
	free(text);
	report_free(r);
}

static void nothing_to_show_is_said(void **state)
{
	struct blame_interval b = { .interval_s = 0.5, .note = "no cgroup matches" };
	char *text = text_of(&b, 80);

	(void)state;
	assert_string_equal(text, "last 0.5 s\nno task waited\n\nno cgroup matches\n"
	                          "events 0, lost 0, user space 0.0% of a CPU\n");
	free(text);
}

static void json_is_one_line(void **state)
{
	struct report *r = sample("per_comm");
	struct blame_interval b = { .root = report_root(r),
		                    .time_ns = 5,
		                    .wall_ns = 1000000000,
		                    .interval_s = 1,
		                    .events = 7 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *json, *victim;

	(void)state;
	assert_non_null(out);
	expect_eq(blame_json(&b, out), 0);
	expect_eq(fclose(out), 0);
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	json = json_loads(text, 0, NULL);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "schema")), BLAME_JSON_SCHEMA);
	assert_string_equal(json_string_value(json_object_get(json, "time")),
	                    "1970-01-01T00:00:01.000000000Z");
	expect_eq(json_integer_value(json_object_get(json, "events")), 7);
	assert_true(json_is_null(json_object_get(json, "note")));
	victim = json_array_get(json_object_get(json_object_get(json, "blame"), "victims"), 0);
	expect_eq(json_integer_value(json_object_get(victim, "task_ns")), 1500 * MS);
	json_decref(json);
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(victims_with_what_they_waited_for),
		cmocka_unit_test(threads_have_their_numbers),
		cmocka_unit_test(nothing_to_show_is_said),
		cmocka_unit_test(json_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
