/* What happens when records are missing, lost or contradict each other. */
#include "pair_fixture.h"

static void a_missing_switch_makes_a_gap_not_two_wrong_slices(void **state)
{
	struct fixture *f = *state;
	struct pair_cpu c;

	sw(f, 100, 0, 0, 7, 0);
	/* 7 -> 8 is missing */
	sw(f, 300, 0, 8, 9, EV_STATE_S);
	sw(f, 400, 0, 9, 0, EV_STATE_S);
	done(f, 400);

	expect_eq(f->breaks.prev_mismatch, 1);
	expect_eq(f->nr_slices, 1);
	expect_eq(f->slices[0].task, task_of(f, 9));
	expect_eq(f->gaps[0].start_ns, 100);
	expect_eq(f->gaps[0].end_ns, 300);
	expect_eq(f->gaps[0].cpu, 0);
	expect_eq(f->gaps[0].reason, PAIR_GAP_MISSING);
	assert_true(pair_cpu_at(f->pair, 0, &c));
	expect_eq(c.unknown_ns, 200);
	expect_eq(c.busy_ns, 100);
}

static void a_task_that_runs_elsewhere_has_left_its_former_cpu(void **state)
{
	struct fixture *f = *state;
	struct pair_cpu c;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 200, 1, 0, 7, 0);
	sw(f, 300, 1, 7, 0, EV_STATE_S);
	done(f, 400);

	expect_eq(f->breaks.running_twice, 1);
	expect_eq(f->nr_slices, 1);
	expect_eq(f->slices[0].cpu, 1);
	assert_true(pair_cpu_at(f->pair, 0, &c));
	expect_eq(c.unknown_ns, 300);
	expect_eq(c.busy_ns, 0);
}

static void lost_switches_end_the_open_slice_as_unknown(void **state)
{
	struct fixture *f = *state;
	struct pair_cpu c;

	sw(f, 100, 0, 0, 7, 0);
	lost(f, 200, 0, EV_SWITCH, 5);
	sw(f, 300, 0, 7, 0, EV_STATE_S);
	done(f, 300);

	expect_eq(f->nr_slices, 0);
	expect_eq(f->breaks.lost_slices, 1);
	expect_eq(f->breaks.lost_records, 5);
	expect_eq(f->gaps[0].reason, PAIR_GAP_LOST);
	expect_eq(f->gaps[0].start_ns, 100);
	expect_eq(f->gaps[0].end_ns, 300);
	assert_true(pair_cpu_at(f->pair, 0, &c));
	expect_eq(c.unknown_ns, 200);
}

/* The recorder was killed: each CPU is known up to its last event, and whether a task still waits there is not. */
static void a_cpu_that_ends_early_is_unknown_from_there_on(void **state)
{
	const struct ev_lost end = {
		.hdr = { .size = sizeof(end), .kind = EV_LOST, .flags = EV_FLAG_LAST, .ts_ns = 201 },
		.kind = EV_SWITCH,
	};
	struct fixture *f = *state;
	struct pair_cpu c;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 100, 1, 0, 8, 0);
	wakeup(f, 150, 1, 9, 0);
	push(f, &end);
	sw(f, 500, 1, 8, 7, EV_STATE_S);
	done(f, 600);

	expect_eq(f->nr_slices, 3);
	expect_eq(f->slices[0].task, task_of(f, 7));
	expect_eq(f->slices[0].end_ns, 201);
	expect_eq(f->slices[0].end, PAIR_END_OPEN);
	expect_eq(f->slices[2].start_ns,
	          500); /* 7 has turned up elsewhere, and that is no contradiction */
	expect_eq(f->breaks.running_twice, 0);
	expect_eq(f->breaks.lost_records, 0);
	expect_eq(f->nr_waits, 0);
	assert_true(pair_cpu_at(f->pair, 0, &c));
	expect_eq(c.busy_ns, 101);
	expect_eq(c.unknown_ns, 399);
	for (uint32_t i = 0; i < f->nr_gaps; i++)
		if (f->gaps[i].cpu == 0 && f->gaps[i].end_ns == 600)
			expect_eq(f->gaps[i].reason, PAIR_GAP_END);
}

static void a_wait_across_lost_switches_is_unknown(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	wakeup(f, 150, 0, 7, 0);
	lost(f, 160, 0, EV_SWITCH, 2);
	sw(f, 900, 0, 0, 7, 0);
	done(f, 1000);

	expect_eq(f->nr_waits, 0);
	expect_eq(f->breaks.lost_states, 1);
}

static void a_sleep_across_lost_switches_alone_is_known(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	lost(f, 160, 1, EV_SWITCH, 2);
	waking(f, 800, 0, 7, 5);
	sw(f, 900, 0, 0, 7, 0);

	expect_eq(f->nr_sleeps, 1);
	expect_eq(f->sleeps[0].end_ns, 800);
	expect_eq(f->nr_waits, 1);
}

