/*
 * Reports of the live analyzers, from records to JSON: the keys that scxtop's clients know, and numbers worked
 * out by hand.
 */
#include "analyzers_fixture.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "model/timeline.h"

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
static void relationships_report_all_that_is_known(void **state)
{
	json_t *j;

	wakeups(*state);
	j = report(*state, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "frequency" });
	has_keys(j, "", "mode description count relationships");
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

static void the_summary_knows_tasks_that_have_not_run_yet(void **state)
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
	live_model_stop(&f->m, ANALYZERS_ALL); /* and it can still be read */
	j = report(f, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "summary" });
	is(j, "summary.pending_wakeups", 0);
	is(j, "summary.total_wakeups", 4);
	assert_true(json_is_false(at(j, "summary.enabled")));
	json_decref(j);
}

/* W20: softirqs per second of the time observed, not of ten seconds. */
static void softirqs_are_reported_with_real_rates(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	named(f, 7, 7, "hit");
	start(f, 1 * S);
	softirq(f, 1 * S + 1000, 0, 1, 2000);
	softirq(f, 1 * S + 9000, 0, 1, 4000);
	softirq(f, 1 * S + 19000, 1, 3, 30000);
	pass_time(f, 3 * S); /* two seconds */
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
	struct fixture *f = *state;
	json_t *j;

	wakeups(f);
	j = report(f, ANALYZER_LATENCY_TRACKER, (struct analyzer_args){ 0 });
	has_keys(j, "latencies.0.stats", "count min_us max_us mean_us p50_us p95_us p99_us");
	is_text(j, "latencies.0.kind", "WakeupToRun");
	is(j, "latencies.0.stats.count", 4);
	is(j, "latencies.0.stats.min_us", 10);
	is(j, "latencies.0.stats.max_us", 90);
	is(j, "latencies.0.stats.mean_us", 45);
	is_text(j, "latencies.0.histogram.0.bucket", "0-10us");
	is(j, "latencies.0.histogram.0.count", 0); /* 10 us is not below */
	is_text(j, "latencies.0.histogram.1.bucket", "10-100us");
	is(j, "latencies.0.histogram.1.count", 4);
	is_text(j, "latencies.0.histogram.4.bucket", ">10000us");
	is(j, "latencies.0.histogram_samples", 4);
	has_keys(j, "latencies.0.by_cpu.0", "cpu count p99_us max_us");
	is(j, "latencies.0.by_cpu.0.cpu", 3);
	is(j, "latencies.0.by_cpu.0.max_us", 90);
	is(j, "latencies.0.by_pid.1.pid", 7);
	is(j, "latencies.0.by_pid.1.count", 2);
	is_text(j, "latencies.1.kind", "DsqWait");
	is(j, "latencies.1.stats.count", 0);
	is_null(j, "latencies.1.stats.min_us"); /* unknown is not 0 */
	is_null(j, "latencies.1.stats.p99_us");
	json_decref(j);
}

static void hot_cpus_have_rates_over_the_time_observed(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	start(f, 1 * S);
	for (uint32_t i = 0; i < 10; i++)
		sw(f, 1 * S + i, 1, i % 2 ? 7 : 0, i % 2 ? 0 : 7, EV_STATE_S);
	sw(f, 1 * S + 20, 0, 0, 8, 0);
	migrate(f, 1 * S + 30, 8, 0, 1);
	push(f, &(struct ev_ipi_send){ HDR(EV_IPI_SEND, ev_ipi_send, 1, 1 * S + 40),
	                               .target_cpu = 0 });
	pass_time(f, 5 * S); /* four seconds */
	j = report(f, ANALYZER_CPU_HOTSPOT, (struct analyzer_args){ .percentile = 90 });
	has_keys(j, "hotspots.0",
	         "cpu context_switches_per_sec ipis_per_sec migrations_per_sec avg_latency_us switches_percentile "
	         "waiting_ms_per_sec concern_level");
	is(j, "count", 1);
	is(j, "hotspots.0.cpu", 1);
	is(j, "hotspots.0.context_switches_per_sec", 2.5);
	is(j, "hotspots.0.ipis_per_sec", 0.25);
	is(j, "hotspots.0.migrations_per_sec", 0.25);
	is(j, "hotspots.0.switches_percentile", 100);
	is_text(j, "hotspots.0.concern_level", "none");
	is_null(j, "hotspots.0.avg_latency_us");
	is(j, "system_averages.avg_context_switches_per_sec", 11.0 / 4 / 2);
	json_decref(j);
}

