/*
 * Reports of the live analyzers, from records to JSON: the keys that scxtop's clients know, and numbers worked
 * out by hand.
 */
#include "../unit.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyzers_report.h"
#include "analyze/event_facts.h"
#include "analyze/event_filter.h"
#include "analyze/event_groups.h"
#include "analyze/facts.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "render/facts_json.h"

#define HDR(k, type, at_cpu, ts) \
	.hdr = { .size = sizeof(struct type), .kind = (k), .cpu = (at_cpu), .ts_ns = (ts) }
#define US 1000ULL
#define S  1000000000ULL

struct fixture {
	struct tasks *tasks;
	struct pair *pair;
	struct analyzers *a;
	struct arena *mem;
};

static int setup(void **state)
{
	static const struct live_place places[] = { { 0, 0 }, { 0, 0 }, { 1, 0 }, { 1, 0 } };
	struct fixture *f = calloc(1, sizeof(*f));
	struct pair_out out;

	assert_non_null(f);
	f->mem = arena_new(8 << 20);
	assert_non_null(f->mem);
	expect_eq(tasks_new(&(struct tasks_cfg){ .keep_dead_ns = S }, &f->tasks), 0);
	expect_eq(pair_new(&(struct pair_cfg){ .tasks = f->tasks }, &f->pair), 0);
	expect_eq(analyzers_new(&(struct analyzers_cfg){ .pair = f->pair,
	                                                 .tasks = f->tasks,
	                                                 .places = places,
	                                                 .nr_places = 4 },
	                        &f->a),
	          0);
	out = analyzers_out(f->a);
	expect_eq(pair_add_out(f->pair, &out), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	analyzers_free(f->a);
	pair_free(f->pair);
	tasks_free(f->tasks);
	arena_free(f->mem);
	free(f);
	return 0;
}

static void push(struct fixture *f, const void *rec)
{
	struct ev_sink pair = pair_sink(f->pair), also = analyzers_sink(f->a);

	expect_eq(pair.push(pair.ctx, rec), 0);
	expect_eq(also.push(also.ctx, rec), 0);
}

static void sw(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t prev, uint32_t next,
               uint32_t st)
{
	push(f, &(struct ev_switch){ HDR(EV_SWITCH, ev_switch, cpu, ts), .prev_tid = prev,
	                             .next_tid = next, .prev_state = st, .prev_prio = 120,
	                             .next_prio = 110 });
}

static void waking(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker)
{
	push(f, &(struct ev_wake){ HDR(EV_WAKING, ev_wake, cpu, ts), .tid = tid, .waker_tid = waker,
	                           .target_cpu = cpu, .prio = 120 });
}

static void migrate(struct fixture *f, uint64_t ts, uint32_t tid, uint32_t from, uint32_t to)
{
	push(f, &(struct ev_migrate){ HDR(EV_MIGRATE, ev_migrate, from, ts), .tid = tid,
	                              .from_cpu = from, .to_cpu = to });
}

static void named(struct fixture *f, uint32_t tid, uint32_t tgid, const char *comm)
{
	struct ev_task_info ev = { HDR(EV_TASK_INFO, ev_task_info, 0, 10), .tid = tid,
		                   .tgid = tgid };

	memcpy(ev.comm, comm, strlen(comm));
	push(f, &ev);
}

static void softirq(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t vector, uint64_t ns)
{
	push(f, &(struct ev_softirq){ HDR(EV_SOFTIRQ_ENTRY, ev_softirq, cpu, ts), .vector = vector,
	                              .tid = 7 });
	push(f, &(struct ev_softirq){ HDR(EV_SOFTIRQ_EXIT, ev_softirq, cpu, ts + ns),
	                              .vector = vector, .tid = 7 });
}

/* tid sleeps on cpu, is woken from CPU 0 and runs ns later. */
static void wake(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker,
                 uint64_t ns)
{
	sw(f, ts - 5, cpu, tid, 0, EV_STATE_S);
	waking(f, ts, 0, tid, waker);
	sw(f, ts + ns, cpu, 0, tid, 0);
}

static json_t *to_json(const struct facts *facts)
{
	struct json_writer w;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_error_t err;
	json_t *json;

	assert_non_null(out);
	jw_init(&w, out, false);
	facts_json_put(&w, NULL, facts);
	expect_eq(jw_finish(&w), 0);
	expect_eq(fclose(out), 0);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &err);
	assert_non_null(json);
	free(text);
	return json;
}

