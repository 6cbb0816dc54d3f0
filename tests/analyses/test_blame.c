#include "../analyze/pass_fixture.h"

#include <string.h>

#include "analyses/passes.h"

#define US 1000ULL

/*
 * CPU 0: "web" 20 and 21 both wait from 1100 us on, behind "hog" 10 until 1150 and "hog" 11 until 1160, with a
 * softirq of 4 us; then 20 runs until 1200 and 21 after it. 22, "web" too, waits for CPU 1 behind 12, "db",
 * from 1100 to 1130, is moved to CPU 2, which is idle, and runs there at 1131.
 */
static void crowd(struct pass_fixture *p)
{
	static const struct {
		uint32_t tid;
		const char *comm;
	} names[] = { { 10, "hog" }, { 11, "hog" }, { 12, "db" },
		      { 20, "web" }, { 21, "web" }, { 22, "web" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		forked(&p->f, 900 * US, 1, names[i].tid, names[i].comm);
	for (uint32_t tid = 20; tid < 23; tid++)
		sw(&p->f, 1000 * US + tid, 0, tid == 20 ? 0 : tid - 1, tid, EV_STATE_S);
	sw(&p->f, 1010 * US, 0, 22, 10, EV_STATE_S);
	sw(&p->f, 1010 * US, 1, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 2, 13, 0, EV_STATE_S);
	for (uint32_t tid = 20; tid < 22; tid++)
		wakeup(&p->f, 1100 * US, 0, tid, 0);
	wakeup(&p->f, 1100 * US, 1, 22, 1);
	softirq(&p->f, 1110 * US, 0, 1, false);
	softirq(&p->f, 1114 * US, 0, 1, true);
	migrate(&p->f, 1130 * US, 22, 1, 2);
	sw(&p->f, 1131 * US, 2, 0, 22, EV_STATE_RUNNABLE);
	sw(&p->f, 1150 * US, 0, 10, 11, EV_STATE_S);
	sw(&p->f, 1160 * US, 0, 11, 20, EV_STATE_S);
	sw(&p->f, 1200 * US, 0, 20, 21, EV_STATE_S);
	finish(p, 1300 * US);
}

static void waits_are_blamed_on_tasks_by_name(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	crowd(p);
	p->args.comm = "web";
	root = run_pass(p, &pass_blame);
	assert_string_equal(text_at(root, "aggregation_mode"), "per_comm");
	/* 60 + 100 + 31 */
	expect_eq(num_at(root, "waits"), 3);
	expect_eq(num_at(root, "wait_ns"), 191 * US);
	expect_eq(num_at(root, "max_wait_ns"), 100 * US);
	expect_eq(num_at(root, "softirq_ns"), 2 * 4 * US);
	expect_eq(num_at(root, "idle_ns"), 1 * US);
	expect_eq(num_at(root, "task_ns"), (2 * 56 + 40 + 30) * US);
	assert_true(report_at(root, "irq_ns")->type == REPORT_NULL);
	expect_eq(len_at(root, "culprits"), 3);
	assert_string_equal(text_at(root, "culprits.0.comm"), "hog");
	expect_eq(num_at(root, "culprits.0.caused_wait_ns"), 2 * 56 * US);
	assert_string_equal(text_at(root, "culprits.1.comm"), "web"); /* they wait for each other */
	expect_eq(num_at(root, "culprits.1.caused_wait_ns"), 40 * US);
	assert_string_equal(text_at(root, "culprits.2.comm"), "db");
	expect_eq(num_at(root, "culprits.2.caused_wait_ns"), 30 * US);
	expect_eq(len_at(root, "victims"), 1);
	expect_eq(len_at(root, "victims.0.blames"), 3);
	expect_eq(num_at(root, "victims.0.blames.0.wait_ns"), 2 * 56 * US);
}

static void threads_have_rows_of_their_own_if_wanted(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	crowd(p);
	p->args.comm = "web";
	p->args.by = PASS_BY_THREAD;
	root = run_pass(p, &pass_blame);
	expect_eq(len_at(root, "victims"), 3);
	expect_eq(num_at(root, "victims.0.pid"), 21);
	expect_eq(num_at(root, "victims.0.wait_ns"), 100 * US);
	expect_eq(num_at(root, "victims.0.blames.0.pid"), 10);
	expect_eq(num_at(root, "victims.0.blames.0.wait_ns"), 46 * US);
	expect_eq(num_at(root, "victims.0.blames.1.pid"), 20);
	expect_eq(num_at(root, "victims.0.blames.2.pid"), 11);
}

static void only_the_time_that_was_asked_for_counts(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	crowd(p);
	p->args.comm = "web";
	p->args.from_ns = 1140 * US;
	p->args.to_ns = 1170 * US;
	root = run_pass(p, &pass_blame);
	expect_eq(num_at(root, "wait_ns"), 50 * US);
	assert_string_equal(text_at(root, "culprits.0.comm"), "hog");
	expect_eq(num_at(root, "culprits.0.caused_wait_ns"), 40 * US);
	expect_eq(num_at(root, "culprits.1.caused_wait_ns"), 10 * US);
}

/* 20 is woken and never runs. */
static void a_wait_that_does_not_end_counts(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	forked(&p->f, 900 * US, 1, 10, "hog");
	sw(&p->f, 1000 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1010 * US, 0, 20, 10, EV_STATE_S);
	wakeup(&p->f, 1100 * US, 0, 20, 0);
	finish(p, 1300 * US);
	root = run_pass(p, &pass_blame);
	expect_eq(num_at(root, "wait_ns"), 200 * US);
	expect_eq(num_at(root, "culprits.0.caused_wait_ns"), 200 * US);
}

/* 20 is throttled from 1000 to 1300 us behind 10, then waits for it 100 us, of which a tenth is stolen. */
static void a_quota_and_stolen_time_blame_nobody(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	measures(&p->f, EV_MEASURES_QUOTA | EV_MEASURES_STEAL);
	waking(&p->f, 800 * US, 0, 12, 0);
	forked(&p->f, 900 * US, 1, 10, "hog");
	forked(&p->f, 900 * US, 1, 20, "web");
	sw(&p->f, 900 * US, 0, 0, 20, EV_STATE_RUNNABLE);
	sw(&p->f, 1000 * US, 0, 20, 10, EV_STATE_RUNNABLE);
	throttle(&p->f, 1000 * US + 1, 0, 20, 77);
	refill(&p->f, 1300 * US, 77, EVERY_CPU);
	sw(&p->f, 1400 * US, 0, 10, 20, EV_STATE_S);
	steal(&p->f, 1400 * US + 1, 0, 40 * US);
	finish(p, 1500 * US);
	p->args.comm = "web";
	root = run_pass(p, &pass_blame);
	expect_eq(num_at(root, "wait_ns"), 400 * US);
	expect_eq(num_at(root, "throttled_ns"), 300 * US);
	expect_eq(num_at(root, "stolen_ns"), 10 * US);
	expect_eq(num_at(root, "task_ns"), 90 * US);
	expect_eq(num_at(root, "culprits.0.caused_wait_ns"), 90 * US);
	expect_eq(num_at(root, "victims.0.throttled_ns"), 300 * US);
}

static void what_nobody_measured_is_null(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	crowd(p);
	root = run_pass(p, &pass_blame);
	assert_true(is_null_at(root, "throttled_ns"));
	assert_true(is_null_at(root, "stolen_ns"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(waits_are_blamed_on_tasks_by_name),
		CASE(threads_have_rows_of_their_own_if_wanted),
		CASE(only_the_time_that_was_asked_for_counts),
		CASE(a_wait_that_does_not_end_counts),
		CASE(a_quota_and_stolen_time_blame_nobody),
		CASE(what_nobody_measured_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
