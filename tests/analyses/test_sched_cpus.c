/* Moves, queues and what applies, on records by hand. W numbers are known errors of scxtop. */
#include "../analyze/pass_fixture.h"

#include "analyses/passes.h"

static void w41_moves_know_their_caches_nodes_and_latency(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	p->places[3].node = 1;
	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1500, 0, 10, 0, EV_STATE_S);
	waking(&p->f, 2000, 0, 10, 0);
	migrate(&p->f, 2100, 10, 0, 2);
	sw(&p->f, 2700, 2, 0, 10, EV_STATE_RUNNABLE);
	migrate(&p->f, 3000, 11, 0, 1);
	migrate(&p->f, 3100, 11, 1, 3);
	migrate(&p->f, 3200, 11, 1, 40); /* an unknown place */
	finish(p, 4000);
	root = run_pass(p, &pass_migration_patterns);
	expect_eq(num_at(root, "total_migrations"), 4);
	expect_eq(num_at(root, "cross_llc_migrations"), 1);
	expect_eq(num_at(root, "cross_numa_migrations"), 1);
	expect_eq(num_at(root, "unknown_distance_migrations"), 1);
	expect_eq(num_at(root, "total_processes_migrated"), 2);
	expect_eq(num_at(root, "top_migrating_processes.0.pid"), 11);
	expect_eq(num_at(root, "top_migrating_processes.0.migration_count"), 3);
	assert_string_equal(text_at(root, "latency.from"), "waking");
	expect_eq(num_at(root, "latency.count"), 1);
	expect_eq(num_at(root, "latency.p99_ns"), 700);
	root = run_pass(p, &pass_llc_locality);
	expect_eq(num_at(root, "topology.nr_llcs"), 2);
	expect_eq(num_at(root, "topology.nr_numa_nodes"), 2);
	expect_eq(num_at(root, "same_llc_migrations"), 1);
	expect_eq(num_at(root, "cross_llc_same_numa_migrations"), 1);
	expect_eq(num_at(root, "cross_numa_migrations"), 1);
	assert_true(real_at(root, "llc_locality_pct") > 33.3);
	assert_true(real_at(root, "llc_locality_pct") < 33.4);
	expect_eq(num_at(root, "per_llc_stats.0.llc_id"), 0);
	expect_eq(num_at(root, "per_llc_stats.0.outbound_migrations"), 2);
	expect_eq(num_at(root, "per_llc_stats.1.inbound_migrations"), 2);
	expect_eq(num_at(root, "top_cross_llc_processes.0.cross_llc_count"), 1);
}

static void w41_without_places_and_latencies_both_are_unknown(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	p->facts.places = NULL;
	p->facts.nr_places = 0;
	migrate(&p->f, 1000, 10, 0, 2);
	finish(p, 4000);
	root = run_pass(p, &pass_migration_patterns);
	expect_eq(num_at(root, "total_migrations"), 1);
	assert_true(is_null_at(root, "cross_llc_migrations"));
	assert_true(is_null_at(root, "cross_numa_migrations"));
	assert_true(is_null_at(root, "latency.max_ns"));
	root = run_pass(p, &pass_llc_locality);
	assert_true(is_null_at(root, "topology"));
	assert_true(is_null_at(root, "llc_locality_pct"));
	expect_eq(num_at(root, "unknown_distance_migrations"), 1);
}

static void moves_are_seen_in_slices_where_none_were_recorded(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1500, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 2000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 2500, 0, 10, 0, EV_STATE_S);
	sw(&p->f, 3000, 2, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 4000);
	root = run_pass(p, &pass_migration_patterns);
	assert_string_equal(text_at(root, "basis"), "slices");
	expect_eq(num_at(root, "total_migrations"), 1);
	expect_eq(num_at(root, "cross_llc_migrations"), 1);
	p->args.from_ns = 3500;
	root = run_pass(p, &pass_migration_patterns);
	expect_eq(num_at(root, "total_migrations"), 0);
	root = run_pass(p, &pass_llc_locality);
	assert_true(real_at(root, "llc_locality_pct") == 100.0);
}

