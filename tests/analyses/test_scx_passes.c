#include "../analyze/more_records.h"

#include "analyses/passes.h"
#include "analyze/figures.h"

#define GLOBAL   0x8000000000000001ULL
#define LOCAL    0x8000000000000002ULL
#define LOCAL_ON 0xC000000000000000ULL
#define USER     0x2aULL

static void given_run(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t layer,
                      uint64_t slice_ns)
{
	push(f, &(struct ev_scx_run){ .hdr = { sizeof(struct ev_scx_run), EV_SCX_RUN, 0, 0, ts },
	                              .dsq_id = USER,
	                              .tid = tid,
	                              .layer = layer,
	                              .slice_ns = slice_ns,
	                              .flags = EV_SCX_HAS_SLICE });
}

static void queues(struct pass_fixture *p)
{
	p->facts.has_scx = true;
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	dsq_leave(&p->f, 3000, 2000, USER, 11, 1); /* 1000 */
	dsq_leave(&p->f, 4000, 2500, USER, 12, 1); /* 1500 */
	dsq_leave(&p->f, 5000, 4999, LOCAL, 10, EV_NO_LAYER);
	dsq_leave(&p->f, 6000, 0, USER, 13, 1);
	dsq_leave(&p->f, 7000, 6000, LOCAL_ON | 3, 10, EV_NO_LAYER);
	finish(p, 11000);
}

static void w47_each_wait_counts_once_in_nanoseconds(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	p->facts.scheduler = "layered_1.0";
	queues(p);
	root = run_pass(p, &pass_dsq_latency);
	assert_string_equal(text_at(root, "scheduler_name"), "layered_1.0");
	expect_eq(num_at(root, "total_dsqs"), 3);
	expect_eq(num_at(root, "total_events"), 5);
	expect_eq(num_at(root, "per_dsq.0.dsq_id"), USER);
	expect_eq(num_at(root, "per_dsq.0.event_count"), 3);
	assert_true(real_at(root, "per_dsq.0.latency_avg_us") == 1.25);
	assert_true(real_at(root, "per_dsq.0.latency_p50_us") == 1.0);
	assert_true(real_at(root, "per_dsq.0.latency_max_us") == 1.5);
	/* 3 in 10 us */
	assert_true(real_at(root, "per_dsq.0.dispatches_per_sec") == 300000.0);
}

static void w47_the_kernels_own_queues_have_names(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	queues(p);
	root = run_pass(p, &pass_dsq_summary);
	assert_true(is_null_at(root, "summary.scheduler_name"));
	expect_eq(num_at(root, "summary.total_dsqs"), 3);
	expect_eq(num_at(root, "summary.dsq_ids.0"), USER);
	assert_string_equal(text_at(root, "dsqs.0.dsq_name"), "0x2a");
	assert_string_equal(text_at(root, "dsqs.1.dsq_name"), "LOCAL");
	assert_string_equal(text_at(root, "dsqs.2.dsq_name"), "LOCAL_ON|3");
	assert_string_equal(figure_dsq_name(p->report, GLOBAL), "GLOBAL");
	expect_eq(num_at(root, "dsqs.0.total_wait_ns"), 2500);
}

static void depths_follow_from_waits_where_none_was_recorded(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	queues(p);
	root = run_pass(p, &pass_dsq_latency);
	assert_string_equal(text_at(root, "per_dsq.0.depth_from"), "waits");
	expect_eq(num_at(root, "per_dsq.0.max_queue_depth"), 2);
	/* 2500 ns of waiting in 10000 */
	assert_true(real_at(root, "per_dsq.0.avg_queue_depth") == 0.25);
	p->args.from_ns = 3000; /* one is left by then */
	root = run_pass(p, &pass_dsq_latency);
	expect_eq(num_at(root, "per_dsq.0.max_queue_depth"), 1);
	assert_true(real_at(root, "per_dsq.0.avg_queue_depth") == 0.125);
}

static void depths_are_weighted_by_time(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	p->facts.has_scx = true;
	dsq_depth(&p->f, 1000, USER, 4);
	dsq_leave(&p->f, 1500, 1400, USER, 11, 1);
	dsq_depth(&p->f, 2000, USER, 8);
	dsq_depth(&p->f, 3000, USER, 0);
	finish(p, 5000);
	root = run_pass(p, &pass_dsq_latency);
	expect_eq(num_at(root, "per_dsq.0.event_count"), 1);
	expect_eq(num_at(root, "per_dsq.0.max_queue_depth"), 8);
	assert_true(real_at(root, "per_dsq.0.avg_queue_depth") == 3.0);
	assert_string_equal(text_at(root, "per_dsq.0.depth_from"), "records");
}

