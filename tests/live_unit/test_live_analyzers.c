/*
 * Reports of the live analyzers, from records to JSON: the keys that scxtop's clients know, and numbers worked
 * out by hand.
 */
#include "analyzers_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"

/* 5 wakes 7 twice (20 and 60 us) and 8 once (90 us); 7 wakes 5 once (10 us). */
static void wakeups(struct fixture *f)
{
	named(f, 5, 5, "main");
	named(f, 7, 5, "worker");
	start(f, 100 * US);
	sw(f, 100 * US, 0, 0, 5, 0);
	wake(f, 200 * US, 1, 7, 5, 20 * US);
	wake(f, 300 * US, 2, 7, 5, 60 * US);
	wake(f, 400 * US, 3, 8, 5, 90 * US);
	sw(f, 500 * US, 0, 5, 0, EV_STATE_S);
	waking(f, 510 * US, 2, 5, 7);
	sw(f, 520 * US, 0, 0, 5, 0);
}

/* W19: average, percentiles, percentages, score and CPU pairs were computed and never shown. */
static void relationships_tell_all_that_is_known(void **state)
{
	json_t *j;

	wakeups(*state);
	j = report(*state, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "frequency" });
	has_keys(j, "", "mode description count relationships observed");
	has_keys(j, "relationships.0",
	         "waker_pid waker_comm wakee_pid wakee_comm wakeup_count first_seen_ns last_seen_ns "
	         "min_latency_us max_latency_us total_latency_us sample_count same_cpu_count "
	         "cross_cpu_count same_llc_count cross_llc_count same_node_count cross_node_count "
	         "avg_latency_us p50_latency_us p95_latency_us p99_latency_us criticality_score "
	         "same_cpu_pct same_llc_pct same_node_pct cpu_pairs");
	is(j, "count", 3);
	is(j, "relationships.0.waker_pid", 5);
	is(j, "relationships.0.wakee_pid", 7);
	is_text(j, "relationships.0.wakee_comm", "worker"); /* no NULs at its end */
	is(j, "relationships.0.wakeup_count", 2);
	is(j, "relationships.0.avg_latency_us", 40);
	is(j, "relationships.0.min_latency_us", 20);
	is(j, "relationships.0.p99_latency_us", 60);
	is(j, "relationships.0.criticality_score", 80);
	is(j, "relationships.0.cross_cpu_count", 2);
	is(j, "relationships.0.same_cpu_pct", 0);
	is(j, "relationships.0.same_llc_pct", 50);
	is(j, "relationships.0.same_node_pct", 100);
	is(j, "relationships.0.cpu_pairs.1.wakee_cpu", 2);
	is(j, "relationships.0.cpu_pairs.1.count", 1);
	is(j, "relationships.0.first_seen_ns", 200 * US);
	json_decref(j);
}

static void relationships_are_ordered_as_asked(void **state)
{
	json_t *j;

	wakeups(*state);
	j = report(*state, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ 0 });
	is_text(j, "mode", "critical");
	is(j, "relationships.0.wakee_pid", 8); /* 90 */
	is(j, "relationships.1.wakee_pid", 7); /* 80 */
	is(j, "relationships.2.wakee_pid", 5);
	json_decref(j);
	j = report(*state, ANALYZER_WAKER_WAKEE,
	           (struct analyzer_args){ .mode = "latency", .limit = 2 });
	is(j, "count", 2);
	is(j, "relationships.1.wakee_pid", 7);
	is_null(j, "relationships.0.wakee_comm");
	json_decref(j);
}

static void two_way_relationships_are_sorted_and_limited(void **state)
{
	json_t *j;

	wakeups(*state);
	j = report(*state, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "bidirectional" });
	is(j, "count", 1);
	is(j, "relationships.0.pid_a", 5);
	is(j, "relationships.0.pid_b", 7);
	is(j, "relationships.0.a_wakes_b_count", 2);
	is(j, "relationships.0.a_wakes_b_avg_latency_us", 40);
	is(j, "relationships.0.b_wakes_a_count", 1);
	is(j, "relationships.0.b_wakes_a_avg_latency_us", 10);
	is_text(j, "relationships.0.pattern_description", "asymmetric (2.0:1)");
	json_decref(j);
	j = report(*state, ANALYZER_WAKER_WAKEE,
	           (struct analyzer_args){ .mode = "for_pid", .has_pid = true, .pid = 7 });
	is(j, "as_waker_count", 1);
	is(j, "as_wakee_count", 1);
	is(j, "relationships.as_wakee.0.wakeup_count", 2);
	json_decref(j);
}