/* 10 runs on CPU 1 all the time; 11 and 12 are woken from CPU 0 and wait for CPU 1, one of them to the end. */
static void w42_tasks_woken_from_elsewhere_are_in_the_queue(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 1, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 0, 0, 20, EV_STATE_RUNNABLE);
	wakeup(&p->f, 2000, 0, 11, 1);
	wakeup(&p->f, 3000, 0, 12, 1);
	sw(&p->f, 5000, 1, 10, 11, EV_STATE_S);
	finish(p, 11000);
	root = run_pass(p, &pass_runqueue_depth);
	expect_eq(num_at(root, "total_cpus"), 2);
	expect_eq(num_at(root, "global_max_depth"), 3);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.0.cpu_id"), 1);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.0.max_depth"), 3);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.0.max_at_ns"), 3000);
	/* 1 for 1000 ns, 2 for 1000, 3 for 2000, 2 for 6000. */
	assert_true(real_at(root, "worst_cpus_by_max_depth.0.avg_depth") == 2.1);
	assert_true(real_at(root, "worst_cpus_by_max_depth.0.avg_waiting") == 1.1);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.0.p99_depth"), 3);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.1.max_depth"), 1);
	p->args.from_ns = 6000;
	p->args.cpu = 1;
	root = run_pass(p, &pass_runqueue_depth);
	expect_eq(num_at(root, "total_cpus"), 1);
	expect_eq(num_at(root, "global_max_depth"), 2);
	assert_true(real_at(root, "global_avg_depth") == 2.0);
}

/* 12 waits for CPU 0 from 2000 to 5000 behind 10, is moved to CPU 1 and waits there behind 11 until 6000. */
static void one_that_is_moved_counts_on_each_cpu_for_its_stay(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 1, 0, 11, EV_STATE_RUNNABLE);
	wakeup(&p->f, 2000, 1, 12, 0);
	migrate(&p->f, 5000, 12, 0, 1);
	sw(&p->f, 6000, 1, 11, 12, EV_STATE_S);
	finish(p, 11000);
	root = run_pass(p, &pass_runqueue_depth);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.0.cpu_id"), 0);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.0.max_at_ns"), 2000);
	assert_true(real_at(root, "worst_cpus_by_max_depth.0.avg_waiting") == 0.3);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.1.max_depth"), 2);
	expect_eq(num_at(root, "worst_cpus_by_max_depth.1.max_at_ns"), 5000);
	assert_true(real_at(root, "worst_cpus_by_max_depth.1.avg_waiting") == 0.1);
	p->args.cpu = 0; /* where it did not run in the end */
	root = run_pass(p, &pass_runqueue_depth);
	expect_eq(num_at(root, "global_max_depth"), 2);
}

/* 12 is woken for CPU 0 and never runs. */
static void a_wait_that_does_not_end_is_in_the_queue(void **state)
{
	struct pass_fixture *p = *state;

	sw(&p->f, 1000, 0, 0, 12, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 0, 12, 10, EV_STATE_S);
	wakeup(&p->f, 2000, 0, 12, 0);
	finish(p, 11000);
	assert_true(real_at(run_pass(p, &pass_runqueue_depth),
	                    "worst_cpus_by_max_depth.0.avg_waiting") == 0.9);
}

/* 10 is preempted on CPU 0 and goes on on CPU 1: without a wakeup. */
static void a_preempted_task_that_goes_on_elsewhere_waits_from_its_switch_out(void **state)
{
	struct pass_fixture *p = *state;
	const struct report_node *root;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 2000, 0, 10, 11, EV_STATE_PREEMPTED);
	migrate(&p->f, 2100, 10, 0, 1);
	sw(&p->f, 2300, 1, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 3000);
	root = run_pass(p, &pass_migration_patterns);
	assert_string_equal(text_at(root, "latency.from"), "switch_out");
	expect_eq(num_at(root, "latency.from_switch_out"), 1);
	expect_eq(num_at(root, "latency.max_ns"), 300);
}

