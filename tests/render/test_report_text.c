#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/report_json.h"
#include "render/report_text.h"

/* A little of everything. */
static struct report *sample(void)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_string(r, "analysis_type", "demo");
	report_u64(r, "total_time_ns", 1500000);
	report_u64(r, "first_timestamp", 123456789);
	report_null(r, "unknown_thing");
	report_double(r, "busy_percent", 12.5, 1);
	report_id(r, "dsq_id", 0x8000000000000002ULL);
	report_begin_array(r, "rows");
	for (uint64_t i = 1; i < 3; i++) {
		report_begin_object(r, NULL);
		report_string(r, "comm", i == 1 ? "bash" : "evil\033[31m");
		report_u64(r, "wait_ns", i * 1000);
		report_begin_object(r, "part");
		report_u64(r, "max_ns", i * 2000);
		report_end_object(r);
		report_end_object(r);
	}
	report_end_array(r);
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	return r;
}

static char *text_of(const struct report *r, size_t width)
{
	struct report_text_cfg cfg = { .width = width };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_text(report_root(r), &cfg, out), 0);
	fclose(out);
	return text;
}

static void people_see_times_parts_and_tables(void **state)
{
	struct report *r = sample();
	char *text = text_of(r, 0);

	(void)state;
	assert_string_equal(text, "total time                     1.50ms\n"
	                          "first timestamp                123456789\n"
	                          "unknown thing                  -\n"
	                          "busy %                         12.5%\n"
	                          "dsq id                         0x8000000000000002\n"
	                          "\n"
	                          "rows:\n"
	                          "                     part\n"
	                          "  comm        wait    max\n"
	                          "  bash      1.00us 2.00us\n"
	                          "  evil?[31m 2.00us 4.00us\n");
	free(text);
	report_free(r);
}

static void what_does_not_fit_is_named(void **state)
{
	struct report *r = sample();
	char *text = text_of(r, 20);

	(void)state;
	assert_non_null(strstr(text, "  comm        wait\n"));
	assert_non_null(strstr(
		text,
		"(no room for: part\n                max;\n                --json\n                has\n                all)"));
	free(text);
	report_free(r);
}

/* Rows with a list of their own, an unknown name before a known one, a metric that gives its unit. */
static struct report *deep_sample(void)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_string(r, "note", "one two three four five six seven eight service_percent ten");
	report_double(r, "percent_of_total", 50, 1);
	report_begin_array(r, "rows");
	for (uint64_t i = 1; i < 3; i++) {
		report_begin_object(r, NULL);
		report_string(r, "waker_comm", i == 1 ? NULL : "db");
		report_string(r, "metric", i == 1 ? "wait_ns" : "switches");
		report_u64(r, "value", 1000 * i);
		report_begin_array(r, "links");
		for (uint64_t k = 0; k < i; k++) {
			report_begin_object(r, NULL);
			report_u64(r, "pid", 100 * i + k);
			report_end_object(r);
		}
		report_end_array(r);
		report_end_object(r);
	}
	report_end_array(r);
	report_begin_object(r, "found");
	report_string(r, "metric", "wait_ns");
	report_begin_object(r, "thresholds");
	report_double(r, "lower_bound", -2500, 3);
	report_end_object(r);
	report_end_object(r);
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	return r;
}

static void lists_in_rows_stand_below_their_row(void **state)
{
	struct report *r = deep_sample();
	char *text = text_of(r, 60);

	(void)state;
	assert_string_equal(text, "percent of total               50.0%\n"
	                          "found:\n"
	                          "  metric                         wait_ns\n"
	                          "  thresholds:\n"
	                          "    lower bound                    -2.50us\n"
	                          "\n"
	                          "rows:\n"
	                          "  waker\n"
	                          "  comm  metric    value\n"
	                          "  -     wait_ns  1.00us\n"
	                          "    links:\n"
	                          "      pid\n"
	                          "      100\n"
	                          "  db    switches   2000\n"
	                          "    links:\n"
	                          "      pid\n"
	                          "      200\n"
	                          "      201\n"
	                          "\n"
	                          "note: one two three four five six seven eight service % ten\n");
	free(text);
	report_free(r);
}

