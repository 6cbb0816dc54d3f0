/* Run time, states, preemptions and fairness of tasks, on records by hand. W numbers are known errors of scxtop. */
#include "../analyze/pass_fixture.h"

#include <string.h>

#include "analyses/passes.h"

/* 10 runs on CPU 0 from 1000 to 3000 and on CPU 1 from 4000 to the end; idle stands around it. */
static void moves_over(struct pass_fixture *p)
{
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 1, 0, 11, EV_STATE_RUNNABLE);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	waking(&p->f, 3500, 1, 10, 11);
	sw(&p->f, 4000, 1, 11, 10, EV_STATE_PREEMPTED);
	finish(p, 5000);
}

static void w39_switches_with_idle_count_and_cpus_are_not_mixed_up(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	moves_over(p);
	root = run_pass(p, &pass_process_runtime);
	expect_eq(num_at(root, "total_processes"), 2);
	expect_eq(num_at(root, "processes.0.pid"), 10);
	expect_eq(num_at(root, "processes.0.total_runtime_ns"), 3000);
	assert_true(real_at(root, "processes.0.cpu_time_percent") == 75.0);
	expect_eq(num_at(root, "processes.0.num_switches"), 2);
	expect_eq(num_at(root, "processes.0.max_timeslice_ns"),
	          2000); /* the open one has no length */
	expect_eq(num_at(root, "processes.1.pid"), 11);
	expect_eq(num_at(root, "processes.1.total_runtime_ns"), 3000);
	expect_eq(num_at(root, "total_runtime_ns"), 6000);
}

static void info(struct pass_fixture *p, uint32_t tid, uint32_t tgid, const char *comm)
{
	struct ev_task_info ev = { .hdr = { sizeof(ev), EV_TASK_INFO, 0, 0, 500 },
		                   .tid = tid,
		                   .tgid = tgid };

	strncpy(ev.comm, comm, sizeof(ev.comm) - 1);
	push(&p->f, &ev);
}

static void w39_a_process_is_all_its_threads(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	info(p, 10, 10, "main");
	info(p, 11, 10, "worker");
	moves_over(p);
	p->args.by = PASS_BY_PROCESS;
	root = run_pass(p, &pass_process_runtime);
	assert_string_equal(text_at(root, "aggregation_mode"), "per_process");
	expect_eq(num_at(root, "total_processes"), 1);
	expect_eq(num_at(root, "processes.0.pid"), 10);
	expect_eq(num_at(root, "processes.0.thread_count"), 2);
	assert_string_equal(text_at(root, "processes.0.comm"), "main");
	expect_eq(num_at(root, "processes.0.total_runtime_ns"), 6000);
	p->args.by = PASS_BY_DEFAULT;
	p->args.comm = "work*";
	root = run_pass(p, &pass_process_runtime);
	expect_eq(num_at(root, "total_processes"), 1);
	expect_eq(num_at(root, "processes.0.pid"), 11);
	expect_eq(num_at(root, "processes.0.tgid"), 10);
}

static void a_time_cuts_runtimes(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	moves_over(p);
	p->args.from_ns = 2000;
	p->args.to_ns = 4500;
	root = run_pass(p, &pass_process_runtime);
	expect_eq(num_at(root, "span_ns"), 2500);
	expect_eq(num_at(root, "processes.0.pid"), 11);
	expect_eq(num_at(root, "processes.0.total_runtime_ns"), 2000);
	expect_eq(num_at(root, "processes.1.total_runtime_ns"), 1500);
}

