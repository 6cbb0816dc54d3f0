/* Wakeup latency, its stages, correlation and chains, on records by hand. W numbers are known errors of scxtop. */
#include "../analyze/pass_fixture.h"

#include "analyses/passes.h"

/* 10 on CPU 0 wakes 11, which runs on CPU 1 after 400 ns; then 11 wakes 12, which runs on CPU 0 after 1000 ns. */
static void across_cpus(struct pass_fixture *p)
{
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 1, 0, 20, EV_STATE_RUNNABLE);
	waking(&p->f, 2000, 0, 11, 10);
	wakeup(&p->f, 2100, 0, 11, 1);
	sw(&p->f, 2400, 1, 20, 11, EV_STATE_S);
	waking(&p->f, 3000, 1, 12, 11);
	wakeup(&p->f, 3300, 1, 12, 0);
	sw(&p->f, 4000, 0, 10, 12, EV_STATE_S);
	finish(p, 5000);
}

static void w36_a_wakeup_on_one_cpu_meets_its_switch_on_another(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	across_cpus(p);
	root = run_pass(p, &pass_wakeup_latency);
	expect_eq(num_at(root, "total_wakeups"), 2);
	expect_eq(num_at(root, "total_cpus"), 2);
	assert_string_equal(text_at(root, "from"), "waking");
	expect_eq(num_at(root, "from_waking"), 2);
	expect_eq(num_at(root, "global_stats.min_latency_ns"), 400);
	expect_eq(num_at(root, "global_stats.max_latency_ns"), 1000);
	expect_eq(num_at(root, "global_stats.avg_latency_ns"), 700);
	expect_eq(num_at(root, "worst_cpus_by_avg_latency.0.cpu_id"), 0);
	expect_eq(num_at(root, "worst_cpus_by_avg_latency.0.avg_latency_ns"), 1000);
	expect_eq(num_at(root, "worst_cpus_by_avg_latency.1.cpu_id"), 1);
	expect_eq(num_at(root, "worst.pid"), 12);
	expect_eq(num_at(root, "worst.waker_pid"), 11);
	expect_eq(num_at(root, "worst.schedule_timestamp"), 4000);
	expect_eq(num_at(root, "top_pairs_by_total_latency.0.waker_pid"), 11);
	expect_eq(num_at(root, "top_pairs_by_total_latency.0.wakee_pid"), 12);
}

static void one_cpu_is_compared_with_all(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	across_cpus(p);
	p->args.cpu = 1;
	root = run_pass(p, &pass_wakeup_latency);
	expect_eq(num_at(root, "cpu_filter"), 1);
	expect_eq(num_at(root, "cpu_stats.count"), 1);
	expect_eq(num_at(root, "cpu_stats.p99_latency_ns"), 400);
	expect_eq(num_at(root, "global_comparison.global_avg_latency_ns"), 700);
	expect_eq(num_at(root, "global_comparison.global_p99_latency_ns"), 1000);
}

static void w37_a_trace_with_wakings_only_has_latencies_chains_and_stages(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 9, EV_STATE_RUNNABLE);
	waking(&p->f, 1100, 0, 10, 9);
	sw(&p->f, 1500, 1, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 2000, 1, 11, 10);
	sw(&p->f, 2600, 0, 9, 11, EV_STATE_S);
	finish(p, 3000);
	root = run_pass(p, &pass_wakeup_latency);
	expect_eq(num_at(root, "total_wakeups"), 2);
	expect_eq(num_at(root, "global_stats.max_latency_ns"), 600);
	root = run_pass(p, &pass_latency_breakdown);
	expect_eq(num_at(root, "stats.waking_to_schedule.count"), 2);
	expect_eq(num_at(root, "stats.waking_to_schedule.avg_ns"), 500);
	expect_eq(num_at(root, "stats.wakeup_to_schedule.count"), 0);
	assert_true(is_null_at(root, "stats.wakeup_to_schedule.percent_of_total"));
	expect_eq(num_at(root, "stats.total_avg_latency_ns"), 500);
	root = run_pass(p, &pass_wakeup_chains);
	expect_eq(num_at(root, "total_chains_found"), 1);
	assert_string_equal(text_at(root, "chains.0.chain.0.from"), "waking");
}