static void the_summary_knows_who_has_not_run_yet(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	wakeups(f);
	sw(f, 600 * US, 3, 8, 0, EV_STATE_S);
	waking(f, 610 * US, 0, 8, 5);
	j = report(f, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "summary" });
	is(j, "summary.total_relationships", 3);
	is(j, "summary.total_wakeups", 4);
	is(j, "summary.bidirectional_count", 1);
	is(j, "summary.pending_wakeups", 1);
	assert_true(json_is_true(at(j, "summary.enabled")));
	json_decref(j);
	push(f, &(struct ev_exit){ HDR(EV_EXIT, ev_exit, 0, 620 * US), .tid = 8, .tgid = 8 });
	push(f, &(struct ev_free){ HDR(EV_FREE, ev_free, 0, 630 * US), .tid = 8 });
	analyzers_stop(f->a, ANALYZERS_ALL, 0); /* and it can still be read */
	j = report(f, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "summary" });
	is(j, "summary.pending_wakeups", 0);
	is(j, "summary.total_wakeups", 4);
	assert_true(json_is_false(at(j, "summary.enabled")));
	json_decref(j);
}

/* W20: softirqs per second of the time observed, not of ten seconds. */
static void softirqs_are_told_with_real_rates(void **state)
{
	struct fixture *f = *state;
	struct ev_sink sink = analyzers_sink(f->a);
	json_t *j;

	named(f, 7, 7, "hit");
	start(f, 1 * S);
	softirq(f, 1 * S + 1000, 0, 1, 2000);
	softirq(f, 1 * S + 9000, 0, 1, 4000);
	softirq(f, 1 * S + 19000, 1, 3, 30000);
	expect_eq(sink.advance(sink.ctx, 3 * S), 0); /* two seconds */
	j = report(f, ANALYZER_SOFTIRQ, (struct analyzer_args){ 0 });
	has_keys(j, "summary",
	         "total_events event_rate_per_sec total_time_us avg_duration_us p50_duration_us "
	         "p95_duration_us p99_duration_us max_duration_us unique_softirq_types");
	is(j, "summary.total_events", 3);
	is(j, "summary.event_rate_per_sec", 1.5);
	is(j, "summary.total_time_us", 36);
	is(j, "summary.avg_duration_us", 12);
	is(j, "summary.max_duration_us", 30);
	is(j, "summary.unique_softirq_types", 2);
	is(j, "observed.duration_ns", 2 * S);
	json_decref(j);
	j = report(f, ANALYZER_SOFTIRQ, (struct analyzer_args){ .mode = "by_type" });
	is(j, "stats.0.softirq_nr", 1);
	is_text(j, "stats.0.softirq_name", "timer");
	is(j, "stats.0.rate_per_sec", 1);
	is(j, "stats.0.min_duration_us", 2);
	is(j, "stats.0.avg_duration_us", 3);
	is(j, "count", 2);
	json_decref(j);
	j = report(f, ANALYZER_SOFTIRQ,
	           (struct analyzer_args){
			   .mode = "by_cpu", .has_softirq_nr = true, .softirq_nr = 3 });
	is(j, "softirq_nr", 3);
	is(j, "count", 1);
	is(j, "stats.0.cpu", 1);
	is(j, "stats.0.p99_duration_us", 30);
	json_decref(j);
	j = report(f, ANALYZER_SOFTIRQ, (struct analyzer_args){ .mode = "by_process" });
	is(j, "stats.0.softirq_nr", 3); /* by total time */
	is(j, "stats.1.total_time_us", 6);
	is(j, "stats.1.pid", 7);
	is_text(j, "stats.1.comm", "hit");
	json_decref(j);
}

