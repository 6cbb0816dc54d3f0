#include "loaded.h"

/* What programs write into trace_marker, as text has it; other lines are in test_trace_text.c. */

static struct loaded l;

static int teardown(void **state)
{
	(void)state;
	loaded_done(&l);
	return 0;
}

static void load_text(const char *text)
{
	loaded_done(&l);
	load_cfg(&l, text, strlen(text), NULL);
	expect_eq(l.err, 0);
}

#define AT "              sh-20      [002] d..2.    12.000035: "

/* As tracefs and trace-cmd print it. */
static void marks_of_programs_are_spans(void **state)
{
	static const char *const forms[] = { "tracing_mark_write: ", "print:                ",
		                             "print: tracing_mark_write: " };
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		(void)snprintf(text, sizeof(text), "%s%sB|20|draw: all\n%s%sE|20\n", AT, forms[i],
		               AT, forms[i]);
		loaded_done(&l);
		load_text(text);
		expect_eq(l.nr, 3); /* with two strings */
		expect_eq(((const struct ev_span *)rec_at(&l, 2, EV_SPAN))->tid, 20);
		assert_string_equal((const char *)(rec_at(&l, 1, EV_STRING)) +
		                            sizeof(struct ev_string),
		                    "draw: all");
	}
}

/* Whole numbers only; behind the value there may be more, which Android writes. */
static void values_of_programs_are_counters(void **state)
{
	static const struct {
		const char *text, *name;
		int64_t value;
		uint32_t tgid;
	} good[] = {
		{ "C|20|queue|3", "queue", 3, 20 },
		{ "C|21|a b: c|-5", "a b: c", -5, 21 },
		{ "C|0|none|0", "none", 0, 0 },
		{ "C|20|q|7|memory", "q", 7, 20 },
		{ "C|20|most|9223372036854775807", "most", INT64_MAX, 20 },
		{ "C|20|0123456789012345678901234567890123456789012345678901234567890123456789|1",
		  "012345678901234567890123456789012345678901234567890123456789012", 1, 20 },
	};
	static const char *const bad[] = {
		"C",           "C|20",           "C|20|queue",
		"C|20|queue|", "C|20|queue|1.5", "C|20||3",
		"C|20|q|-",    "C|x|q|3",        "C|20|q|9223372036854775808",
		"C|20|q|x"
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct ev_counter *c;

		(void)snprintf(text, sizeof(text), "%stracing_mark_write: %s\n", AT, good[i].text);
		loaded_done(&l);
		load_text(text);
		expect_eq(l.nr, 1);
		c = rec_at(&l, 0, EV_COUNTER);
		assert_string_equal(c->name, good[i].name);
		expect_eq(c->value, good[i].value);
		expect_eq(c->tgid, good[i].tgid);
		expect_eq(c->tid, 20);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(text, sizeof(text), "%stracing_mark_write: %s\n", AT, bad[i]);
		loaded_done(&l);
		load_text(text);
		expect_eq(l.nr, 0);
		expect_eq(counted_events(l.info, "tracing_mark_write"), 1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(marks_of_programs_are_spans, teardown),
		cmocka_unit_test_teardown(values_of_programs_are_counters, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
