#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/report_text.h"
#include "render/sheet.h"

/* Two rows, of which the second has waited longer, and a name that no terminal should obey. */
static struct report *sample(void)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_string(r, "analysis_type", "task_states");
	report_u64(r, "processes_analyzed", 9);
	report_u64(r, "nothing", 0);
	report_null(r, "unknown");
	report_begin_array(r, "processes");
	for (uint64_t i = 1; i < 3; i++) {
		report_begin_object(r, NULL);
		report_u64(r, "pid", 100 * i);
		report_string(r, "comm", i == 1 ? "web" : "it's\033[1m");
		report_u64(r, "runnable_time_ns", i * 1500000);
		report_u64(r, "running_time_ns", 6000000);
		report_double(r, "running_percent", 50, 1);
		report_double(r, "runnable_percent", 25, 1);
		report_double(r, "sleeping_percent", 25, 1);
		report_u64(r, "start_timestamp", 5001000 * i);
		report_end_object(r);
	}
	report_end_array(r);
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	return r;
}

static char *say(const char *sentence, bool is_for_shell)
{
	static char buf[SHEET_BYTES];
	const struct sheet_words w = { .clock = { true, 5000000 }, .is_for_shell = is_for_shell };
	struct report *r = sample();
	bool is_said = sheet_say(report_root(r), sentence, &w, buf, sizeof(buf));

	report_free(r);
	return is_said ? buf : NULL;
}

static void sentences_have_values_and_tasks(void **state)
{
	(void)state;
	assert_string_equal(say("{processes.0.runnable_time_ns} of {@processes.0}", false),
	                    "1.50ms of web (100)");
	assert_string_equal(say("{@processes.^runnable_time_ns}", false), "it's?[1m (200)");
	assert_string_equal(say("{processes.0.start_timestamp}", false), "0.000001s");
	assert_string_equal(say("{processes_analyzed} task{processes_analyzed|s}", false),
	                    "9 tasks");
	assert_string_equal(say("{=nothing} {nothing|s}", false), "0 s");
}

static void what_is_unknown_or_0_is_not_said(void **state)
{
	(void)state;
	assert_null(say("{nothing} found", false));
	assert_null(say("{unknown} found", false));
	assert_null(say("{=unknown} found", false));
	assert_null(say("{no.such} found", false));
	assert_null(say("{@processes.7} found", false));
	assert_string_equal(say("all[: {nothing} x][, {processes_analyzed} y][ {unknown}].", false),
	                    "all, 9 y.");
}

static void a_command_quotes_names_or_is_not_said(void **state)
{
	(void)state;
	assert_string_equal(say("-c {processes.0.comm}", true), "-c web");
	assert_null(say("-c {processes.1.comm}", true));
}

static char *text_of(const struct report *r, const struct report_text_cfg *cfg)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_text(report_root(r), cfg, out), 0);
	fclose(out);
	return text;
}

static void a_sheet_answers_and_says_what_to_run(void **state)
{
	struct report_text_cfg cfg = { .width = 60, .file = "t.pftrace" };
	struct report *r = sample();
	char *text = text_of(r, &cfg);

	(void)state;
	assert_ptr_equal(
		strstr(text, "Of the tasks below, it's?[1m (200) waited most for a CPU:\n"), text);
	assert_non_null(strstr(text, "web/100      ##########=====....."));
	assert_non_null(strstr(text, "and 7 more; -n 9 shows them\n"));
	assert_non_null(strstr(text, "\nnext: schedscope explain t.pftrace --tid 200 -n 1\n"));
	assert_null(strchr(text, '\033'));
	free(text);
	cfg.is_colored = true;
	text = text_of(r, &cfg);
	assert_ptr_equal(strstr(text, "\033[1mOf the tasks"), text);
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences_have_values_and_tasks),
		cmocka_unit_test(what_is_unknown_or_0_is_not_said),
		cmocka_unit_test(a_command_quotes_names_or_is_not_said),
		cmocka_unit_test(a_sheet_answers_and_says_what_to_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
