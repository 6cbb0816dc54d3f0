#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/diff_text.h"

static void add_row(struct report *r, const char *comm, const char *metric, double a, double b,
                    const char *verdict)
{
	report_begin_object(r, NULL);
	report_string(r, "comm", comm);
	report_string(r, "metric", metric);
	report_double(r, "a", a, 2);
	report_double(r, "a_interval", a / 10, 2);
	report_double(r, "b", b, 2);
	report_null(r, "b_interval");
	report_double(r, "change_percent", 100 * (b - a) / a, 1);
	report_string(r, "verdict", verdict);
	report_end_object(r);
}

static struct report *sample(const char *overall, const char *name)
{
	struct report *r = report_new(0);

	report_begin_object(r, NULL);
	report_begin_object(r, "a");
	report_string(r, "file", "before\033.pftrace");
	report_string(r, "scheduler", NULL);
	report_u64(r, "duration_ns", 3000000000);
	report_u64(r, "cpus", 2);
	report_u64(r, "lost_events", 7);
	report_end_object(r);
	report_begin_array(r, "overall");
	add_row(r, "(all)", "wakeup_latency_mean_us", 63.5, 20, overall);
	add_row(r, "(all)", "switches_per_sec", 1000, 1234, overall[0] == 'b' ? "more" : "unclear");
	report_end_array(r);
	report_u64(r, "changes_found", 5);
	report_begin_array(r, "changes");
	add_row(r, "web", "preempted_wait_mean_us", 1500, 3000, name);
	report_end_array(r);
	report_begin_array(r, "only_in_b");
	report_string(r, NULL, "new");
	report_end_array(r);
	report_string(r, "note", "a note");
	report_end_object(r);
	assert_int_equal(report_error(r), 0);
	return r;
}

static char *text_in(size_t height, const char *overall, const char *name)
{
	struct report_text_cfg cfg = { .width = 80, .height = height };
	struct report *r = sample(overall, name);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(diff_text(report_root(r), &cfg, out), 0);
	fclose(out);
	report_free(r);
	return text;
}

static char *text_of(const char *overall, const char *name)
{
	return text_in(0, overall, name);
}

static void expect_first(const char *overall, const char *name, const char *line)
{
	char *text = text_of(overall, name);

	if (strncmp(text, line, strlen(line)) != 0)
		fail_msg("%s", text);
	free(text);
}

static void the_first_line_is_the_verdict(void **state)
{
	(void)state;
	expect_first("better", "unclear", "B is better: tasks wait less for a CPU.\n");
	expect_first("worse", "better", "B is worse: tasks wait longer for a CPU.\n");
	expect_first("unclear", "worse",
	             "No change proved of all waits together; some tasks wait longer in B.\n");
	expect_first("same", "more", "No change of waits proved; what ran differs.\n");
	expect_first(
		"unclear", "unclear",
		"No change proved: A and B differ no more than parts of the same recording do.\n");
}

static void changes_are_sentences_and_then_a_table(void **state)
{
	char *text = text_of("better", "worse");

	(void)state;
	assert_non_null(strstr(
		text,
		"  all tasks: mean wakeup latency fell 68.5 %, from 63.5us +-6.35us to 20.0us:\n"
		"  better.\n"
		"  all tasks: switches rose 23.4 %, from 1000/s +-100/s to 1234/s.\n"
		"  web: mean wait of preempted tasks rose 100.0 %, from 1.50ms +-150us to 3.00ms:\n"
		"  worse.\n"));
	assert_non_null(
		strstr(text, "web   preempted, mean  1.50ms +-150us 3.00ms +100.0% worse\n"));
	assert_non_null(strstr(text, "\nand 4 more changes; -n 5 shows them\n"));
	assert_non_null(strstr(text, "A: before?.pftrace, 3.00s of 2 CPUs; 7 events lost\n"));
	assert_non_null(strstr(text, "only in B: new\n"));
	assert_non_null(strstr(text, "note: a note\n"));
	free(text);
}

static void noise_is_in_the_table_only(void **state)
{
	char *text = text_of("unclear", "same");

	(void)state;
	assert_null(strstr(text, "all tasks:"));
	assert_null(strstr(text, "web:"));
	assert_non_null(strstr(text, " unclear\n"));
	free(text);
}

/* With the prompt of the shell below it. */
static void on_a_terminal_it_is_one_screen(void **state)
{
	(void)state;
	for (size_t height = 16; height < 30; height++) {
		char *text = text_in(height, "better", "worse");
		size_t nr = 0;

		for (const char *c = text; *c; c++)
			nr += *c == '\n';
		if (nr + 1 > height)
			fail_msg("%zu lines on %zu: %s", nr, height, text);
		assert_null(strstr(text, "a note"));
		assert_null(strstr(text, "only in B"));
		free(text);
	}
	char *text = text_in(16, "better", "worse");

	assert_non_null(strstr(text, "  and 1 more change, below\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_is_the_verdict),
		cmocka_unit_test(changes_are_sentences_and_then_a_table),
		cmocka_unit_test(on_a_terminal_it_is_one_screen),
		cmocka_unit_test(noise_is_in_the_table_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
