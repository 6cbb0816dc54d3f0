/* Events of the buffer, filtered and put into groups, from records to JSON. */
#include "analyzers_fixture.h"

#include <errno.h>

#include "analyze/event_facts.h"
#include "analyze/event_filter.h"
#include "analyze/event_groups.h"

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
#define X(name, nr, type, what) assert_non_null(stream_type_name(EV_##name));
	EV_KINDS(X)
#undef X
	assert_null(stream_type_name(0));
	assert_null(stream_type_name(200));
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

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_softirq_event_has_its_number_and_times),
		T(events_have_the_keys_of_their_type),
		T(every_kind_of_record_has_a_type),
		T(events_are_read_by_range_by_number_and_by_filter),
		T(events_are_put_into_groups_and_measured),
		T(each_metric_works_alone_and_windows_include_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