static json_t *report(struct fixture *f, enum analyzer_id id, struct analyzer_args args)
{
	struct facts *facts = NULL;

	arena_reset(f->mem);
	expect_eq(analyzers_report(f->a, id, &args, f->mem, NULL, &facts), 0);
	return to_json(facts);
}

static void start(struct fixture *f, uint64_t ts)
{
	expect_eq(analyzers_start(f->a, ANALYZERS_ALL, ts, NULL), 0);
}

/* "a.0.b": keys of objects and numbers of lists. */
static json_t *at(json_t *json, const char *path)
{
	char copy[128], *rest = copy, *word;

	assert_true(strlen(path) < sizeof(copy));
	strcpy(copy, path);
	while (json && (word = strsep(&rest, ".")))
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(word))
		                           : json_object_get(json, word);
	if (!json)
		print_error("there is no %s\n", path);
	assert_non_null(json);
	return json;
}

static void is(json_t *json, const char *path, double value)
{
	json_t *v = at(json, path);

	assert_true(json_is_number(v));
	if (fabs(json_number_value(v) - value) > 1e-3)
		print_error("%s is %g, not %g\n", path, json_number_value(v), value);
	assert_true(fabs(json_number_value(v) - value) <= 1e-3);
}

static void is_null(json_t *json, const char *path)
{
	assert_true(json_is_null(at(json, path)));
}

static void is_text(json_t *json, const char *path, const char *text)
{
	assert_string_equal(json_string_value(at(json, path)), text);
}

static void has_keys(json_t *json, const char *path, const char *keys)
{
	char copy[1024], *rest = copy, *word;
	json_t *sub = *path ? at(json, path) : json;

	assert_true(strlen(keys) < sizeof(copy));
	strcpy(copy, keys);
	while ((word = strsep(&rest, " "))) {
		if (!json_object_get(sub, word))
			print_error("there is no %s in %s\n", word, path);
		assert_non_null(json_object_get(sub, word));
	}
}

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

