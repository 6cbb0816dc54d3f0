#include "pair_fixture.h"

#include "model/pair.h"

#define MS 1000000ULL

/* 7 sleeps on CPU 0, which 8 takes; migrations are recorded. */
static void begin(struct fixture *f)
{
	migrate(f, 50, 9, 0, 1);
	sw(f, 60, 0, 0, 7, 0);
	sw(f, 100, 0, 7, 8, EV_STATE_S);
}

static void expect_wait(struct fixture *f, uint64_t since)
{
	expect_eq(f->nr_waits, 1);
	expect_eq(f->waits[0].task, task_of(f, 7));
	expect_eq(f->waits[0].is_open, 1);
	expect_eq(pair_wait_start_ns(&f->waits[0]), since);
	expect_eq(f->breaks.unproven_waits, 0);
}

/* From since on nothing is known of the task, and before it is known as ever. */
static void expect_unknown(struct fixture *f, uint64_t since, uint64_t end)
{
	const struct pair_gap *last = NULL;

	for (uint32_t i = 0; i < f->nr_gaps; i++)
		if (f->gaps[i].task == task_of(f, 7))
			last = &f->gaps[i];
	expect_eq(f->nr_waits, 0);
	expect_eq(f->breaks.unproven_waits, 1);
	assert_non_null(last);
	expect_eq(last->start_ns, since);
	expect_eq(last->end_ns, end);
	expect_eq(last->reason, PAIR_GAP_MISSING);
}

static void a_starved_task_waits_till_the_end(void **state)
{
	struct fixture *f = *state;

	begin(f);
	waking(f, 200, 1, 7, 9);
	softirq(f, 5 * MS, 0, 1, false);
	softirq(f, 5 * MS + 100, 0, 1, true);
	done(f, 10 * MS);
	expect_wait(f, 200);
}

/* CPU 1 went idle before it came there, and has run something else since. */
static void what_a_cpu_did_before_it_came_there_proves_nothing(void **state)
{
	struct fixture *f = *state;

	begin(f);
	waking(f, 200, 1, 7, 9);
	sw(f, 300, 1, 5, 0, EV_STATE_S);
	sw(f, 400, 1, 0, 6, EV_STATE_RUNNABLE);
	migrate(f, 500, 7, 0, 1);
	done(f, 10 * MS);
	expect_wait(f, 200);
}

static void a_task_whose_cpu_went_idle_without_it_is_unknown(void **state)
{
	struct fixture *f = *state;

	begin(f);
	waking(f, 200, 1, 7, 9);
	sw(f, 300, 0, 8, 0, EV_STATE_S);
	sw(f, 5 * MS, 0, 0, 8, 0);
	done(f, 10 * MS);
	expect_unknown(f, 200, 10 * MS);
	expect_eq(f->sleeps[0].end_ns, 200);
}

static void the_queue_is_that_of_the_cpu_it_was_moved_to(void **state)
{
	struct fixture *f = *state;

	begin(f);
	sw(f, 150, 1, 0, 9, 0);
	waking(f, 200, 1, 7, 9);
	migrate(f, 210, 7, 0, 1);
	sw(f, 300, 0, 8, 0, EV_STATE_S);
	done(f, 10 * MS);
	expect_wait(f, 200); /* CPU 1 is busy */
}

static void a_wakeup_counts_as_a_waking_does(void **state)
{
	struct fixture *f = *state;

	begin(f);
	waking(f, 200, 1, 7, 9);
	wakeup(f, 210, 1, 7, 0);
	sw(f, 300, 0, 8, 0, EV_STATE_S);
	done(f, 10 * MS);
	expect_unknown(f, 210, 10 * MS);
}

/* Interrupts of an idle CPU end with a look at its queue; one that is silent may just not run, as in a virtual machine. */
static void an_idle_cpu_at_work_would_have_taken_it(void **state)
{
	struct fixture *f = *state;

	begin(f);
	sw(f, 150, 0, 8, 0, EV_STATE_S);
	waking(f, 200, 1, 7, 9);
	softirq(f, 5 * MS, 0, 1, false);
	softirq(f, 5 * MS + 100, 0, 1, true);
	done(f, 10 * MS);
	expect_unknown(f, 200, 10 * MS);
}

static void an_idle_cpu_that_is_silent_proves_nothing(void **state)
{
	struct fixture *f = *state;

	begin(f);
	sw(f, 150, 0, 8, 0, EV_STATE_S);
	waking(f, 200, 1, 7, 9);
	done(f, 10 * MS);
	expect_wait(f, 200);
}

static void a_task_that_was_never_seen_to_run_is_unknown(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 8, 0, EV_STATE_S);
	waking(f, 200, 0, 7, 0);
	waking(f, 1 * MS, 0, 7, 0);
	waking(f, 2 * MS, 0, 7, 0);
	done(f, 10 * MS);
	expect_unknown(f, 2 * MS, 10 * MS);
}

static void one_waking_of_an_unseen_task_is_a_wait(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 0, 8, 0);
	waking(f, 200, 0, 7, 8);
	done(f, 10 * MS);
	expect_wait(f, 200);
}

static void a_task_that_is_seen_again_is_believed_again(void **state)
{
	struct fixture *f = *state;

	waking(f, 100, 0, 7, 0);
	waking(f, 200, 0, 7, 0);
	sw(f, 210, 0, 0, 7, 0);
	sw(f, 300, 0, 7, 8, EV_STATE_S);
	waking(f, 400, 1, 7, 9);
	done(f, 10 * MS);
	expect_eq(f->nr_waits, 2);
	expect_eq(f->waits[1].is_open, 1);
	expect_eq(f->breaks.unproven_waits, 0);
}

static void without_migrations_it_may_be_on_another_queue(void **state)
{
	struct fixture *f = *state;

	sw(f, 100, 0, 7, 8, EV_STATE_S);
	waking(f, 200, 1, 7, 9);
	sw(f, 300, 0, 8, 0, EV_STATE_S);
	done(f, 10 * MS);
	expect_wait(f, 200);
}

static void dispatch_queues_may_be_left_alone(void **state)
{
	struct fixture *f = *state;

	begin(f);
	pair_note_scx(f->pair);
	waking(f, 200, 1, 7, 9);
	sw(f, 300, 0, 8, 0, EV_STATE_S);
	done(f, 10 * MS);
	expect_wait(f, 200);
}

/* A quota keeps a runnable task off an idle CPU. */
static void a_preempted_task_waits_also_beside_idle(void **state)
{
	struct fixture *f = *state;

	migrate(f, 50, 9, 0, 1);
	sw(f, 60, 0, 0, 7, 0);
	sw(f, 100, 0, 7, 0, EV_STATE_RUNNABLE);
	done(f, 10 * MS);
	expect_wait(f, 100);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_starved_task_waits_till_the_end),
		CASE(what_a_cpu_did_before_it_came_there_proves_nothing),
		CASE(a_task_whose_cpu_went_idle_without_it_is_unknown),
		CASE(the_queue_is_that_of_the_cpu_it_was_moved_to),
		CASE(a_wakeup_counts_as_a_waking_does),
		CASE(an_idle_cpu_at_work_would_have_taken_it),
		CASE(an_idle_cpu_that_is_silent_proves_nothing),
		CASE(a_task_that_was_never_seen_to_run_is_unknown),
		CASE(one_waking_of_an_unseen_task_is_a_wait),
		CASE(a_task_that_is_seen_again_is_believed_again),
		CASE(without_migrations_it_may_be_on_another_queue),
		CASE(dispatch_queues_may_be_left_alone),
		CASE(a_preempted_task_waits_also_beside_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