static void latencies_are_by_kind(void **state)
{
	static const uint64_t buckets[] = { 20, 60 };
	struct fixture *f = *state;
	json_t *j;

	wakeups(f);
	j = report(f, ANALYZER_LATENCY_TRACKER,
	           (struct analyzer_args){ .buckets_us = buckets, .nr_buckets = 2 });
	has_keys(j, "latencies.0.stats", "count min max mean p50 p95 p99");
	is_text(j, "latencies.0.kind", "WakeupToRun");
	is(j, "latencies.0.stats.count", 4);
	is(j, "latencies.0.stats.min", 10);
	is(j, "latencies.0.stats.max", 90);
	is(j, "latencies.0.stats.mean", 45);
	is_text(j, "latencies.0.histogram.0.bucket", "0-20us");
	is(j, "latencies.0.histogram.0.count", 1);
	is_text(j, "latencies.0.histogram.1.bucket", "20-60us");
	is(j, "latencies.0.histogram.1.count", 1);
	is_text(j, "latencies.0.histogram.2.bucket", ">60us");
	is(j, "latencies.0.histogram.2.count", 2);
	has_keys(j, "latencies.0.by_cpu.0", "cpu count p99 max");
	is(j, "latencies.0.by_cpu.0.cpu", 3);
	is(j, "latencies.0.by_cpu.0.max", 90);
	is(j, "latencies.0.by_pid.1.pid", 7);
	is(j, "latencies.0.by_pid.1.count", 2);
	is_text(j, "latencies.1.kind", "DsqWait");
	is(j, "latencies.1.stats.count", 0);
	is_null(j, "latencies.1.stats.min"); /* unknown is not 0 */
	is_null(j, "latencies.1.stats.p99");
	json_decref(j);
}

static void hot_cpus_have_rates_over_the_time_observed(void **state)
{
	struct fixture *f = *state;
	struct ev_sink sink = analyzers_sink(f->a);
	json_t *j;

	start(f, 1 * S);
	for (uint32_t i = 0; i < 10; i++)
		sw(f, 1 * S + i, 1, i % 2 ? 7 : 0, i % 2 ? 0 : 7, EV_STATE_S);
	sw(f, 1 * S + 20, 0, 0, 8, 0);
	migrate(f, 1 * S + 30, 8, 0, 1);
	push(f, &(struct ev_ipi_send){ HDR(EV_IPI_SEND, ev_ipi_send, 1, 1 * S + 40),
	                               .target_cpu = 0 });
	expect_eq(sink.advance(sink.ctx, 5 * S), 0); /* four seconds */
	j = report(f, ANALYZER_CPU_HOTSPOT, (struct analyzer_args){ .percentile = 90 });
	has_keys(
		j, "hotspots.0",
		"cpu context_switch_rate ipi_rate migration_rate avg_latency percentile concern_level");
	is(j, "count", 1);
	is(j, "hotspots.0.cpu", 1);
	is(j, "hotspots.0.context_switch_rate", 2.5);
	is(j, "hotspots.0.ipi_rate", 0.25);
	is(j, "hotspots.0.migration_rate", 0.25);
	is(j, "hotspots.0.percentile", 100);
	is_text(j, "hotspots.0.concern_level", "critical");
	is_null(j, "hotspots.0.avg_latency");
	is(j, "system_averages.avg_context_switch_rate", 11.0 / 4 / 2);
	json_decref(j);
}

static void migrations_show_ping_pong_and_pairs(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	named(f, 7, 7, "mover");
	start(f, 1 * S);
	migrate(f, 1 * S, 7, 0, 1);
	migrate(f, 1 * S + S / 4, 7, 1, 0);
	migrate(f, 1 * S + S / 2, 7, 0, 1);
	j = report(f, ANALYZER_MIGRATION, (struct analyzer_args){ 0 });
	is(j, "total_migrations", 3);
	is(j, "migration_rate", 6);
	has_keys(j, "process_patterns.0", "pid comm migration_count cpu_affinity ping_pong_count");
	is(j, "process_patterns.0.ping_pong_count", 2);
	is(j, "process_patterns.0.cpu_affinity.1", 1);
	is(j, "cpu_pairs.0.from_cpu", 0);
	is(j, "cpu_pairs.0.to_cpu", 1);
	is(j, "cpu_pairs.0.count", 2);
	json_decref(j);
}

static void a_history_is_newest_first(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	wakeups(f);
	j = report(f, ANALYZER_PROCESS_HISTORY,
	           (struct analyzer_args){ .has_pid = true, .pid = 7, .limit = 2 });
	has_keys(j, "events.0", "timestamp event_type cpu data");
	has_keys(j, "stats", "pid total_events event_counts oldest_timestamp newest_timestamp");
	is_text(j, "events.0.event_type", "sched_switch");
	is(j, "events.0.timestamp", 360 * US);
	assert_true(json_is_true(at(j, "events.0.data.comes_on")));
	is_text(j, "events.1.event_type", "sched_waking");
	is(j, "events.1.data.waker_pid", 5);
	is(j, "stats.total_events", 6);
	is(j, "stats.event_counts.sched_switch", 4);
	is(j, "stats.oldest_timestamp", 200 * US - 5);
	json_decref(j);
	j = report(f, ANALYZER_PROCESS_HISTORY,
	           (struct analyzer_args){ .has_pid = true, .pid = 99 });
	is_null(j, "stats");
	json_decref(j);
	j = report(f, ANALYZER_PROCESS_HISTORY, (struct analyzer_args){ 0 });
	is(j, "processes.0.pid", 7);
	json_decref(j);
}