/* W23: a softirq in the stream had neither its number nor a time. */
static void a_softirq_event_has_its_number_and_times(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	start(f, 0);
	softirq(f, 1000, 2, 3, 500);
	j = report(f, ANALYZER_EVENT_BUFFER, (struct analyzer_args){ 0 });
	is_text(j, "events.1.type", "softirq");
	is(j, "events.1.softirq_nr", 3);
	is(j, "events.1.ts", 1500);
	is(j, "events.1.entry_ts", 1000);
	is(j, "events.1.exit_ts", 1500);
	is(j, "events.1.cpu", 2);
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

static void events_have_the_keys_of_their_type(void **state)
{
	struct fixture *f = *state;
	json_t *j;

	named(f, 5, 5, "main");
	start(f, 0);
	sw(f, 100, 1, 0, 5, 0);
	waking(f, 150, 1, 7, 5);
	sw(f, 200, 1, 5, 7, EV_STATE_RUNNABLE);
	migrate(f, 300, 5, 1, 2);
	push(f, &(struct ev_fork){ HDR(EV_FORK, ev_fork, 1, 310), .parent_tid = 5, .parent_tgid = 5,
	                           .tid = 9, .tgid = 9, .comm = "fifteen-chars-x" });
	push(f, &(struct ev_lost){ HDR(EV_LOST, ev_lost, 1, 320), .kind = EV_SWITCH, .count = 4 });
	j = report(f, ANALYZER_EVENT_BUFFER, (struct analyzer_args){ 0 });
	has_keys(j, "stats",
	         "enabled current_size max_size total_received total_dropped oldest_timestamp "
	         "newest_timestamp");
	has_keys(
		j, "events.2",
		"type ts cpu prev_pid prev_tgid prev_prio prev_comm prev_layer_id prev_state prev_dsq_id "
		"prev_used_slice_ns prev_slice_ns next_pid next_tgid next_prio next_comm next_layer_id "
		"next_dsq_id next_dsq_lat_us next_dsq_nr_queued next_dsq_vtime next_slice_ns preempt");
	is(j, "events.2.prev_pid", 5);
	is_text(j, "events.2.prev_comm", "main");
	is(j, "events.2.prev_used_slice_ns", 100);
	is(j, "events.2.next_prio", 110);
	assert_true(json_is_true(at(j, "events.2.preempt")));
	assert_true(json_is_false(at(j, "events.0.preempt")));
	is_null(j, "events.2.next_dsq_id");
	is_null(j, "events.2.next_comm");
	is_null(j, "events.0.prev_used_slice_ns");
	has_keys(j, "events.1", "type ts cpu pid tgid prio comm waker_pid waker_comm");
	is_text(j, "events.1.waker_comm", "main");
	has_keys(j, "events.3", "type ts cpu pid prio comm dest_cpu");
	is(j, "events.3.dest_cpu", 2);
	has_keys(j, "events.4",
	         "parent_pid parent_tgid parent_comm parent_layer_id child_pid child_tgid child_comm "
	         "child_layer_id");
	is_text(j, "events.4.child_comm", "fifteen-chars-x");
	is_text(j, "events.5.event_type", "sched_switch");
	is(j, "events.5.count", 4);
	json_decref(j);
}

static void every_kind_of_record_has_a_type(void **state)
{
	(void)state;
#define X(name, nr, type, what) assert_non_null(event_type_name(EV_##name));
	EV_KINDS(X)
#undef X
	assert_null(event_type_name(0));
	assert_null(event_type_name(200));
}

static void events_are_read_by_range_by_number_and_by_filter(void **state)
{
	static const uint32_t pids[] = { 7 };
	struct fixture *f = *state;
	struct event_filter *filter = NULL;
	json_t *j;

	start(f, 0);
	for (uint64_t i = 1; i <= 30; i++)
		migrate(f, i * 100, i % 2 ? 7 : 8, 0, 1);
	j = report(f, ANALYZER_EVENT_BUFFER, (struct analyzer_args){ .limit = 5 });
	is(j, "count", 5); /* the last five, the oldest of them first */
	is(j, "events.0.number", 26);
	is(j, "events.4.ts", 3000);
	is(j, "next_after", 30);
	json_decref(j);
	j = report(f, ANALYZER_EVENT_BUFFER,
	           (struct analyzer_args){ .from_ns = 500, .to_ns = 700 });
	is(j, "count", 3);
	is(j, "events.2.ts", 700);
	json_decref(j);
	j = report(f, ANALYZER_EVENT_BUFFER, (struct analyzer_args){ .after = 10, .limit = 4 });
	is(j, "events.0.number", 11);
	is(j, "next_after", 14);
	is(j, "missed", 0);
	json_decref(j);
	expect_eq(event_filter_new(&(struct event_filter_cfg){ .pids = pids,
	                                                       .nr_pids = 1,
	                                                       .sample_rate = 1 },
	                           NULL, &filter),
	          0);
	j = report(f, ANALYZER_EVENT_BUFFER,
	           (struct analyzer_args){ .filter = filter, .limit = 100 });
	is(j, "count", 15);
	json_decref(j);
	event_filter_free(filter);
}

/* Latencies 10, 20, 30, 40 us of queue 3 on CPU 1; 90 us of queue 4 on CPU 2. */
static void queue_switches(struct fixture *f)
{
	start(f, 0);
	push(f, &(struct ev_dsq_depth){ HDR(EV_DSQ_DEPTH, ev_dsq_depth, 1, 1), .dsq_id = 3 });
	for (uint64_t i = 1; i <= 5; i++) {
		uint32_t cpu = i == 5 ? 2 : 1;
		uint64_t ts = i * 1000 * US, lat = i == 5 ? 90 * US : i * 10 * US;

		sw(f, ts, cpu, 0, 7, 0);
		push(f, &(struct ev_dsq_leave){ HDR(EV_DSQ_LEAVE, ev_dsq_leave, cpu, ts),
		                                .start_ns = ts - lat, .dsq_id = i == 5 ? 4 : 3,
		                                .tid = 7 });
		push(f, &(struct ev_dsq_depth){ HDR(EV_DSQ_DEPTH, ev_dsq_depth, cpu, ts + 1),
		                                .dsq_id = i == 5 ? 4 : 3, .depth = i });
		sw(f, ts + 500 * US, cpu, 7, 0, EV_STATE_S);
	}
}

static json_t *groups(struct fixture *f, struct event_groups_cfg cfg)
{
	struct facts *facts = NULL;

	arena_reset(f->mem);
	expect_eq(event_groups_make(&cfg, analyzers_event_buffer(f->a), f->tasks, f->mem, NULL,
	                            &facts),
	          0);
	return to_json(facts);
}

static void events_are_put_into_groups_and_measured(void **state)
{
	static const char *const by[] = { "cpu", "next_pid" };
	static const char *const metrics[] = {
		"count",       "avg_latency_us",  "p50_latency",       "p95_latency",
		"max_latency", "avg_queue_depth", "avg_used_slice_ns", "next_prio"
	};
	struct fixture *f = *state;
	json_t *j;

	queue_switches(f);
	j = groups(f, (struct event_groups_cfg){ .event_type = "sched_switch",
	                                         .group_by = by,
	                                         .nr_group_by = 2,
	                                         .metrics = metrics,
	                                         .nr_metrics = 8 });
	is(j, "events", 10);
	is(j, "total_groups", 4);
	is_text(j, "groups.0.group_key.cpu", "1");
	is_text(j, "groups.0.group_key.next_pid", "7");
	is(j, "groups.0.count", 4);
	is(j, "groups.0.metrics.count", 4);
	is(j, "groups.0.metrics.avg_latency_us", 25);
	is(j, "groups.0.metrics.p50_latency", 20); /* nearest rank: the second of four */
	is(j, "groups.0.metrics.p95_latency", 40);
	is(j, "groups.0.metrics.max_latency", 40);
	is(j, "groups.0.metrics.avg_queue_depth", 2.5);
	is(j, "groups.0.metrics.next_prio", 110);
	is_text(j, "groups.1.group_key.next_pid", "0");
	is_null(j, "groups.1.metrics.avg_latency_us");
	is_null(j, "groups.1.metrics.p50_latency");
	is(j, "groups.1.metrics.avg_used_slice_ns", 500 * US);
	json_decref(j);
}

/* p95 and max alone, which gave nothing there. */
static void each_metric_works_alone_and_windows_include_both_ends(void **state)
{
	static const char *const by[] = { "cpu" };
	static const char *const p95[] = { "p95_latency" };
	struct fixture *f = *state;
	struct event_groups_cfg cfg = { .event_type = "sched_switch",
		                        .group_by = by,
		                        .nr_group_by = 1,
		                        .metrics = p95,
		                        .nr_metrics = 1,
		                        .top_n = 1 };
	json_t *j;

	queue_switches(f);
	j = groups(f, cfg);
	assert_int_equal(json_array_size(at(j, "groups")), 1);
	is(j, "total_groups", 2);
	is(j, "groups.0.metrics.p95_latency", 40);
	json_decref(j);
	cfg.time_window_ms = 1; /* the newest is at 5.5 ms: 4.5 and 5 and 5.5 */
	cfg.top_n = 0;
	j = groups(f, cfg);
	is(j, "events", 3);
	json_decref(j);
	expect_eq(event_groups_make(&(struct event_groups_cfg){ .nr_metrics = 17 },
	                            analyzers_event_buffer(f->a), f->tasks, f->mem, NULL,
	                            &(struct facts *){ NULL }),
	          -EINVAL);
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

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(relationships_tell_all_that_is_known),
		T(relationships_are_ordered_as_asked),
		T(two_way_relationships_are_sorted_and_limited),
		T(the_summary_knows_who_has_not_run_yet),
		T(softirqs_are_told_with_real_rates),
		T(a_softirq_event_has_its_number_and_times),
		T(latencies_are_by_kind),
		T(hot_cpus_have_rates_over_the_time_observed),
		T(migrations_show_ping_pong_and_pairs),
		T(a_history_is_newest_first),
		T(dispatch_queues_show_stays_and_lengths),
		T(spikes_are_called_so),
		T(chains_begin_at_their_root),
		T(events_have_the_keys_of_their_type),
		T(every_kind_of_record_has_a_type),
		T(events_are_read_by_range_by_number_and_by_filter),
		T(events_are_put_into_groups_and_measured),
		T(each_metric_works_alone_and_windows_include_both_ends),
		T(every_report_says_what_it_rests_on),
		T(nonsense_is_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
