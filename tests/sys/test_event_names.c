#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "sys/pmu/event_names.h"
#include "tree.h"

static void tracepoints_come_sorted_from_tracefs(void **state)
{
	struct diag d = { 0 };
	struct event_names n;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_write(&t, "sys/kernel/tracing/available_events",
	           "sched:sched_switch\nblock:block_rq_issue\nnonsense\n:x\ny:\nsched:sched_a\n");
	expect_eq(event_names_tracepoints(t.root, &d, &n), 0);
	expect_eq(n.nr, 3);
	assert_string_equal(n.source, "tracefs");
	assert_string_equal(n.items[0].subsystem, "block");
	assert_string_equal(n.items[1].name, "sched_a");
	assert_string_equal(n.items[2].name, "sched_switch");
	event_names_done(&n);
	tree_done(&t);
}

static void functions_come_from_tracefs_else_from_kallsyms(void **state)
{
	struct diag d = { 0 };
	struct event_names n;
	struct tree t;

	(void)state;
	tree_init(&t);
	expect_eq(event_names_functions(t.root, &d, &n), -ENOENT);
	assert_true(d.what[0] && d.hint[0]);
	tree_write(
		&t, "proc/kallsyms",
		"ffff0 T schedule\nffff1 d some_data\nffff2 t helper\t[mod]\nffff3 W weak\njunk\n");
	expect_eq(event_names_functions(t.root, &d, &n), 0);
	assert_string_equal(n.source, "kallsyms");
	expect_eq(n.nr, 3);
	assert_string_equal(n.items[1].name, "helper");
	event_names_done(&n);
	tree_write(&t, "sys/kernel/debug/tracing/available_filter_functions",
	           "zeta\nalpha [mod]\n\n");
	expect_eq(event_names_functions(t.root, &d, &n), 0);
	assert_string_equal(n.source, "tracefs");
	expect_eq(n.nr, 2);
	assert_string_equal(n.items[0].name, "zeta"); /* as in the file */
	assert_string_equal(n.items[1].name, "alpha");
	event_names_done(&n);
	tree_done(&t);
}

static void numbers_of_tracepoints_come_from_tracefs(void **state)
{
	struct tree t;
	uint64_t id = 0;

	(void)state;
	tree_init(&t);
	expect_eq(event_names_id(t.root, "sched", "sched_switch", &id), -ENODEV);
	tree_write(&t, "sys/kernel/debug/tracing/events/sched/sched_switch/id", "316\n");
	tree_write(&t, "sys/kernel/debug/tracing/events/sched/broken/id", "many");
	tree_write(&t, "sys/kernel/debug/tracing/id", "1");
	expect_eq(event_names_id(t.root, "sched", "sched_switch", &id), 0);
	expect_eq(id, 316);
	expect_eq(event_names_id(t.root, "sched", "nothing", &id), -ENOENT);
	expect_eq(event_names_id(t.root, "sched", "broken", &id), -ENOENT);
	expect_eq(event_names_id(t.root, "sched", "sched_switch/../sched_switch", &id), -ENOENT);
	expect_eq(event_names_id(t.root, "..", "events/../..", &id), -ENOENT);
	expect_eq(event_names_id(t.root, ".", "..", &id), -ENOENT);
	expect_eq(id, 316);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracepoints_come_sorted_from_tracefs),
		cmocka_unit_test(functions_come_from_tracefs_else_from_kallsyms),
		cmocka_unit_test(numbers_of_tracepoints_come_from_tracefs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