static void a_sleep_across_lost_switches_and_wakings_is_unknown(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	lost(f, 160, 1, EV_SWITCH, 2);
	lost(f, 170, 1, EV_WAKING, 1);
	waking(f, 800, 0, 7, 5);
	sw(f, 900, 0, 0, 7, 0);
	done(f, 900);

	expect_eq(f->nr_sleeps, 0);
	expect_eq(f->breaks.lost_states, 1);
	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].waking_ns, 800);
}

static void after_a_waking_and_lost_switches_only_the_sleep_is_known(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	waking(f, 150, 0, 7, 5);
	lost(f, 160, 0, EV_SWITCH, 2);
	sw(f, 900, 0, 0, 7, 0);
	done(f, 900);

	expect_eq(f->nr_sleeps, 1);
	expect_eq(f->sleeps[0].end_ns, 150);
	expect_eq(f->nr_waits, 0);
	expect_eq(f->gaps[f->nr_gaps - 1].start_ns, 150);
	expect_eq(f->gaps[f->nr_gaps - 1].end_ns, 900);
	expect_eq(f->gaps[f->nr_gaps - 1].reason, PAIR_GAP_LOST);
}

/* It came on unseen, and was woken while it ran, or before: then it did not sleep, or did. */
static void after_a_waking_of_a_hidden_run_a_sleep_across_lost_switches_is_unknown(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	waking(f, 150, 0, 7, 5);
	lost(f, 160, 0, EV_SWITCH, 1); /* it comes on */
	waking(f, 170, 1, 7, 5);
	lost(f, 180, 2, EV_SWITCH, 1);
	sw(f, 200, 0, 7, 0, EV_STATE_D);
	lost(f, 250, 1, EV_SWITCH, 2); /* it comes on, and leaves */
	waking(f, 800, 0, 7, 5);
	sw(f, 900, 0, 0, 7, 0);
	done(f, 900);

	expect_eq(f->nr_sleeps, 1);
	expect_eq(f->sleeps[0].end_ns, 150);
	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].waking_ns, 800);
}

static void a_sleep_without_a_wakeup_is_unknown(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	sw(f, 900, 0, 0, 7, 0);
	done(f, 1000);

	expect_eq(f->nr_sleeps, 0);
	expect_eq(f->nr_waits, 0);
	expect_eq(f->breaks.missing_wakeup, 1);
	expect_eq(f->gaps[f->nr_gaps - 1].reason, PAIR_GAP_NO_WAKEUP);
	expect_eq(f->gaps[f->nr_gaps - 1].task, task_of(f, 7));
	expect_eq(f->gaps[f->nr_gaps - 1].start_ns, 100);
}

static void woken_again_after_a_wakeup_it_must_have_run(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 0, EV_STATE_S);
	wakeup(f, 150, 0, 7, 0);
	waking(f, 500, 0, 7, 5);
	wakeup(f, 505, 0, 7, 0);
	sw(f, 510, 0, 0, 7, 0);
	done(f, 600);

	expect_eq(f->breaks.missed_run, 1);
	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].waking_ns, 500);
	expect_eq(f->waits[0].wakeup_ns, 505);
}

static void leaving_without_having_come_is_counted(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 1, 0, 5, 0);
	sw(f, 100, 0, 7, 0, EV_STATE_S);
	wakeup(f, 150, 0, 7, 0);
	sw(f, 200, 1, 7, 0, EV_STATE_S);
	done(f, 300);

	expect_eq(f->breaks.missing_in, 1);
	expect_eq(f->breaks.prev_mismatch, 1);
	expect_eq(f->nr_waits, 0);
	expect_eq(f->nr_slices, 0);
}

static void exec_drops_a_pending_wakeup(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 7, 0);
	waking(f, 60, 1, 7, 5);
	exec(f, 70, 7, 7, "other");
	sw(f, 100, 0, 7, 0, EV_STATE_S);
	wakeup(f, 180, 0, 7, 0);
	sw(f, 200, 0, 0, 7, 0);

	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].waking_ns, 0);
	expect_eq(f->waits[0].wakeup_ns, 180);
	assert_string_equal(tasks_comm(f->tasks, task_of(f, 7)), "other");
}

static void exit_drops_a_pending_wait(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 7, 0, EV_STATE_S);
	wakeup(f, 60, 0, 7, 0);
	exiting(f, 70, 7);
	sw(f, 100, 0, 0, 7, 0);
	done(f, 200);

	expect_eq(f->nr_waits, 0);
	expect_eq(f->breaks.dropped_waits, 1);
	expect_eq(f->marks[0].kind, EV_EXIT);
}

