#include "pass_fixture.h"

#include "outside_pass.h"

static void it_runs_like_those_of_the_table(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 1400, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 2000, 1, 11, 0, EV_STATE_S);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 3900, 0, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 4000);
	root = run_pass(p, &outside_pass);
	assert_string_equal(text_at(root, "analysis_type"), "longest_idle");
	expect_eq(len_at(root, "cpus"), 2);
	expect_eq(num_at(root, "cpus.0.longest_idle_ns"), 900);
	expect_eq(num_at(root, "cpus.1.longest_idle_ns"), 2000);
	p->args.cpu = 0;
	p->args.to_ns = 3000;
	root = run_pass(p, &outside_pass);
	expect_eq(len_at(root, "cpus"), 1);
	expect_eq(num_at(root, "cpus.0.longest_idle_ns"), 400);
}

static void it_is_in_no_table(void **state)
{
	(void)state;
	assert_null(pass_find(outside_pass.id));
}

static void it_does_not_apply_without_what_it_needs(void **state)
{
	struct pass_fixture *p = *state;
	struct diag d = { 0 };
	struct report *r = NULL;

	waking(&p->f, 1000, 0, 10, 11);
	finish(p, 2000);
	assert_int_not_equal(pass_run(&outside_pass, &p->source, &p->args, &d, &r), 0);
	assert_string_equal(d.what,
	                    "longest_idle needs sched_switch, which this trace does not have");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
	const struct CMUnitTest tests[] = {
		T(it_runs_like_those_of_the_table),
		T(it_is_in_no_table),
		T(it_does_not_apply_without_what_it_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
