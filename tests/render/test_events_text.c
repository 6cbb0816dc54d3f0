#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/events_text.h"

#define START 1000000000ULL

static void add_event(struct report *r, uint64_t ts, const char *type, const char *key,
                      const char *value)
{
	report_begin_object(r, NULL);
	report_u64(r, "timestamp", START + ts);
	report_u64(r, "cpu", 3);
	report_string(r, "event_type", type);
	report_u64(r, "pid", 7);
	report_begin_object(r, "fields");
	report_u64(r, "pid", 7);
	report_string(r, key, value);
	report_i64(r, "prio", -1);
	report_null(r, "gone");
	report_end_object(r);
	report_end_object(r);
}

/* Two events of total, from the one of this number on. */
static struct report *events(const char *second_type, uint64_t total, uint64_t offset)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_begin_array(r, "events");
	add_event(r, 10, "sched_waking", "comm", "a b");
	add_event(r, 2500000020, second_type, "comm", "evil\033[2J\r\n name");
	report_end_array(r);
	report_u64(r, "total_matched", total);
	report_u64(r, "returned_count", 2);
	report_u64(r, "offset", offset);
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	return r;
}

static void expect_text(struct report *r, size_t width, const char *expected)
{
	struct report_text_cfg cfg = { .width = width, .clock = { true, START } };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(events_text(report_root(r), &cfg, out), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	report_free(r);
}

static void events_of_one_type_are_a_table(void **state)
{
	(void)state;
	expect_text(events("sched_waking", 2, 0), 80,
	            "2 events: sched_waking\n\n"
	            "   timestamp cpu pid comm            prio gone\n"
	            "0.000000010s   3   7 a b               -1    -\n"
	            "2.500000020s   3   7 evil?[2J?? name   -1    -\n");
}

static void what_is_not_shown_is_counted(void **state)
{
	(void)state;
	expect_text(events("sched_waking", 9, 0), 30,
	            "9 events, of which these are\nthe first 2 (--all shows all):\nsched_waking\n\n"
	            "   timestamp cpu pid\n"
	            "0.000000010s   3   7\n"
	            "2.500000020s   3   7\n"
	            "\nno room for comm, prio, gone; --select chooses\n");
	expect_text(events("x", 9, 4), 80,
	            "9 events, of which these are 5 to 6\n\n"
	            "     timestamp cpu event and its fields\n"
	            "  0.000000010s   3 sched_waking pid=7 comm=\"a b\" prio=-1 gone=\n"
	            "  2.500000020s   3 x pid=7 comm=\"evil?[2J?? name\" prio=-1 gone=\n");
}

static struct report *sums(bool has_groups)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_u64(r, "total_matched", 12);
	report_string(r, "incomplete", "some were lost");
	report_begin_object(r, "aggregation");
	report_string(r, "function", "p99");
	report_string(r, "field", "prio");
	if (has_groups) {
		report_string(r, "group_by", "comm");
		report_u64(r, "total_groups", 3);
		report_begin_array(r, "groups");
		report_begin_object(r, NULL);
		report_string(r, "value", "web");
		report_u64(r, "count", 8);
		report_u64(r, "result", 120);
		report_end_object(r);
		report_end_array(r);
	} else {
		report_u64(r, "result", 120);
	}
	report_end_object(r);
	report_end_object(r);
	return r;
}

static void groups_and_sums_are_sentences(void **state)
{
	(void)state;
	expect_text(sums(false), 80, "p99 of prio: 120, of 12 events\n\nnote: some were lost\n");
	expect_text(
		sums(true), 80,
		"12 events, 3 different comm, the most frequent first; these are 1 (--all shows\n"
		"all)\n\n"
		"comm count p99 of prio\n"
		"web      8         120\n\nnote: some were lost\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_one_type_are_a_table),
		cmocka_unit_test(what_is_not_shown_is_counted),
		cmocka_unit_test(groups_and_sums_are_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
