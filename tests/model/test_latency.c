#include "pair_fixture.h"

#include <errno.h>

#include "model/latency.h"

static struct latency *watch(struct fixture *f, uint32_t max_rows)
{
	struct latency_cfg cfg = { f->tasks, max_rows };
	struct latency *l = NULL;
	struct pair_out out;

	expect_eq(latency_new(&cfg, &l), 0);
	out = latency_out(l);
	expect_eq(pair_add_out(f->pair, &out), 0);
	f->also = latency_sink(l);
	return l;
}

static const struct latency_row *row(const struct latency *l, enum latency_kind kind,
                                     enum latency_by by, uint32_t id)
{
	for (uint32_t i = 0; i < latency_nr(l, kind, by); i++)
		if (latency_at(l, kind, by, i) && latency_at(l, kind, by, i)->id == id)
			return latency_at(l, kind, by, i);
	return NULL;
}

/* 7 sleeps on CPU 1 at 100, is woken at 200 (wakeup 220), moved at 210, and runs on CPU 2 at 300. */
static void wake_and_move(struct fixture *f)
{
	sw(f, 50, 1, 0, 7, 0);
	sw(f, 100, 1, 7, 0, EV_STATE_S);
	waking(f, 200, 0, 7, 5);
	migrate(f, 210, 7, 1, 2);
	wakeup(f, 220, 0, 7, 2);
	sw(f, 300, 2, 0, 7, 0);
}

static void each_kind_begins_where_it_says(void **state)
{
	struct fixture *f = *state;
	struct latency *l = watch(f, 0);

	wake_and_move(f);
	expect_eq(latency_all(l, LATENCY_WAKEUP_TO_RUN)->count, 1);
	expect_eq(latency_all(l, LATENCY_WAKEUP_TO_RUN)->sum_ns, 100);
	expect_eq(latency_all(l, LATENCY_SCHEDULING_DELAY)->sum_ns, 80);
	expect_eq(latency_all(l, LATENCY_CPU_MIGRATION)->sum_ns, 90);
	expect_eq(latency_all(l, LATENCY_DSQ_WAIT)->count, 0);
	expect_eq(row(l, LATENCY_WAKEUP_TO_RUN, LATENCY_BY_CPU, 2)->time.samples, 1);
	assert_null(row(l, LATENCY_WAKEUP_TO_RUN, LATENCY_BY_CPU, 1));
	expect_eq(row(l, LATENCY_WAKEUP_TO_RUN, LATENCY_BY_TASK, 7)->time.total_ns, 100);
	assert_string_equal(latency_name(LATENCY_CPU_MIGRATION), "CpuMigration");
	latency_free(l);
}

static void a_preempted_task_waits_but_was_not_woken(void **state)
{
	struct fixture *f = *state;
	struct latency *l = watch(f, 0);

	sw(f, 50, 0, 0, 7, 0);
	sw(f, 100, 0, 7, 8, EV_STATE_RUNNABLE);
	migrate(f, 130, 7, 0, 1);
	sw(f, 170, 1, 0, 7, 0);
	expect_eq(latency_all(l, LATENCY_WAKEUP_TO_RUN)->count, 0);
	expect_eq(latency_all(l, LATENCY_SCHEDULING_DELAY)->sum_ns, 70);
	expect_eq(latency_all(l, LATENCY_CPU_MIGRATION)->sum_ns, 40);
	latency_free(l);
}

static void a_migration_before_the_wait_is_no_delay(void **state)
{
	struct fixture *f = *state;
	struct latency *l = watch(f, 0);

	sw(f, 50, 1, 0, 7, 0);
	sw(f, 100, 1, 7, 0, EV_STATE_S);
	migrate(f, 150, 7, 1, 2); /* asleep */
	waking(f, 200, 0, 7, 5);
	sw(f, 300, 2, 0, 7, 0);
	expect_eq(latency_all(l, LATENCY_CPU_MIGRATION)->count, 0);
	latency_free(l);
}