#define MS 1000000ULL

/* A second in which 10 and 11 take turns every 50 us from 400 ms to 500 ms, and hardly ever else. */
static void w35_every_analysis_applies_where_its_records_are(void **state)
{
	struct pass_fixture *p = *state;
	static const struct pass *const by_switch[] = {
		&pass_process_runtime, &pass_task_states,  &pass_preemptions,
		&pass_runqueue_depth,  &pass_fairness,     &pass_scheduling_bottlenecks,
		&pass_outliers,        &pass_llc_locality, &pass_migration_patterns,
	};
	static const struct pass *const by_wakeup[] = { &pass_wakeup_latency, &pass_wakeup_chains,
		                                        &pass_latency_breakdown,
		                                        &pass_correlation };

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	finish(p, 2000);
	for (size_t i = 0; i < sizeof(by_switch) / sizeof(by_switch[0]); i++) {
		assert_true(pass_applies(by_switch[i], &p->source));
		assert_ptr_equal(pass_find(by_switch[i]->id), by_switch[i]);
	}
	for (size_t i = 0; i < sizeof(by_wakeup) / sizeof(by_wakeup[0]); i++) {
		assert_ptr_equal(pass_find(by_wakeup[i]->id), by_wakeup[i]);
		assert_false(pass_applies(by_wakeup[i], &p->source));
		for (int kind = EV_WAKING; kind <= EV_WAKEUP_NEW; kind++) {
			p->facts.kinds[kind] = 1;
			assert_true(pass_applies(by_wakeup[i], &p->source));
			p->facts.kinds[kind] = 0;
		}
	}
	p->facts.kinds[EV_SWITCH] = 0;
	p->facts.kinds[EV_MIGRATE] = 1;
	assert_true(pass_applies(&pass_migration_patterns, &p->source));
	assert_false(pass_applies(&pass_process_runtime, &p->source));
}

/* Whatever wrote the trace: what comes in as switches and wakings alone gives an answer everywhere. */
static void w49_no_analysis_that_applies_is_empty(void **state)
{
	struct pass_fixture *p = *state;

	sw(&p->f, 1000, 0, 0, 10, EV_STATE_RUNNABLE);
	sw(&p->f, 1000, 1, 0, 13, EV_STATE_RUNNABLE);
	waking(&p->f, 1100, 0, 11, 10);
	sw(&p->f, 1500, 0, 10, 11, EV_STATE_RUNNABLE);
	waking(&p->f, 1600, 0, 12, 11);
	sw(&p->f, 1900, 1, 13, 12, EV_STATE_S);
	sw(&p->f, 2000, 0, 11, 10, EV_STATE_S);
	finish(p, 3000);
	expect_eq(num_at(run_pass(p, &pass_task_states), "processes_analyzed"), 4);
	expect_eq(num_at(run_pass(p, &pass_preemptions), "total_preemptions"), 1);
	expect_eq(num_at(run_pass(p, &pass_wakeup_chains), "total_chains_found"), 1);
	expect_eq(num_at(run_pass(p, &pass_latency_breakdown), "stats.waking_to_schedule.count"),
	          2);
	expect_eq(num_at(run_pass(p, &pass_wakeup_latency), "total_wakeups"), 2);
	expect_eq(num_at(run_pass(p, &pass_process_runtime), "total_processes"), 4);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, pass_setup, pass_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(w41_moves_know_their_caches_nodes_and_latency),
		CASE(w41_without_places_and_latencies_both_are_unknown),
		CASE(moves_are_seen_in_slices_where_none_were_recorded),
		CASE(a_preempted_task_that_goes_on_elsewhere_waits_from_its_switch_out),
		CASE(w42_tasks_woken_from_elsewhere_are_in_the_queue),
		CASE(one_that_is_moved_counts_on_each_cpu_for_its_stay),
		CASE(a_wait_that_does_not_end_is_in_the_queue),
		CASE(w35_every_analysis_applies_where_its_records_are),
		CASE(w49_no_analysis_that_applies_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