/* On CPU 1 a task waits for so long in each of four seconds; CPU 0 switches a hundred times as often and loses nothing. */
static void expect_concern(struct fixture *f, uint64_t wait_ns, const char *want)
{
	json_t *j;

	start(f, 1 * S);
	for (uint64_t i = 0; i < 800; i++)
		sw(f, 1 * S + i, 0, i % 2 ? 7 : 0, i % 2 ? 0 : 7, EV_STATE_S);
	for (uint64_t second = 1; second < 5; second++)
		wake(f, second * S + 1000, 1, 9, 8, wait_ns);
	pass_time(f, 5 * S);
	j = report(f, ANALYZER_CPU_HOTSPOT, (struct analyzer_args){ .percentile = 1 });
	is(j, "hotspots.0.cpu", 0);
	is(j, "hotspots.0.context_switches_per_sec", 200);
	is_text(j, "hotspots.0.concern_level", "none"); /* however often it switches */
	is(j, "hotspots.1.cpu", 1);
	is_text(j, "hotspots.1.concern_level", want);
	is(j, "hotspots.1.waiting_ms_per_sec", (double)wait_ns / 1e6);
	json_decref(j);
}

static void concern_is_by_the_time_that_is_lost(void **state)
{
	expect_concern(*state, S / 20, "low");
}

static void a_task_that_waits_half_of_the_time_is_of_medium_concern(void **state)
{
	expect_concern(*state, S / 2, "medium");
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
	is(j, "migrations_per_sec", 6);
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
	has_keys(j, "events.0", "timestamp_ns event_type cpu data");
	has_keys(j, "stats", "pid total_events event_counts oldest_timestamp newest_timestamp");
	is_text(j, "events.0.event_type", "sched_switch");
	is(j, "events.0.timestamp_ns", 360 * US);
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

	pass_time(f, 10 * US); /* the stream begins */
	start(f, 10 * US);
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
	has_keys(j, "anomalies.0", "event_type current_per_sec baseline_per_sec spike_factor");
	is_text(j, "anomalies.0.event_type", "sched_migrate_task");
	is(j, "anomalies.0.current_per_sec", 30);
	is(j, "anomalies.0.baseline_per_sec", 10);
	is(j, "anomalies.0.spike_factor", 3);
	is(j, "rates.0.avg_per_sec", 15);
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
	is_text(j, "chains.0.begins_with", "task"); /* 5 ran, and had not waited for it */
	json_decref(j);
}

/* A report is about the time since its start or reset, and of one that has stopped until then. */
static void stop_keeps_what_was_found_and_reset_forgets_it(void **state)
{
	struct analyzer_args all = { 0 };
	struct fixture *f = *state;
	json_t *j;

	start(f, 1 * S);
	migrate(f, 1 * S, 7, 0, 1);
	migrate(f, 2 * S, 7, 1, 0);
	live_model_stop(&f->m, 1U << ANALYZER_MIGRATION);
	migrate(f, 3 * S, 7, 0, 1);
	pass_time(f, 100 * S); /* the window has gone on long since */
	j = report(f, ANALYZER_MIGRATION, all);
	is(j, "total_migrations", 2);
	is(j, "migrations_per_sec", 2);
	json_decref(j);
	live_model_reset(&f->m, 1U << ANALYZER_MIGRATION, 101 * S);
	j = report(f, ANALYZER_MIGRATION, all);
	is(j, "total_migrations", 0);
	json_decref(j);
	expect_eq(live_model_start(&f->m, 1U << ANALYZER_MIGRATION, 102 * S, NULL), 0);
	migrate(f, 102 * S, 7, 0, 1);
	live_model_reset(&f->m, 1U << ANALYZER_MIGRATION, 103 * S);
	migrate(f, 104 * S, 7, 1, 0);
	j = report(f, ANALYZER_MIGRATION, all);
	is(j, "total_migrations", 1);
	json_decref(j);
}

static void a_report_is_about_the_window_at_most(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	start(f, 1 * S);
	for (uint64_t second = 1; second <= 100; second++)
		migrate(f, second * S, 7, 0, 1);
	j = report(f, ANALYZER_MIGRATION, (struct analyzer_args){ 0 });
	is(j, "total_migrations", 31); /* from 70 s to 100 s */
	json_decref(j);
}