static void wakeups_alone_are_named_as_the_start(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 9, EV_STATE_RUNNABLE);
	wakeup(&p->f, 1100, 0, 10, 0);
	wakeup_new(&p->f, 1200, 0, 11, 9);
	sw(&p->f, 1500, 0, 9, 10, EV_STATE_PREEMPTED);
	sw(&p->f, 1700, 0, 10, 11, EV_STATE_S);
	sw(&p->f, 2000, 0, 11, 9, EV_STATE_S);
	finish(p, 3000);
	root = run_pass(p, &pass_wakeup_latency);
	assert_string_equal(text_at(root, "from"), "wakeup");
	expect_eq(num_at(root, "total_wakeups"), 2);
	expect_eq(num_at(root, "new_tasks"), 1);
	expect_eq(num_at(root, "global_stats.max_latency_ns"), 500);
	/* What 9 waited after it was preempted has no part in that. */
	expect_eq(num_at(root, "preempted_wait.count"), 1);
	expect_eq(num_at(root, "preempted_wait.max_wait_ns"), 500);
}

static void stages_add_up(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	across_cpus(p);
	root = run_pass(p, &pass_latency_breakdown);
	expect_eq(num_at(root, "stats.waking_to_wakeup.count"), 2);
	expect_eq(num_at(root, "stats.waking_to_wakeup.avg_ns"), 200);
	expect_eq(num_at(root, "stats.wakeup_to_schedule.avg_ns"), 500);
	expect_eq(num_at(root, "stats.total_avg_latency_ns"), 700);
	assert_true(real_at(root, "stats.waking_to_wakeup.percent_of_total") > 28.57);
	assert_true(real_at(root, "stats.waking_to_wakeup.percent_of_total") < 28.58);
}

static void w38_a_chain_goes_back_in_time_and_adds_its_latencies(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	across_cpus(p);
	root = run_pass(p, &pass_wakeup_chains);
	expect_eq(num_at(root, "total_chains_found"), 1);
	expect_eq(num_at(root, "chains.0.chain_length"), 2);
	expect_eq(num_at(root, "chains.0.chain.0.wakee_pid"), 11);
	expect_eq(num_at(root, "chains.0.chain.0.waker_pid"), 10);
	expect_eq(num_at(root, "chains.0.chain.0.schedule_ts"), 2400);
	expect_eq(num_at(root, "chains.0.chain.1.wakee_pid"), 12);
	expect_eq(num_at(root, "chains.0.total_latency_ns"), 1400);
	assert_true(real_at(root, "chains.0.criticality_score") > 0.00279);
	assert_true(real_at(root, "chains.0.criticality_score") < 0.00281);
}

/* Two tasks that wake each other for ever make chains of two, not of all their wakeups. */
static void w38_ping_pong_is_no_endless_chain(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t ts = 1000;

	sw(&p->f, ts, 0, 0, 10, EV_STATE_RUNNABLE);
	for (int i = 0; i < 20; i++) {
		uint32_t runs = i % 2 ? 11 : 10, next = i % 2 ? 10 : 11;

		waking(&p->f, ts += 100, 0, next, runs);
		sw(&p->f, ts += 100, 0, runs, next, EV_STATE_S);
	}
	finish(p, ts + 100);
	root = run_pass(p, &pass_wakeup_chains);
	expect_eq(num_at(root, "wakeups"), 20);
	expect_eq(num_at(root, "total_chains_found"), 19);
	expect_eq(num_at(root, "chains.0.full_chain_length"), 2);
	expect_eq(num_at(root, "chains.0.total_latency_ns"), 200);
}

