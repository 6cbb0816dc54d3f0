/* Events of the buffer, from records to JSON. */
#include "analyzers_fixture.h"

#include "analyze/event_facts.h"

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

static void events_are_read_from_the_end_and_by_number(void **state)
{
	struct fixture *f = *state;
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
	j = report(f, ANALYZER_EVENT_BUFFER, (struct analyzer_args){ .after = 10, .limit = 4 });
	is(j, "events.0.number", 11);
	is(j, "next_after", 14);
	is(j, "missed", 0);
	json_decref(j);
	live_model_stop(&f->m, ANALYZERS_ALL); /* keeps them */
	migrate(f, 4000, 7, 0, 1);
	j = report(f, ANALYZER_EVENT_BUFFER, (struct analyzer_args){ .limit = 5 });
	is(j, "next_after", 30);
	assert_true(json_is_false(at(j, "stats.enabled")));
	json_decref(j);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_softirq_event_has_its_number_and_times),
		T(events_have_the_keys_of_their_type),
		T(every_kind_of_record_has_a_type),
		T(events_are_read_from_the_end_and_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