static void a_waking_on_the_cpu_is_not_trusted_after_lost_wakeups(void **state)
{
	struct fixture *f = *state;

	sw(f, 50, 0, 0, 7, 0);
	waking(f, 60, 1, 7, 5);
	lost(f, 70, 1, EV_WAKEUP, 3);
	sw(f, 100, 0, 7, 0, EV_STATE_S);
	sw(f, 950, 0, 0, 7, 0);

	expect_eq(f->nr_waits, 0);
	expect_eq(f->nr_sleeps, 0);
}

static void spans_without_both_ends_are_counted_not_made(void **state)
{
	struct fixture *f = *state;

	softirq(f, 10, 0, 3, true);
	softirq(f, 20, 0, 3, false);
	softirq(f, 30, 0, 3, false);
	softirq(f, 35, 0, 3, true);
	softirq(f, 40, 0, 3, false);
	lost(f, 50, 0, EV_SOFTIRQ_EXIT, 1);
	softirq(f, 60, 0, 3, true);
	softirq(f, 70, 1, 3, false);
	softirq(f, 71, 2, 3, true); /* another CPU */
	done(f, 80);

	expect_eq(f->nr_spans, 1);
	expect_eq(f->spans[0].start_ns, 30);
	expect_eq(f->breaks.unmatched_spans, 5);
}

static void more_open_spans_than_there_is_room_forget_the_oldest(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 10; i++)
		irq(f, 10 + i, 0, i, false);
	irq(f, 50, 0, 0, true);
	irq(f, 51, 0, 9, true);

	expect_eq(f->nr_spans, 1);
	expect_eq(f->spans[0].id, 9);
}

static void a_time_that_goes_back_is_taken_as_the_latest(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 90, 0, 7, 0, EV_STATE_S);
	done(f, 200);

	expect_eq(f->slices[0].start_ns, 100);
	expect_eq(f->slices[0].end_ns, 100);
	expect_eq(f->breaks.time_went_back, 1);
}

static void a_cpu_out_of_range_is_counted_and_ignored(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, PAIR_MAX_CPUS, 0, 7, 0);
	softirq(f, 110, UINT32_MAX, 3, false);
	lost(f, 120, UINT32_MAX, EV_SWITCH, 1);
	done(f, 200);

	expect_eq(f->breaks.bad_cpu, 3);
	expect_eq(f->nr_switches, 0);
}

static void what_was_before_the_first_switch_is_a_gap(void **state)
{
	struct fixture *f = *state;
	struct pair_cpu c;

	pair_start(f->pair, 40);
	sw(f, 100, 0, 7, 8, EV_STATE_S);
	done(f, 150);

	expect_eq(f->nr_slices, 1);
	expect_eq(f->slices[0].task, task_of(f, 8));
	expect_eq(f->slices[0].end, PAIR_END_OPEN);
	expect_eq(f->gaps[0].start_ns, 40);
	expect_eq(f->gaps[0].end_ns, 100);
	expect_eq(f->gaps[0].reason, PAIR_GAP_START);
	expect_eq(f->breaks.prev_mismatch, 0);
	assert_true(pair_cpu_at(f->pair, 0, &c));
	expect_eq(c.busy_ns, 50);
	expect_eq(c.idle_ns, 0);
	expect_eq(c.unknown_ns, 60);
	expect_eq(pair_span_ns(f->pair), 110);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_missing_switch_makes_a_gap_not_two_wrong_slices),
		T(a_task_that_runs_elsewhere_has_left_its_former_cpu),
		T(lost_switches_end_the_open_slice_as_unknown),
		T(a_cpu_that_ends_early_is_unknown_from_there_on),
		T(a_wait_across_lost_switches_is_unknown),
		T(a_sleep_across_lost_switches_alone_is_known),
		T(a_sleep_across_lost_switches_and_wakings_is_unknown),
		T(after_a_waking_and_lost_switches_only_the_sleep_is_known),
		T(after_a_waking_of_a_hidden_run_a_sleep_across_lost_switches_is_unknown),
		T(a_sleep_without_a_wakeup_is_unknown),
		T(woken_again_after_a_wakeup_it_must_have_run),
		T(leaving_without_having_come_is_counted),
		T(exec_drops_a_pending_wakeup),
		T(exit_drops_a_pending_wait),
		T(a_waking_on_the_cpu_is_not_trusted_after_lost_wakeups),
		T(spans_without_both_ends_are_counted_not_made),
		T(more_open_spans_than_there_is_room_forget_the_oldest),
		T(a_time_that_goes_back_is_taken_as_the_latest),
		T(a_cpu_out_of_range_is_counted_and_ignored),
		T(what_was_before_the_first_switch_is_a_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
