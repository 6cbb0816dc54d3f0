/* The analysis of outliers on records by hand. W numbers are known errors of scxtop. */
#include "../analyze/pass_fixture.h"

#include <errno.h>

#include "analyses/passes.h"

/* 20 tasks run once each, woken 100 + their number ns before, but the last, which waits 50,000 ns and runs 90,000. */
static void twenty(struct pass_fixture *p)
{
	uint64_t ts = 1000;

	sw(&p->f, ts, 0, 0, 9, EV_STATE_RUNNABLE);
	for (uint32_t i = 0; i < 20; i++) {
		bool is_last = i == 19;

		waking(&p->f, ts += 10, 0, 10 + i, 9);
		sw(&p->f, ts += is_last ? 50000 : 100 + i, 1, 0, 10 + i, EV_STATE_RUNNABLE);
		sw(&p->f, ts += is_last ? 90000 : 1000 + i, 1, 10 + i, 0, EV_STATE_D);
	}
	sw(&p->f, ts, 0, 9, 0, EV_STATE_S);
	finish(p, ts);
}

static void w46_totals_are_outliers_not_what_was_examined(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	twenty(p);
	root = run_pass(p, &pass_outliers);
	assert_string_equal(text_at(root, "detection_method"), "IQR");
	assert_string_equal(text_at(root, "category"), "all");
	expect_eq(num_at(root, "latency_outliers.detection_result.total_points"), 20);
	expect_eq(num_at(root, "latency_outliers.detection_result.outlier_count"), 1);
	/* The long wait, twice over (woken, and as a wait); no task was blocked and came back. */
	expect_eq(num_at(root, "summary.latency_outliers_total"), 2);
	expect_eq(num_at(root, "summary.by_metric.wakeup_latency"), 1);
	expect_eq(num_at(root, "summary.by_metric.blocked_time"), 0);
	/* 29 ran long, and so did 9; no task switched much. */
	expect_eq(num_at(root, "summary.runtime_outliers_total"), 2);
	expect_eq(num_at(root, "summary.by_metric.excessive"), 2);
	expect_eq(num_at(root, "summary.by_metric.minimal"), 0);
	expect_eq(num_at(root, "summary.cpu_outliers_total"), 0);
	expect_eq(num_at(root, "summary.total_outliers"), 4);
}

static void w46_a_task_is_held_against_all_and_shown_with_its_worst(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	twenty(p);
	p->args.category = "latency";
	root = run_pass(p, &pass_outliers);
	expect_eq(num_at(root, "summary.total_outliers"), 2);
	expect_eq(len_at(root, "outliers.wakeup_latency"), 1);
	expect_eq(num_at(root, "outliers.wakeup_latency.0.pid"), 29);
	expect_eq(num_at(root, "outliers.wakeup_latency.0.value"), 50000);
	expect_eq(num_at(root, "outliers.wakeup_latency.0.outlier_points"), 1);
	assert_true(real_at(root, "outliers.wakeup_latency.0.percentile") == 95.0);
	assert_string_equal(text_at(root, "outliers.wakeup_latency.0.metric"), "wakeup_latency_ns");
	assert_true(real_at(root, "detection_result.thresholds.median") == 109.5);
}

static void w46_every_list_can_have_entries(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	uint64_t ts = 1000;

	sw(&p->f, ts, 0, 0, 9, EV_STATE_RUNNABLE);
	for (int i = 0; i < 20; i++) {
		bool is_last = i == 19;

		waking(&p->f, ts += is_last ? 90000 : 100, 0, 10, 9); /* blocked for that long */
		sw(&p->f, ts += 10, 1, 0, 10, EV_STATE_RUNNABLE);
		sw(&p->f, ts += 10, 1, 10, 0, EV_STATE_D);
	}
	sw(&p->f, ts += 10, 0, 9, 11, EV_STATE_PREEMPTED);
	sw(&p->f, ts += 70000, 0, 11, 9, EV_STATE_S); /* 9 waited, without a wakeup */
	finish(p, ts + 10);
	p->args.category = "latency";
	root = run_pass(p, &pass_outliers);
	expect_eq(num_at(root, "summary.wakeup_latency"), 0);
	expect_eq(num_at(root, "summary.schedule_latency"), 1);
	expect_eq(num_at(root, "outliers.schedule_latency.0.pid"), 9);
	expect_eq(num_at(root, "summary.blocked_time"), 1);
	expect_eq(num_at(root, "outliers.blocked_time.0.value"), 90000);
}

static void cpus_are_held_against_each_other(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	for (uint32_t cpu = 0; cpu < 8; cpu++)
		sw(&p->f, 1000, cpu, 0, 10 + cpu, EV_STATE_RUNNABLE);
	sw(&p->f, 2000, 7, 17, 0, EV_STATE_S);
	finish(p, 11000);
	p->args.category = "cpu";
	root = run_pass(p, &pass_outliers);
	expect_eq(num_at(root, "detection_result.total_points"), 8);
	expect_eq(num_at(root, "summary.underutilized"), 1);
	expect_eq(num_at(root, "summary.overutilized"), 0);
	expect_eq(num_at(root, "summary.high_contention"), 1);
	expect_eq(num_at(root, "outliers.underutilized.0.cpu"), 7);
	assert_true(real_at(root, "outliers.underutilized.0.value") == 10.0);
}

static void w51_the_percentile_is_the_one_of_all_other_reports(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	double bound;

	twenty(p);
	p->args.method = "Percentile";
	p->args.category = "latency";
	root = run_pass(p, &pass_outliers);
	bound = real_at(root, "detection_result.thresholds.upper_bound");
	assert_true(is_null_at(root, "detection_result.thresholds.q1"));
	root = run_pass(p, &pass_wakeup_latency);
	assert_true(bound == (double)num_at(root, "global_stats.p99_latency_ns"));
	root = run_pass(p, &pass_correlation);
	assert_true(bound == (double)num_at(root, "latency.p99_ns"));
	root = run_pass(p, &pass_latency_breakdown);
	assert_true(bound == (double)num_at(root, "stats.waking_to_schedule.p99_ns"));
}

static void words_that_are_none_are_refused(void **state)
{
	struct pass_fixture *p = *state;
	struct diag d = { 0 }, e = { 0 };
	struct report *r = NULL;

	twenty(p);
	p->args.method = "zscore";
	expect_eq(pass_run(&pass_outliers, &p->source, &p->args, &d, &r), -EINVAL);
	assert_string_equal(d.what, "'zscore' is not a method of finding outliers");
	p->args.method = "MAD";
	p->args.category = "disk";
	expect_eq(pass_run(&pass_outliers, &p->source, &p->args, &e, &r), -EINVAL);
	assert_string_equal(e.what, "'disk' is not a category of outliers");
	assert_ptr_equal(pass_find("detect_outliers"), &pass_outliers);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(w46_totals_are_outliers_not_what_was_examined),
		CASE(w46_a_task_is_held_against_all_and_shown_with_its_worst),
		CASE(w46_every_list_can_have_entries),
		CASE(cpus_are_held_against_each_other),
		CASE(w51_the_percentile_is_the_one_of_all_other_reports),
		CASE(words_that_are_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