static void dispatch_queues_count_when_the_task_runs(void **state)
{
	struct fixture *f = *state;
	struct latency *l = watch(f, 0);
	struct ev_dsq_leave ev = { .hdr = { sizeof(ev), EV_DSQ_LEAVE, 0, 3, 500 },
		                   .start_ns = 440,
		                   .dsq_id = 9,
		                   .tid = 7 };

	sw(f, 50, 3, 0, 7, 0);
	push(f, &ev);
	ev.is_moved = 1; /* to another queue */
	push(f, &ev);
	ev.is_moved = 0;
	ev.start_ns = 0; /* nobody knows since when */
	push(f, &ev);
	ev.start_ns = 600; /* not yet */
	push(f, &ev);
	ev.start_ns = 440;
	ev.dsq_id = EV_DSQ_INVALID;
	push(f, &ev);
	expect_eq(latency_all(l, LATENCY_DSQ_WAIT)->count, 1);
	expect_eq(latency_all(l, LATENCY_DSQ_WAIT)->sum_ns, 60);
	expect_eq(row(l, LATENCY_DSQ_WAIT, LATENCY_BY_TASK, 7)->time.max_ns, 60);
	latency_free(l);
}

static void buckets_are_those_of_the_caller(void **state)
{
	static const uint64_t bounds[] = { 100, 101, 300 };
	struct fixture *f = *state;
	struct latency *l = watch(f, 0);
	uint64_t out[4];

	for (uint64_t i = 0; i < 6; i++) { /* 50, 100, 150, 200, 250, 300 */
		sw(f, 1000 * i, 1, 0, 7, 0);
		sw(f, 1000 * i + 100, 1, 7, 0, EV_STATE_S);
		waking(f, 1000 * i + 200, 0, 7, 5);
		sw(f, 1000 * i + 250 + 50 * i, 1, 0, 7, 0);
		sw(f, 1000 * i + 900, 1, 7, 0, EV_STATE_S);
		waking(f, 1000 * i + 1000, 0, 7,
		       5); /* at once, with the first switch of the next round */
	}
	/* The rounds after the first begin with a wait of 0. */
	expect_eq(latency_histogram(l, LATENCY_WAKEUP_TO_RUN, bounds, 3, out), 11);
	expect_eq(out[0], 1 + 5);
	expect_eq(out[1], 1);
	expect_eq(out[2], 3);
	expect_eq(out[3], 1);
	expect_eq(latency_histogram(l, LATENCY_WAKEUP_TO_RUN, bounds, 0, out), -EINVAL);
	expect_eq(latency_histogram(l, LATENCY_WAKEUP_TO_RUN, (uint64_t[]){ 5, 5 }, 2, out),
	          -EINVAL);
	latency_reset(l);
	expect_eq(latency_histogram(l, LATENCY_WAKEUP_TO_RUN, bounds, 3, out), 0);
	latency_free(l);
}

static void rows_are_bounded_and_a_new_life_begins_anew(void **state)
{
	struct fixture *f = *state;
	struct latency *l = watch(f, 2);

	wake_and_move(f);
	sw(f, 400, 2, 7, 0, EV_STATE_DEAD);
	freed(f, 410, 7);
	for (uint32_t tid = 20; tid < 24; tid++) {
		sw(f, 1000ULL * tid, 0, tid, 0, EV_STATE_S);
		waking(f, 1000ULL * tid + 10, 0, tid, 5);
		sw(f, 1000ULL * tid + 20, 0, 0, tid, 0);
		sw(f, 1000ULL * tid + 30, 0, tid, 0, EV_STATE_S);
	}
	expect_eq(latency_nr(l, LATENCY_WAKEUP_TO_RUN, LATENCY_BY_TASK), 2);
	assert_null(row(l, LATENCY_WAKEUP_TO_RUN, LATENCY_BY_TASK, 7));
	assert_non_null(row(l, LATENCY_WAKEUP_TO_RUN, LATENCY_BY_TASK, 23));
	expect_eq(latency_all(l, LATENCY_WAKEUP_TO_RUN)->count, 5);
	/* Tasks of two kinds: 5 in 2 rows each. */
	expect_eq(latency_forgotten(l), 3 + 3);
	expect_eq(latency_new(&(struct latency_cfg){ 0 }, &l), -EINVAL);
	latency_free(l);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_kind_begins_where_it_says),
		T(a_preempted_task_waits_but_was_not_woken),
		T(a_migration_before_the_wait_is_no_delay),
		T(dispatch_queues_count_when_the_task_runs),
		T(buckets_are_those_of_the_caller),
		T(rows_are_bounded_and_a_new_life_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