static void w40_preempted_is_runnable_in_both_encodings(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 2000, 0, 10, 11, EV_STATE_PREEMPTED);
	sw(&p->f, 2500, 0, 11, 10, EV_STATE_S);
	sw(&p->f, 3000, 0, 10, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 3700, 0, 12, 10, EV_STATE_S);
	finish(p, 4000);
	root = run_pass(p, &pass_task_states);
	expect_eq(num_at(root, "processes.0.pid"), 10);
	expect_eq(num_at(root, "processes.0.running_time_ns"), 1800);
	expect_eq(num_at(root, "processes.0.runnable_time_ns"), 1200);
	expect_eq(num_at(root, "processes.0.sleeping_time_ns"), 0);
	expect_eq(num_at(root, "processes.0.involuntary_switches"), 2);
	expect_eq(num_at(root, "processes.0.voluntary_switches"), 0);
	/* Waiting after a preemption is scheduling delay too. */
	expect_eq(num_at(root, "processes.0.scheduler_latency_count"), 2);
	expect_eq(num_at(root, "processes.0.max_scheduler_latency_ns"), 700);
	root = run_pass(p, &pass_preemptions);
	expect_eq(num_at(root, "total_preemptions"), 2);
	expect_eq(num_at(root, "processes.0.preempted_count"), 2);
	expect_eq(num_at(root, "processes.0.total_unique_preemptors"), 2);
	expect_eq(num_at(root, "processes.0.total_wait_ns"), 1200);
	expect_eq(num_at(root, "processes.0.top_preempted_by.0.pid"), 11);
}

static void w40_idle_kernel_threads_sleep_and_the_dead_do_nothing(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1100, 0, 10, 11, EV_STATE_IDLE);
	sw(&p->f, 1200, 0, 11, 12, EV_STATE_D);
	sw(&p->f, 1300, 0, 12, 0, EV_STATE_DEAD);
	finish(p, 5000);
	root = run_pass(p, &pass_task_states);
	expect_eq(num_at(root, "processes_analyzed"), 3);
	expect_eq(num_at(root, "processes.0.pid"), 10);
	expect_eq(num_at(root, "processes.0.sleeping_time_ns"), 3900);
	expect_eq(num_at(root, "processes.0.blocked_time_ns"), 0);
	expect_eq(num_at(root, "processes.1.pid"), 11);
	expect_eq(num_at(root, "processes.1.blocked_time_ns"), 3800);
	expect_eq(num_at(root, "processes.2.pid"), 12);
	expect_eq(num_at(root, "processes.2.total_time_ns"), 100);
	expect_eq(num_at(root, "processes.2.voluntary_switches"), 1);
}

static void w40_a_waking_of_a_running_task_does_not_end_its_run(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 1500, 1, 10, 0);
	wakeup(&p->f, 1600, 1, 10, 0);
	sw(&p->f, 3000, 0, 10, 0, EV_STATE_S);
	finish(p, 3500);
	root = run_pass(p, &pass_task_states);
	expect_eq(num_at(root, "processes.0.running_time_ns"), 2000);
	expect_eq(num_at(root, "processes.0.runnable_time_ns"), 0);
	expect_eq(num_at(root, "processes.0.sleeping_time_ns"), 500);
}

/* Nine waits of 100 ns of one thread, one of 1000 ns of another: the p99 of both is 1000, no mean of means. */
static void w40_percentiles_of_a_process_are_those_of_all_its_waits(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t ts = 1000;

	info(p, 10, 10, "main");
	info(p, 11, 10, "worker");
	sw(&p->f, ts, 0, 0, 9, EV_STATE_RUNNABLE);
	for (int i = 0; i < 10; i++) {
		uint32_t tid = i < 9 ? 10 : 11;

		waking(&p->f, ts += 100, 0, tid, 9);
		sw(&p->f, ts += i < 9 ? 100 : 1000, 1, 0, tid, EV_STATE_RUNNABLE);
		sw(&p->f, ts += 50, 1, tid, 0, EV_STATE_S);
	}
	finish(p, ts + 100);
	p->args.by = PASS_BY_PROCESS;
	p->args.pid = 10;
	root = run_pass(p, &pass_task_states);
	expect_eq(num_at(root, "processes_analyzed"), 1);
	expect_eq(num_at(root, "processes.0.scheduler_latency_count"), 10);
	expect_eq(num_at(root, "processes.0.p50_scheduler_latency_ns"), 100);
	expect_eq(num_at(root, "processes.0.p99_scheduler_latency_ns"), 1000);
	expect_eq(num_at(root, "processes.0.avg_scheduler_latency_ns"), 190);
}