/* Both halves of the memory: the window is cut, and what stopped analyzers keep is released, the oldest first. */
static void memory_is_bounded_under_a_flood(void **state)
{
	struct fixture *f = *state;
	uint64_t ns = S, peak = 0;

	start(f, ns);
	for (int round = 0; round < 4; round++) {
		uint32_t set = round % 2 ? 1U << ANALYZER_MIGRATION : 1U << ANALYZER_WAKER_WAKEE;

		for (int i = 0; i < 600000; i++, ns += 100) {
			sw(f, ns, 1, i % 2 ? 7 : 8, i % 2 ? 8 : 7, EV_STATE_S);
			waking(f, ns + 50, 0, i % 2 ? 7 : 8, 5);
			if (i % 4096 == 0)
				pass_time(f, ns + 60);
			if (f->m.budget.used_bytes > peak)
				peak = f->m.budget.used_bytes;
		}
		live_model_stop(&f->m, set);
		expect_eq(live_model_start(&f->m, set, ns, NULL), 0);
		live_model_stop(&f->m, set);
	}
	assert_true(peak <= LIVE_BYTES);
	assert_true(peak > LIVE_BYTES / 4); /* else it was no flood */
	assert_true(timeline_whole_from_ns(f->m.timeline) > S);
	assert_true(timeline_bytes(f->m.timeline) <= LIVE_BYTES / 2);
}

static void nonsense_is_refused_in_words(void **state)
{
	struct fixture *f = *state;
	struct diag d = { 0 };
	json_t *j;

	start(f, 0);
	expect_eq(ask(f, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "x" }, &d, &j),
	          -EINVAL);
	assert_non_null(strstr(d.what, "'x'"));
	assert_non_null(strstr(d.hint, "bidirectional"));
	d = (struct diag){ 0 };
	expect_eq(ask(f, ANALYZER_WAKER_WAKEE, (struct analyzer_args){ .mode = "for_pid" }, &d, &j),
	          -EINVAL);
	assert_non_null(strstr(d.hint, "pid"));
	expect_eq(ask(f, ANALYZER_SOFTIRQ, (struct analyzer_args){ .mode = "x" }, NULL, &j),
	          -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* 100 migrations in a second, nothing attached for eight seconds, 100 in the second after that. */
static void a_rate_leaves_out_the_time_without_a_stream(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	start(f, 1);
	for (uint64_t i = 1; i <= 100; i++)
		migrate(f, i * S / 100, 7, 0, 1);
	live_model_pause(&f->m, S);
	live_model_resume(&f->m, UINT64_MAX, 9 * S);
	for (uint64_t i = 1; i <= 100; i++)
		migrate(f, 9 * S + i * S / 100, 7, 0, 1);
	pass_time(f, 10 * S);
	j = report(f, ANALYZER_MIGRATION, (struct analyzer_args){ 0 });
	assert_true(json_number_value(at(j, "migrations_per_sec")) > 95);
	assert_true(json_number_value(at(j, "migrations_per_sec")) < 105);
	json_decref(j);
}

/* More than are kept: the latest count. */
static void holes_are_bounded(void **state)
{
	struct fixture *f = *state;

	start(f, 1);
	for (uint64_t i = 1; i <= 3 * LIVE_HOLES_MAX; i++) {
		live_model_pause(&f->m, i * US);
		assert_true(f->m.nr_holes <= LIVE_HOLES_MAX);
		live_model_resume(&f->m, UINT64_MAX, i * US + 10);
	}
	expect_eq(f->m.nr_holes, LIVE_HOLES_MAX);
	expect_eq(f->m.holes[LIVE_HOLES_MAX - 1].from_ns, 3 * LIVE_HOLES_MAX * US);
	live_model_pause(&f->m, 100 * S); /* the others have left the window */
	expect_eq(f->m.nr_holes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_rate_leaves_out_the_time_without_a_stream),
		T(holes_are_bounded),
		T(relationships_report_all_that_is_known),
		T(relationships_are_ordered_as_asked),
		T(two_way_relationships_are_sorted_and_limited),
		T(the_summary_knows_tasks_that_have_not_run_yet),
		T(softirqs_are_reported_with_real_rates),
		T(latencies_are_by_kind),
		T(hot_cpus_have_rates_over_the_time_observed),
		T(concern_is_by_the_time_that_is_lost),
		T(a_task_that_waits_half_of_the_time_is_of_medium_concern),
		T(migrations_show_ping_pong_and_pairs),
		T(a_history_is_newest_first),
		T(dispatch_queues_show_stays_and_lengths),
		T(spikes_are_called_so),
		T(chains_begin_at_their_root),
		T(stop_keeps_what_was_found_and_reset_forgets_it),
		T(a_report_is_about_the_window_at_most),
		T(memory_is_bounded_under_a_flood),
		T(nonsense_is_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
