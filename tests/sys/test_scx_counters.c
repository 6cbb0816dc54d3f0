#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/scx/scx_counters.h"
#include "tree.h"

#define FILE_NAME "sys/kernel/sched_ext/root/events"

static void without_a_scheduler_there_are_none(void **state)
{
	struct scx_counters c;
	struct tree t;

	(void)state;
	tree_init(&t);
	assert_int_equal(scx_counters_read(t.root, &c), -ENOENT);
	tree_done(&t);
}

static void each_line_is_a_counter(void **state)
{
	struct scx_counters c;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, FILE_NAME,
	           "SCX_EV_SELECT_CPU_FALLBACK 12\nSCX_EV_BYPASS_DURATION 77123456\nOTHER -1\n");
	assert_int_equal(scx_counters_read(t.root, &c), 0);
	assert_int_equal(c.nr, 3);
	assert_string_equal(c.items[0].name, "select_cpu_fallback");
	assert_int_equal(c.items[0].value, 12);
	assert_string_equal(c.items[1].name, "bypass_duration");
	assert_int_equal(c.items[1].value, 77123456);
	assert_string_equal(c.items[2].name, "other");
	assert_int_equal(c.items[2].value, -1);
	tree_write(&t, FILE_NAME, "");
	assert_int_equal(scx_counters_read(t.root, &c), 0);
	assert_int_equal(c.nr, 0);
	tree_done(&t);
}

static void what_is_no_counter_is_an_error(void **state)
{
	static const char *const bad[] = {
		"SCX_EV_ONE",
		"SCX_EV_ONE ",
		"SCX_EV_ONE x",
		"SCX_EV_ONE 1x",
		"SCX_EV_ 1",
		" 1",
		"SCX_EV_ONE 99999999999999999999",
		"SCX_EV_A_NAME_THAT_IS_FAR_TOO_LONG_FOR_ANY_COUNTER_OF_THE_KERNEL 1",
	};
	struct scx_counters c;
	struct tree t;

	(void)state;
	tree_init(&t);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_write(&t, FILE_NAME, bad[i]);
		assert_int_equal(scx_counters_read(t.root, &c), -EIO);
	}
	tree_done(&t);
}

static void more_than_fit_are_left_out(void **state)
{
	char text[8192] = "";
	struct scx_counters c;
	size_t at = 0;
	struct tree t;

	(void)state;
	tree_init(&t);
	for (int i = 0; i < 100; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "SCX_EV_N%d %d\n", i, i);
	tree_write(&t, FILE_NAME, text);
	assert_int_equal(scx_counters_read(t.root, &c), 0);
	assert_int_equal(c.nr, SCX_COUNTERS_MAX);
	assert_int_equal(c.items[SCX_COUNTERS_MAX - 1].value, SCX_COUNTERS_MAX - 1);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_scheduler_there_are_none),
		cmocka_unit_test(each_line_is_a_counter),
		cmocka_unit_test(what_is_no_counter_is_an_error),
		cmocka_unit_test(more_than_fit_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
