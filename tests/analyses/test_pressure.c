/* Pressure of CPUs and of victims, worked out on paper. */
#include "../analyze/pass_fixture.h"

#include "analyses/passes.h"

#define MS 1000000ULL

/*
 * CPU 0: "hog" 10 runs from 1000 ms on; "web" 20 is in the queue from 1500 to 2500, then runs, "web" 21 from 2000 to 2800,
 * then runs until 3000. CPU 1: "db" 11 runs from 1000 to 1500.
 */
static void two_wait(struct pass_fixture *p)
{
	forked(&p->f, 1000 * MS, 1, 10, "hog");
	forked(&p->f, 1000 * MS, 1, 11, "db");
	forked(&p->f, 1000 * MS, 1, 20, "web");
	forked(&p->f, 1000 * MS, 1, 21, "web");
	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 1500 * MS, 1, 11, 0, EV_STATE_S);
	wakeup(&p->f, 1500 * MS, 0, 20, 0);
	wakeup(&p->f, 2000 * MS, 0, 21, 0);
	sw(&p->f, 2500 * MS, 0, 10, 20, EV_STATE_S);
	sw(&p->f, 2800 * MS, 0, 20, 21, EV_STATE_S);
	finish(p, 3000 * MS);
}

static void pressure_is_the_mean_of_cpus_by_their_time_with_tasks(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_wait(p);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "cpus.0.some_ns"), 1300 * MS);
	expect_eq(num_at(root, "cpus.0.with_tasks_ns"), 2000 * MS);
	assert_true(real_at(root, "cpus.0.some_percent") == 65);
	expect_eq(num_at(root, "cpus.1.some_ns"), 0);
	expect_eq(num_at(root, "cpus.1.with_tasks_ns"), 500 * MS);
	expect_eq(num_at(root, "some_ns"), 1040 * MS); /* 1300 * 2000 / 2500 */
}

static void who_was_stalled_is_named_with_culprits(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	two_wait(p);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "total_stalled"), 1);
	assert_string_equal(text_at(root, "stalled.0.comm"), "web");
	expect_eq(num_at(root, "stalled.0.stalled_ns"), 1300 * MS);
	expect_eq(num_at(root, "stalled.0.wait_ns"), 1800 * MS);
	expect_eq(num_at(root, "stalled.0.max_wait_ns"), 1000 * MS);
	assert_string_equal(text_at(root, "stalled.0.behind.0.comm"), "hog");
	expect_eq(num_at(root, "stalled.0.behind.0.wait_ns"), 1500 * MS);
	assert_string_equal(text_at(root, "stalled.0.behind.1.comm"), "web");
	expect_eq(num_at(root, "stalled.0.behind.1.wait_ns"), 300 * MS);
	p->args.by = PASS_BY_THREAD;
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "total_stalled"), 2);
	expect_eq(num_at(root, "stalled.0.pid"), 20);
	expect_eq(num_at(root, "stalled.1.stalled_ns"), 800 * MS);
}

/* From 1 s to 5 s. CPU 0 has a task all the time, and one waits from 2 to 5 s; CPU 1 has one from 1 to 3 s. */
static void each_period_has_its_own_mean_and_open_waits_count(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 1, 0, 11, EV_STATE_RUNNABLE);
	wakeup(&p->f, 2000 * MS, 0, 20, 0);
	sw(&p->f, 3000 * MS, 1, 11, 0, EV_STATE_S);
	finish(p, 5000 * MS);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "cpus.0.some_ns"), 3000 * MS);
	expect_eq(num_at(root, "some_ns"), 2500 * MS); /* 1000 * 2 / 4, then 2000 * 2 / 2 */
	p->args.from_ns = 3000 * MS;
	p->args.to_ns = 5000 * MS;
	expect_eq(num_at(run_pass(p, &pass_pressure), "some_ns"), 2000 * MS);
}

/* 20 is in the queue of CPU 0 from 1200 to 1500 ms, then in that of CPU 1 until 1600. */
static void one_that_is_moved_presses_each_cpu_for_its_stay(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000 * MS, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * MS, 1, 0, 11, EV_STATE_RUNNABLE);
	wakeup(&p->f, 1200 * MS, 0, 20, 0);
	migrate(&p->f, 1500 * MS, 20, 0, 1);
	sw(&p->f, 1600 * MS, 1, 11, 20, EV_STATE_S);
	finish(p, 2000 * MS);
	root = run_pass(p, &pass_pressure);
	expect_eq(num_at(root, "cpus.0.some_ns"), 300 * MS);
	expect_eq(num_at(root, "cpus.1.some_ns"), 100 * MS);
	expect_eq(num_at(root, "some_ns"), 200 * MS);
	expect_eq(num_at(root, "stalled.0.stalled_ns"), 400 * MS);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pressure_is_the_mean_of_cpus_by_their_time_with_tasks),
		CASE(who_was_stalled_is_named_with_culprits),
		CASE(each_period_has_its_own_mean_and_open_waits_count),
		CASE(one_that_is_moved_presses_each_cpu_for_its_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