static void percents_of_states_are_all_of_what_is_known(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	moves_over(p);
	root = run_pass(p, &pass_task_states);
	for (uint32_t i = 0; i < 2; i++) {
		const struct report_node *row = report_at(root, i ? "processes.1" : "processes.0");
		double sum = real_at(row, "running_percent") + real_at(row, "runnable_percent") +
		             real_at(row, "sleeping_percent") + real_at(row, "blocked_percent");

		assert_true(sum > 99.999 && sum < 100.001);
	}
}

/* 10 runs 9000 ns, 11 and 12 run 500 each. */
static void shares_are_held_against_each_other(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	wakeup(&p->f, 1000, 0, 11, 0);
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 10000, 0, 10, 11, EV_STATE_S);
	sw(&p->f, 10500, 0, 11, 12, EV_STATE_S);
	sw(&p->f, 11000, 0, 12, 0, EV_STATE_S);
	finish(p, 12000);
	root = run_pass(p, &pass_fairness);
	expect_eq(num_at(root, "total_processes"), 3);
	expect_eq(num_at(root, "total_cpu_time_ns"), 10000);
	expect_eq(num_at(root, "fair_share_ns"), 3333);
	/* Mean difference of all pairs: 4 * 8500 / 9, over twice the mean. */
	assert_true(real_at(root, "gini_coefficient") > 0.5666);
	assert_true(real_at(root, "gini_coefficient") < 0.5667);
	assert_true(real_at(root, "max_min_ratio") == 18.0);
	expect_eq(num_at(root, "starved_processes_count"), 0); /* 500 is more than 333 */
	expect_eq(num_at(root, "hogging_processes_count"), 0);
	expect_eq(num_at(root, "least_served.0.pid"), 11);
	expect_eq(num_at(root, "least_served.0.runnable_ns"), 9000);
}

static void hogs_and_starved_are_distinguished(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t ts = 1000;

	sw(&p->f, ts, 0, 0, 10, EV_STATE_RUNNABLE);
	for (uint32_t i = 1; i < 20; i++)
		sw(&p->f, ts += i == 1 ? 1000000 : 10, 0, 9 + i, 10 + i, EV_STATE_S);
	sw(&p->f, ts += 10, 0, 29, 0, EV_STATE_S);
	finish(p, ts);
	p->args.limit = 3;
	root = run_pass(p, &pass_fairness);
	expect_eq(num_at(root, "hogging_processes_count"), 1);
	expect_eq(num_at(root, "top_hogging.0.pid"), 10);
	expect_eq(num_at(root, "starved_processes_count"), 19);
	expect_eq(len_at(root, "top_starved"), 3);
	expect_eq(num_at(root, "top_starved.0.runtime_ns"), 10);
	assert_string_equal(text_at(root, "interpretation.gini"),
	                    "few tasks use most of the CPU time");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(w39_switches_with_idle_count_and_cpus_are_not_mixed_up),
		CASE(w39_a_process_is_all_its_threads),
		CASE(a_time_cuts_runtimes),
		CASE(w40_preempted_is_runnable_in_both_encodings),
		CASE(w40_idle_kernel_threads_sleep_and_the_dead_do_nothing),
		CASE(w40_a_waking_of_a_running_task_does_not_end_its_run),
		CASE(w40_percentiles_of_a_process_are_those_of_all_its_waits),
		CASE(percents_of_states_are_all_of_what_is_known),
		CASE(shares_are_held_against_each_other),
		CASE(hogs_and_starved_are_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
