#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/report_lines.h"

static void add_event(struct report *r, uint64_t ts, const char *type, const char *key,
                      const char *value)
{
	report_begin_object(r, NULL);
	report_u64(r, "timestamp", ts);
	report_u64(r, "cpu", 3);
	report_string(r, "event_type", type);
	report_begin_object(r, "fields");
	report_string(r, key, value);
	report_i64(r, "prio", -1);
	report_null(r, "gone");
	report_end_object(r);
	report_end_object(r);
}

static struct report *events(const char *second_type)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_begin_array(r, "events");
	add_event(r, 10, "sched_waking", "comm", "a,\"b\"");
	add_event(r, 20, second_type, "name", "evil\033[2J\r\n name");
	report_end_array(r);
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	return r;
}

static char *text_of(const struct report *r, int (*print)(const struct report_node *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(print(report_at(report_root(r), "events"), out), 0);
	fclose(out);
	return text;
}

static void expect_text(const char *type, int (*print)(const struct report_node *, FILE *),
                        const char *expected)
{
	struct report *r = events(type);
	char *text = text_of(r, print);

	assert_string_equal(text, expected);
	free(text);
	report_free(r);
}

static void csv_has_the_columns_of_all_rows_and_no_controls(void **state)
{
	(void)state;
	expect_text("irq_handler_entry", report_csv,
	            "timestamp,cpu,event_type,comm,prio,gone,name\r\n"
	            "10,3,sched_waking,\"a,\"\"b\"\"\",-1,,\r\n"
	            "20,3,irq_handler_entry,,-1,,evil?[2J?? name\r\n");
}

static void json_lines_keep_every_byte(void **state)
{
	struct report *r = events("x");
	char *text = text_of(r, report_jsonl);
	char *second = strchr(text, '\n') + 1;

	(void)state;
	assert_non_null(strstr(second, "evil\\u001b[2J"));
	assert_null(strchr(text, '\033'));
	assert_string_equal(strchr(second, '\n'), "\n");
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_has_the_columns_of_all_rows_and_no_controls),
		cmocka_unit_test(json_lines_keep_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