static void an_event_is_called_by_what_it_is(void **state)
{
	struct report *r = report_new(0);
	char *text;

	(void)state;
	report_begin_object(r, NULL);
	report_begin_array(r, "events");
	for (uint64_t i = 0; i < 2; i++) {
		report_begin_object(r, NULL);
		report_begin_object(r, i ? "Woken" : "Scheduled");
		report_u64(r, i ? "by_pid" : "cpu", i);
		report_u64(r, "timestamp", 1000 + i);
		report_end_object(r);
		report_end_object(r);
	}
	report_end_array(r);
	report_begin_array(r, "mixed");
	for (uint64_t i = 0; i < 2; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "pid", 7);
		report_begin_object(r, "fields");
		report_u64(r, "pid", 7);
		report_u64(r, i ? "vec" : "irq", 3);
		report_end_object(r);
		report_begin_object(r, "percentiles");
		report_u64(r, "max", 2500);
		report_end_object(r);
		report_end_object(r);
	}
	report_end_array(r);
	report_end_object(r);
	text = text_of(r, 0);
	assert_string_equal(text, "\n"
	                          "events:\n"
	                          "                           by\n"
	                          "  timestamp event     cpu pid\n"
	                          "       1000 Scheduled   0   -\n"
	                          "       1001 Woken       -   1\n"
	                          "\n"
	                          "mixed:\n"
	                          "  pid irq    max vec\n"
	                          "    7   3 2.50us   -\n"
	                          "    7   - 2.50us   3\n");
	free(text);
	report_free(r);
}

static void a_histogram_has_bars(void **state)
{
	struct report *r = report_new(0);
	char *text;

	(void)state;
	report_begin_object(r, NULL);
	report_begin_array(r, "histogram");
	for (uint64_t i = 0; i < 2; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "count", i ? 1 : 1000);
		report_end_object(r);
	}
	report_end_array(r);
	report_end_object(r);
	text = text_of(r, 0);
	assert_non_null(strstr(text, "1000 ########################################\n"));
	assert_non_null(strstr(text, "   1 #\n")); /* the smallest is still seen */
	free(text);
	report_free(r);
}

static void moments_are_after_the_start(void **state)
{
	struct report_text_cfg cfg = { .clock = { true, 123000000 } };
	struct report *r = sample();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(report_text(report_root(r), &cfg, out), 0);
	fclose(out);
	assert_non_null(
		strstr(text, "first timestamp                0.000457s\n")); /* rounded up */
	free(text);
	report_free(r);
}

static void json_has_the_same_keys_and_no_rounded_ids(void **state)
{
	struct report *r = sample();
	struct json_writer w;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	jw_init(&w, out, false);
	report_json(&w, NULL, report_root(r));
	assert_int_equal(jw_finish(&w), 0);
	fclose(out);
	assert_string_equal(
		text,
		"{\"analysis_type\":\"demo\",\"total_time_ns\":1500000,\"first_timestamp\":123456789,"
		"\"unknown_thing\":null,\"busy_percent\":12.5,\"dsq_id\":\"9223372036854775810\",\"rows\":["
		"{\"comm\":\"bash\",\"wait_ns\":1000,\"part\":{\"max_ns\":2000}},"
		"{\"comm\":\"evil\\u001b[31m\",\"wait_ns\":2000,\"part\":{\"max_ns\":4000}}]}\n");
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_see_times_parts_and_tables),
		cmocka_unit_test(what_does_not_fit_is_named),
		cmocka_unit_test(lists_in_rows_stand_below_their_row),
		cmocka_unit_test(an_event_is_called_by_what_it_is),
		cmocka_unit_test(a_histogram_has_bars),
		cmocka_unit_test(moments_are_after_the_start),
		cmocka_unit_test(json_has_the_same_keys_and_no_rounded_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