/* 11 waits, runs and wakes 12, which never runs: its age is its latency so far. */
static void a_wait_that_is_open_ends_its_chain(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 1, 0, 9, EV_STATE_RUNNABLE);
	waking(&p->f, 2000, 0, 11, 10);
	sw(&p->f, 2400, 1, 9, 11, EV_STATE_S);
	waking(&p->f, 3000, 1, 12, 11);
	finish(p, 5000);
	root = run_pass(p, &pass_wakeup_chains);
	expect_eq(num_at(root, "wakeups"), 2);
	expect_eq(num_at(root, "still_waiting"), 1);
	expect_eq(num_at(root, "total_chains_found"), 1);
	expect_eq(num_at(root, "chains.0.total_latency_ns"), 2400);
	assert_false(report_at(root, "chains.0.chain.0.is_open")->b);
	expect_eq(num_at(root, "chains.0.chain.0.schedule_ts"), 2400);
	assert_true(report_at(root, "chains.0.chain.1.is_open")->b);
	assert_true(is_null_at(root, "chains.0.chain.1.schedule_ts"));
	expect_eq(num_at(root, "chains.0.chain.1.latency_ns"), 2000);
	root = run_pass(p, &pass_wakeup_tracker); /* of scxtop: those that are over */
	expect_eq(num_at(root, "total_wakeups"), 1);
}

/* What the waker waited for later, or before it slept last, has nothing to do with a wakeup. */
static void w38_the_bound_is_the_time_of_each_wakeup(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 1100, 0, 11, 10); /* 10 had not waited yet */
	sw(&p->f, 1200, 0, 10, 0, EV_STATE_S);
	waking(&p->f, 1300, 1, 10, 0);
	sw(&p->f, 1900, 0, 0, 10, EV_STATE_RUNNABLE); /* now it has, but after it woke 11 */
	sw(&p->f, 2000, 1, 0, 11, EV_STATE_RUNNABLE);
	finish(p, 3000);
	root = run_pass(p, &pass_wakeup_chains);
	expect_eq(num_at(root, "wakeups"), 2);
	expect_eq(num_at(root, "total_chains_found"), 0);
}

static void an_interrupted_task_is_not_the_waker(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct ev_wake ev = { .hdr = { sizeof(ev), EV_WAKING, EV_FLAG_HARDIRQ, 1, 3000 },
		              .tid = 12,
		              .waker_tid = 11,
		              .target_cpu = 1 };

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 2000, 0, 11, 10);
	sw(&p->f, 2400, 1, 0, 11, EV_STATE_S);
	push(&p->f, &ev);
	sw(&p->f, 4000, 0, 10, 12, EV_STATE_S);
	finish(p, 5000);
	root = run_pass(p, &pass_correlation);
	expect_eq(num_at(root, "correlations.0.pid"), 12);
	assert_true(is_null_at(root, "correlations.0.waker_pid"));
	expect_eq(num_at(root, "correlations.1.waker_pid"), 10);
	root = run_pass(p, &pass_wakeup_chains);
	expect_eq(num_at(root, "total_chains_found"), 0);
}

static void w48_a_waking_and_its_wakeup_are_one_correlation(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	across_cpus(p);
	root = run_pass(p, &pass_correlation);
	expect_eq(num_at(root, "total_correlations"), 2);
	expect_eq(num_at(root, "correlations.0.pid"), 12);
	expect_eq(num_at(root, "correlations.0.wakeup_timestamp"), 3000);
	expect_eq(num_at(root, "correlations.0.schedule_timestamp"), 4000);
	expect_eq(num_at(root, "correlations.0.wakeup_latency_ns"), 1000);
	expect_eq(num_at(root, "correlations.0.waker_pid"), 11);
	expect_eq(num_at(root, "correlations.0.cpu"), 0);
}