/* 10 in layer 1 on CPU 0, then on CPU 1; 11 in layer 2; 12 without a word. */
static void layers(struct pass_fixture *p)
{
	static const char *const names[] = { "cpu-cycles", "instructions" };

	p->facts.has_scx = true;
	p->facts.pmu_names = names;
	p->facts.nr_pmu_names = 2;
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	scx_run(&p->f, 1000, 0, 10, USER, 1);
	sw(&p->f, 1000, 1, 0, 12, EV_STATE_RUNNABLE);
	waking(&p->f, 2000, 0, 11, 10);
	pmu(&p->f, 3000, 0, 10, 1000, 500);
	sw(&p->f, 3000, 0, 10, 11, EV_STATE_RUNNABLE);
	scx_run(&p->f, 3000, 0, 11, LOCAL, 2);
	dsq_leave(&p->f, 3000, 2400, LOCAL, 11, 2);
	sw(&p->f, 5000, 1, 12, 10, EV_STATE_S);
	scx_run(&p->f, 5000, 1, 10, USER, 1);
	pmu(&p->f, 6000, 1, 10, 3000, 3500);
	sw(&p->f, 6000, 1, 10, 0, EV_STATE_S);
	pmu(&p->f, 7000, 0, 11, 100, EV_PMU_UNKNOWN);
	sw(&p->f, 7000, 0, 11, 0, EV_STATE_S);
	finish(p, 9000);
}

static void slices_come_with_layer_and_queue(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	layers(p);
	root = run_pass(p, &pass_oncpu_slices);
	expect_eq(num_at(root, "total_slices"), 4);
	expect_eq(num_at(root, "total_runtime_ns"), 11000);
	expect_eq(num_at(root, "slices_with_scx_metadata"), 3);
	expect_eq(num_at(root, "processes.2.pid"), 10);
	expect_eq(num_at(root, "processes.2.slices"), 2);
	expect_eq(num_at(root, "processes.2.total_runtime_ns"), 3000);
	expect_eq(num_at(root, "processes.2.max_timeslice_ns"), 2000);
	expect_eq(num_at(root, "processes.2.layer_id"), 1);
	expect_eq(num_at(root, "processes.2.dsq_id"), USER);
	/* 11 and 12 ran for 4000 each, 12 left first */
	expect_eq(num_at(root, "processes.0.pid"), 12);
	assert_true(is_null_at(root, "processes.0.layer_id"));
	assert_true(is_null_at(root, "processes.0.dsq_id"));
	expect_eq(num_at(root, "processes.1.pid"), 11);
	assert_string_equal(text_at(root, "processes.1.dsq_name"), "LOCAL");
	expect_eq(num_at(root, "by_layer.0.layer_id"), 2);
	expect_eq(num_at(root, "by_layer.1.total_duration_ns"), 3000);
	expect_eq(num_at(root, "longest_slices.0.duration_ns"), 4000);
	p->args.from_ns = 4000; /* cuts slices: 11 has 3000, 12 has 1000, 10 has 1000 */
	root = run_pass(p, &pass_oncpu_slices);
	expect_eq(num_at(root, "total_runtime_ns"), 5000);
}

static void layers_get_time_waits_queues_and_migrations(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	layers(p);
	root = run_pass(p, &pass_scx_layer_behavior);
	expect_eq(num_at(root, "total_layers"), 2);
	expect_eq(num_at(root, "slices_without_metadata"), 1);
	expect_eq(num_at(root, "layers.0.layer_id"), 2);
	expect_eq(num_at(root, "layers.0.runtime_ns"), 4000);
	expect_eq(num_at(root, "layers.0.wait_ns.count"), 1);
	expect_eq(num_at(root, "layers.0.wait_ns.max"), 1000);
	expect_eq(num_at(root, "layers.0.dsq_wait_ns.max"), 600);
	expect_eq(num_at(root, "layers.0.migrations"), 0);
	expect_eq(num_at(root, "layers.1.layer_id"), 1);
	expect_eq(num_at(root, "layers.1.tasks"), 1);
	expect_eq(num_at(root, "layers.1.slices"), 2);
	expect_eq(num_at(root, "layers.1.runtime_ns"), 3000);
	expect_eq(num_at(root, "layers.1.migrations"), 1);
	expect_eq(num_at(root, "layers.1.preemptions"), 1);
	expect_eq(num_at(root, "layers.1.wait_ns.max"), 2000);
	assert_true(is_null_at(root, "layers.1.dsq_wait_ns"));
	expect_eq(num_at(root, "layers.1.dsqs.0.dsq_id"), USER);
	expect_eq(num_at(root, "layers.1.top_tasks.0.pid"), 10);
	p->args.layer = 2;
	root = run_pass(p, &pass_scx_layer_behavior);
	expect_eq(num_at(root, "total_layers"), 1);
	expect_eq(num_at(root, "layer_filter"), 2);
	assert_true(real_at(root, "layers.0.runtime_percent") == 100.0);
}