static void dispatch_queues_show_stays_and_lengths(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	start(f, 0);
	push(f, &(struct ev_dsq_leave){ HDR(EV_DSQ_LEAVE, ev_dsq_leave, 0, 50 * US),
	                                .start_ns = 20 * US, .dsq_id = 3, .tid = 7 });
	push(f, &(struct ev_dsq_leave){ HDR(EV_DSQ_LEAVE, ev_dsq_leave, 0, 60 * US),
	                                .start_ns = 50 * US, .dsq_id = 3, .tid = 7 });
	push(f, &(struct ev_dsq_leave){ HDR(EV_DSQ_LEAVE, ev_dsq_leave, 0, 60 * US), .dsq_id = 4 });
	push(f, &(struct ev_dsq_leave){ HDR(EV_DSQ_LEAVE, ev_dsq_leave, 0, 60 * US),
	                                .dsq_id = EV_DSQ_INVALID });
	push(f, &(struct ev_dsq_depth){ HDR(EV_DSQ_DEPTH, ev_dsq_depth, 0, 70 * US), .dsq_id = 3,
	                                .depth = 6 });
	push(f, &(struct ev_dsq_depth){ HDR(EV_DSQ_DEPTH, ev_dsq_depth, 0, 80 * US), .dsq_id = 3,
	                                .depth = 1 });
	j = report(f, ANALYZER_DSQ_MONITOR, (struct analyzer_args){ 0 });
	has_keys(
		j, "dsqs.0",
		"dsq_id enqueue_count dequeue_count avg_latency_us max_queue_length current_queue_length");
	is(j, "total_dsqs", 2);
	is(j, "dsqs.0.dsq_id", 3);
	is(j, "dsqs.0.enqueue_count", 2);
	is(j, "dsqs.0.dequeue_count", 2);
	is(j, "dsqs.0.avg_latency_us", 20);
	is(j, "dsqs.0.max_queue_length", 6);
	is(j, "dsqs.0.current_queue_length", 1);
	is(j, "dsqs.1.enqueue_count", 0);
	is_null(j, "dsqs.1.avg_latency_us");
	is_null(j, "dsqs.1.current_queue_length");
	json_decref(j);
}

static void spikes_are_called_so(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	start(f, 10 * S);
	for (uint64_t second = 0; second < 4; second++)
		for (uint64_t i = 0; i < (second == 3 ? 30 : 10); i++)
			migrate(f, (10 + second) * S + i, 7, 0, 1);
	j = report(f, ANALYZER_RATE_MONITOR, (struct analyzer_args){ 0 });
	assert_int_equal(json_array_size(at(j, "anomalies")), 0); /* the last second is not over */
	json_decref(j);
	migrate(f, 14 * S, 7, 0, 1);
	j = report(f, ANALYZER_RATE_MONITOR, (struct analyzer_args){ .multiplier = 2.5 });
	has_keys(j, "anomalies.0", "event_type current_rate baseline_avg spike_factor");
	is_text(j, "anomalies.0.event_type", "sched_migrate_task");
	is(j, "anomalies.0.current_rate", 30);
	is(j, "anomalies.0.baseline_avg", 10);
	is(j, "anomalies.0.spike_factor", 3);
	is(j, "rates.0.avg_rate", 15);
	is(j, "windows", 4);
	json_decref(j);
	j = report(f, ANALYZER_RATE_MONITOR, (struct analyzer_args){ .multiplier = 3 });
	assert_int_equal(json_array_size(at(j, "anomalies")), 0);
	json_decref(j);
}

static void chains_begin_at_their_root(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	wakeups(f); /* 5 woke 7 at 300, 7 woke 5 at 510 */
	j = report(f, ANALYZER_WAKEUP_TRACKER, (struct analyzer_args){ .has_pid = true, .pid = 5 });
	has_keys(j, "chains.0", "root_pid root_comm chain total_latency_us chain_length");
	is(j, "chains.0.root_pid", 5);
	is(j, "chains.0.chain_length", 2);
	is(j, "chains.0.chain.0.pid", 5);
	is(j, "chains.0.chain.0.wakes", 7);
	is(j, "chains.0.chain.0.latency_us", 60);
	is(j, "chains.0.chain.1.wakes", 5);
	is(j, "chains.0.chain.1.latency_us", 10);
	is(j, "chains.0.total_latency_us", 70);
	is_text(j, "chains.0.begins_with", "cycle");
	json_decref(j);
}