/* Ten waits of 100 to 1000 ns, of which two are shown. */
static void w32_totals_are_of_all_however_few_are_listed(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t ts = 1000;

	sw(&p->f, ts, 0, 0, 10, EV_STATE_RUNNABLE);
	for (uint32_t i = 1; i <= 10; i++) {
		waking(&p->f, ts += 100, 0, 10 + i, 9 + i);
		sw(&p->f, ts += 100ULL * i, 0, 9 + i, 10 + i, EV_STATE_S);
	}
	finish(p, ts + 100);
	p->args.limit = 2;
	root = run_pass(p, &pass_correlation);
	expect_eq(num_at(root, "total_correlations"), 10);
	expect_eq(num_at(root, "correlations_shown"), 2);
	expect_eq(num_at(root, "latency.min_ns"), 100);
	expect_eq(num_at(root, "latency.p50_ns"), 500);
	expect_eq(num_at(root, "latency.p95_ns"), 1000);
	expect_eq(num_at(root, "latency.max_ns"), 1000);
	expect_eq(num_at(root, "correlations.1.wakeup_latency_ns"), 900);
	assert_ptr_equal(pass_find("correlate_wakeup_to_schedule"), &pass_correlation);
}

static void a_task_and_a_time_can_be_asked_for(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	across_cpus(p);
	p->args.tid = 12;
	root = run_pass(p, &pass_correlation);
	expect_eq(num_at(root, "pid_filter"), 12);
	expect_eq(num_at(root, "total_correlations"), 1);
	p->args.tid = 0;
	p->args.to_ns = 2500; /* the wait of 12 begins later */
	root = run_pass(p, &pass_correlation);
	expect_eq(num_at(root, "total_correlations"), 1);
	expect_eq(num_at(root, "correlations.0.pid"), 11);
}

static void open_waits_are_counted_by_their_cause(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	waking(&p->f, 1100, 0, 11, 10);
	sw(&p->f, 1200, 0, 10, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 1300, 0, 12, 13, EV_STATE_PREEMPTED);
	finish(p, 2000);
	root = run_pass(p, &pass_wakeup_latency);
	expect_eq(num_at(root, "still_waiting"), 1);
	expect_eq(num_at(root, "preempted_wait.still_waiting"), 2);
}

static void without_samples_all_is_unknown(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	waking(&p->f, 1000, 0, 10, 0);
	sw(&p->f, 1000, 1, 0, 12, EV_STATE_RUNNABLE);
	finish(p, 2000);
	root = run_pass(p, &pass_wakeup_latency);
	expect_eq(num_at(root, "total_wakeups"), 0);
	expect_eq(num_at(root, "still_waiting"), 1);
	assert_true(is_null_at(root, "from"));
	assert_true(is_null_at(root, "worst"));
	assert_true(is_null_at(root, "global_stats.p50_latency_ns"));
	root = run_pass(p, &pass_latency_breakdown);
	assert_true(is_null_at(root, "stats.total_avg_latency_ns"));
	root = run_pass(p, &pass_correlation);
	assert_true(is_null_at(root, "latency.max_ns"));
	expect_eq(len_at(root, "correlations"), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(w36_a_wakeup_on_one_cpu_meets_its_switch_on_another),
		CASE(one_cpu_is_compared_with_all),
		CASE(w37_a_trace_with_wakings_only_has_latencies_chains_and_stages),
		CASE(wakeups_alone_are_named_as_the_start),
		CASE(stages_add_up),
		CASE(w38_a_chain_goes_back_in_time_and_adds_its_latencies),
		CASE(w38_ping_pong_is_no_endless_chain),
		CASE(a_wait_that_is_open_ends_its_chain),
		CASE(w38_the_bound_is_the_time_of_each_wakeup),
		CASE(an_interrupted_task_is_not_the_waker),
		CASE(w48_a_waking_and_its_wakeup_are_one_correlation),
		CASE(w32_totals_are_of_all_however_few_are_listed),
		CASE(a_task_and_a_time_can_be_asked_for),
		CASE(open_waits_are_counted_by_their_cause),
		CASE(without_samples_all_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