/* As our own recordings have it: each word comes a moment after its switch. */
static void late_words(struct pass_fixture *p)
{
	p->facts.has_scx = true;
	waking(&p->f, 500, 0, 10, 9);
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	given_run(&p->f, 1300, 10, 1, 20000);
	dsq_leave(&p->f, 1310, 600, USER, 10, 1);
	sw(&p->f, 5000, 0, 10, 11, EV_STATE_RUNNABLE);
	given_run(&p->f, 5200, 11, 2, 20000);
	dsq_leave(&p->f, 5210, 4000, USER, 11, 2);
	sw(&p->f, 8000, 0, 11, 12, EV_STATE_S); /* nothing is said of 12 */
	sw(&p->f, 9000, 0, 12, 10, EV_STATE_S);
	given_run(&p->f, 9100, 10, 1, 10000);
	dsq_leave(&p->f, 9110, 8000, USER, 10, 1);
	finish(p, 11000);
}

static void words_may_come_a_moment_after_the_switch(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	late_words(p);
	root = run_pass(p, &pass_scx_layer_behavior);
	expect_eq(num_at(root, "total_layers"), 2);
	expect_eq(num_at(root, "slices_without_metadata"), 1);
	expect_eq(num_at(root, "layers.0.layer_id"), 1);
	expect_eq(num_at(root, "layers.0.slices"), 2);
	expect_eq(num_at(root, "layers.0.runtime_ns"), 4000 + 2000);
	expect_eq(num_at(root, "layers.0.wait_ns.count"), 2);
	expect_eq(num_at(root, "layers.0.wait_ns.max"), 4000);
	expect_eq(num_at(root, "layers.1.runtime_ns"), 3000);
}

static void slices_are_given_and_used_by_queue(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	late_words(p);
	root = run_pass(p, &pass_dsq_latency);
	expect_eq(num_at(root, "per_dsq.0.dsq_id"), USER);
	/* The last one is still on its CPU. */
	expect_eq(num_at(root, "per_dsq.0.runs"), 2);
	assert_true(real_at(root, "per_dsq.0.slice_given_avg_us") == 20.0);
	assert_true(real_at(root, "per_dsq.0.slice_used_avg_us") == 3.5);
}

static void slices_of_which_nothing_was_said_are_unknown(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	queues(p);
	root = run_pass(p, &pass_dsq_latency);
	expect_eq(num_at(root, "per_dsq.0.runs"), 0);
	assert_true(is_null_at(root, "per_dsq.0.slice_given_avg_us"));
	assert_true(is_null_at(root, "per_dsq.0.slice_used_avg_us"));
}

static void counters_by_task_and_layer_with_ipc(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	layers(p);
	root = run_pass(p, &pass_perf_counters);
	expect_eq(num_at(root, "total_slices"), 4);
	expect_eq(num_at(root, "counted_slices"), 3);
	assert_string_equal(text_at(root, "counters.0.name"), "cpu-cycles");
	expect_eq(num_at(root, "counters.0.total"), 4100);
	expect_eq(num_at(root, "counters.0.per_slice.max"), 3000);
	/* 4100 in 7 us */
	assert_true(real_at(root, "counters.0.per_sec") > 585714285.7 &&
	            real_at(root, "counters.0.per_sec") < 585714285.8);
	/* one slice could not read it: left out, not 0 */
	expect_eq(num_at(root, "counters.1.slices"), 2);
	expect_eq(num_at(root, "counters.1.total"), 4000);
	/* of the slices that have both */
	assert_true(real_at(root, "ipc") == 1.0);
	expect_eq(num_at(root, "by_process.1.pid"), 10);
	expect_eq(num_at(root, "by_process.1.counters.cpu-cycles"), 4000);
	assert_true(real_at(root, "by_process.1.ipc") == 1.0);
	assert_true(is_null_at(root, "by_process.0.ipc"));
	expect_eq(num_at(root, "by_layer.0.layer_id"), 2);
	expect_eq(num_at(root, "by_layer.1.counters.instructions"), 4000);
}

static void an_id_of_which_half_is_known_has_no_name(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;
	struct ev_scx_run ev = { .hdr = { .size = sizeof(ev), .kind = EV_SCX_RUN, .ts_ns = 1000 },
		                 .dsq_id = 2,
		                 .tid = 10,
		                 .layer = 1,
		                 .flags = EV_SCX_DSQ_CUT };

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	push(&p->f, &ev);
	sw(&p->f, 2000, 0, 10, 0, EV_STATE_S);
	finish(p, 3000);
	root = run_pass(p, &pass_oncpu_slices);
	expect_eq(num_at(root, "processes.0.dsq_id"), 2);
	assert_true(is_null_at(root, "processes.0.dsq_name"));
	expect_eq(len_at(root, "by_dsq"), 1);
	assert_true(is_null_at(root, "by_dsq.0.dsq_name"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)
	const struct CMUnitTest tests[] = {
		T(w47_each_wait_counts_once_in_nanoseconds),
		T(w47_the_kernels_own_queues_have_names),
		T(depths_follow_from_waits_where_none_was_recorded),
		T(depths_are_weighted_by_time),
		T(slices_come_with_layer_and_queue),
		T(layers_get_time_waits_queues_and_migrations),
		T(words_may_come_a_moment_after_the_switch),
		T(slices_are_given_and_used_by_queue),
		T(slices_of_which_nothing_was_said_are_unknown),
		T(counters_by_task_and_layer_with_ipc),
		T(an_id_of_which_half_is_known_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