/* W11, W24: what is sampled, lost or not running is said with every answer. */
static void every_report_says_what_it_rests_on(void **state)
{
	struct fixture *f = *state;
	struct facts *facts = NULL;
	json_t *j;

	j = report(f, ANALYZER_MIGRATION, (struct analyzer_args){ 0 });
	assert_true(json_is_false(at(j, "observed.has_data")));
	json_decref(j);
	start(f, 1 * S);
	push(f, &(struct ev_sampling){ HDR(EV_SAMPLING, ev_sampling, 0, 1 * S), .one_in = 128 });
	migrate(f, 2 * S, 7, 0, 1);
	push(f,
	     &(struct ev_lost){ HDR(EV_LOST, ev_lost, 0, 2 * S), .kind = EV_MIGRATE, .count = 4 });
	for (int id = 0; id < ANALYZERS; id++) {
		j = report(f, (enum analyzer_id)id, (struct analyzer_args){ 0 });
		is_text(j, "analyzer", analyzers_name((enum analyzer_id)id));
		assert_true(json_is_true(at(j, "observed.running")));
		is(j, "observed.duration_ns", 1 * S);
		is(j, "observed.sampled_one_in", 128);
		json_decref(j);
	}
	j = report(f, ANALYZER_MIGRATION, (struct analyzer_args){ 0 });
	is(j, "observed.lost_records", 4);
	is(j, "observed.records", 1);
	is(j, "observed.left_out", 0);
	json_decref(j);
	arena_reset(f->mem);
	expect_eq(analyzers_report_status(f->a, f->mem, NULL, &facts), 0);
	j = to_json(facts);
	assert_int_equal(json_array_size(at(j, "analyzers")), ANALYZERS);
	is_text(j, "analyzers.9.name", "softirq_analyzer");
	json_decref(j);
}

static void nonsense_is_refused_in_words(void **state)
{
	static const uint64_t backwards[] = { 20, 10 }, many[65] = { 0 };
	struct fixture *f = *state;
	struct facts *facts = NULL;
	struct diag d = { 0 };

	start(f, 0);
	expect_eq(analyzers_report(f->a, ANALYZER_WAKER_WAKEE,
	                           &(struct analyzer_args){ .mode = "x" }, f->mem, &d, &facts),
	          -EINVAL);
	assert_non_null(strstr(d.what, "'x'"));
	assert_non_null(strstr(d.hint, "bidirectional"));
	d = (struct diag){ 0 };
	expect_eq(analyzers_report(f->a, ANALYZER_WAKER_WAKEE,
	                           &(struct analyzer_args){ .mode = "for_pid" }, f->mem, &d,
	                           &facts),
	          -EINVAL);
	assert_non_null(strstr(d.hint, "pid"));
	expect_eq(analyzers_report(f->a, ANALYZER_SOFTIRQ, &(struct analyzer_args){ .mode = "x" },
	                           f->mem, NULL, &facts),
	          -EINVAL);
	expect_eq(analyzers_report(f->a, ANALYZER_LATENCY_TRACKER,
	                           &(struct analyzer_args){ .buckets_us = backwards,
	                                                    .nr_buckets = 2 },
	                           f->mem, NULL, &facts),
	          -EINVAL);
	expect_eq(analyzers_report(f->a, ANALYZER_LATENCY_TRACKER,
	                           &(struct analyzer_args){ .buckets_us = many, .nr_buckets = 65 },
	                           f->mem, NULL, &facts),
	          -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(relationships_tell_all_that_is_known),
		T(relationships_are_ordered_as_asked),
		T(two_way_relationships_are_sorted_and_limited),
		T(the_summary_knows_who_has_not_run_yet),
		T(softirqs_are_told_with_real_rates),
		T(latencies_are_by_kind),
		T(hot_cpus_have_rates_over_the_time_observed),
		T(migrations_show_ping_pong_and_pairs),
		T(a_history_is_newest_first),
		T(dispatch_queues_show_stays_and_lengths),
		T(spikes_are_called_so),
		T(chains_begin_at_their_root),
		T(every_report_says_what_it_rests_on),
		T(nonsense_is_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
