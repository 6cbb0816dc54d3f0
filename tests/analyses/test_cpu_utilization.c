#include "../analyze/pass_fixture.h"

#include "analyses/passes.h"

/*
 * CPU 0: 10 runs 1000..3000, idle to 4000, 11 runs to 9000, idle at the end (open) to 11000.
 * CPU 1: first heard of at 5000, when 12 comes on; still on at the end.
 */
static void two_cpus(struct pass_fixture *p)
{
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 4000, 0, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 5000, 1, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 9000, 0, 11, 0, EV_STATE_S);
	finish(p, 11000);
}

static void idle_is_not_busy_and_unknown_is_neither(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_cpus(p);
	root = run_pass(p, &pass_cpu_utilization);
	expect_eq(num_at(root, "cpus_analyzed"), 2);
	expect_eq(num_at(root, "span_ns"), 10000);
	expect_eq(num_at(root, "top_utilized_cpus.0.cpu_id"), 0);
	expect_eq(num_at(root, "top_utilized_cpus.0.active_time_ns"), 7000);
	expect_eq(num_at(root, "top_utilized_cpus.0.idle_time_ns"), 3000);
	expect_eq(num_at(root, "top_utilized_cpus.0.unknown_time_ns"), 0);
	assert_true(real_at(root, "top_utilized_cpus.0.utilization_percent") == 70.0);
	expect_eq(num_at(root, "top_utilized_cpus.1.active_time_ns"), 6000);
	expect_eq(num_at(root, "top_utilized_cpus.1.idle_time_ns"), 0);
	expect_eq(num_at(root, "top_utilized_cpus.1.unknown_time_ns"), 4000);
	expect_eq(num_at(root, "bottom_utilized_cpus.0.cpu_id"), 1);
	assert_true(real_at(root, "summary.avg_utilization_percent") == 65.0);
}

static void an_open_slice_has_no_length_yet(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_cpus(p);
	root = run_pass(p, &pass_cpu_utilization);
	expect_eq(num_at(root, "top_utilized_cpus.0.min_timeslice_ns"), 2000);
	expect_eq(num_at(root, "top_utilized_cpus.0.max_timeslice_ns"), 5000);
	assert_true(is_null_at(root, "top_utilized_cpus.1.max_timeslice_ns"));
}

static void time_and_cpu_can_be_cut(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_cpus(p);
	p->args.from_ns = 2000;
	p->args.to_ns = 6000;
	p->args.cpu = 0;
	root = run_pass(p, &pass_cpu_utilization);
	expect_eq(num_at(root, "cpus_analyzed"), 1);
	expect_eq(num_at(root, "span_ns"), 4000);
	expect_eq(num_at(root, "top_utilized_cpus.0.active_time_ns"), 3000);
	expect_eq(num_at(root, "top_utilized_cpus.0.idle_time_ns"), 1000);
}

static void lost_time_is_unknown(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	lost(&p->f, 3000, 0, EV_SWITCH, 5);
	sw(&p->f, 5000, 0, 11, 0, EV_STATE_S);
	finish(p, 6000);
	root = run_pass(p, &pass_cpu_utilization);
	expect_eq(num_at(root, "top_utilized_cpus.0.active_time_ns") +
	                  num_at(root, "top_utilized_cpus.0.idle_time_ns") +
	                  num_at(root, "top_utilized_cpus.0.unknown_time_ns"),
	          5000);
	expect_eq(num_at(root, "top_utilized_cpus.0.idle_time_ns"), 1000);
	assert_true(num_at(root, "top_utilized_cpus.0.unknown_time_ns") >= 2000);
}

static void sparse_cpus_are_all_there(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 3, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 61, 0, 11, EV_STATE_RUNNABLE);
	finish(p, 2000);
	root = run_pass(p, &pass_cpu_utilization);
	expect_eq(num_at(root, "cpus_analyzed"), 2);
	expect_eq(num_at(root, "top_utilized_cpus.0.cpu_id"), 3);
	expect_eq(num_at(root, "top_utilized_cpus.1.cpu_id"), 61);
}

static void without_switches_it_does_not_apply(void **state)
{
	struct pass_fixture *p = *state;
	struct diag d = { 0 };
	struct report *r = NULL;

	waking(&p->f, 1000, 0, 10, 11);
	finish(p, 2000);
	assert_false(pass_applies(&pass_cpu_utilization, &p->source));
	assert_true(pass_run(&pass_cpu_utilization, &p->source, &p->args, &d, &r) < 0);
	assert_string_equal(d.what,
	                    "cpu_utilization needs sched_switch, which this trace does not have");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(idle_is_not_busy_and_unknown_is_neither, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(an_open_slice_has_no_length_yet, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(time_and_cpu_can_be_cut, pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(lost_time_is_unknown, pass_setup, pass_teardown),
		cmocka_unit_test_setup_teardown(sparse_cpus_are_all_there, pass_setup,
		                                pass_teardown),
		cmocka_unit_test_setup_teardown(without_switches_it_does_not_apply, pass_setup,
		                                pass_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
