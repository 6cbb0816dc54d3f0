#include "pair_fixture.h"

#include <errno.h>

#include "model/history.h"

static struct history *watch(struct fixture *f, uint32_t max_tasks)
{
	struct history_cfg cfg = { f->tasks, max_tasks };
	struct history *h = NULL;
	struct pair_out out;

	expect_eq(history_new(&cfg, &h), 0);
	out = history_out(h);
	expect_eq(pair_add_out(f->pair, &out), 0);
	f->also = history_sink(h);
	return h;
}

static void moments_come_newest_first(void **state)
{
	struct fixture *f = *state;
	struct history *h = watch(f, 0);
	struct history_moment m[HISTORY_MOMENTS + 1];
	uint32_t i;

	sw(f, 50, 0, 0, 5, 0);
	forked(f, 100, 5, 7, "child");
	wakeup_new(f, 110, 0, 7, 5);
	sw(f, 120, 1, 0, 7, 0);
	sw(f, 125, 1, 7, 0, EV_STATE_S);
	exiting(f, 130, 7);
	assert_true(history_find(h, 7, &i));
	expect_eq(history_read(h, i, m, HISTORY_MOMENTS), 5);
	expect_eq(m[0].kind, EV_EXIT);
	expect_eq(m[1].kind, EV_SWITCH);
	assert_false(m[1].comes_on);
	expect_eq(m[1].a, EV_STATE_S);
	assert_true(m[2].comes_on);
	expect_eq(m[2].cpu, 1);
	expect_eq(m[3].kind, EV_WAKEUP_NEW);
	expect_eq(m[3].a, 5);
	expect_eq(m[4].kind, EV_FORK);
	for (uint64_t k = 0; k < 200; k++)
		migrate(f, 200 + k, 7, 0, 1);
	expect_eq(history_read(h, i, m, HISTORY_MOMENTS + 1), HISTORY_MOMENTS);
	expect_eq(m[0].ts_ns, 399);
	expect_eq(m[HISTORY_MOMENTS - 1].ts_ns, 300);
	expect_eq(history_task_at(h, i)->nr, 205);
	expect_eq(history_task_at(h, i)->counts[EV_SWITCH], 2);
	expect_eq(history_task_at(h, i)->counts[EV_MIGRATE], 200);
	assert_true(history_find(h, 5, &i)); /* its parent */
	expect_eq(history_read(h, i, m, 1), 1);
	expect_eq(m[0].a, 7);
	history_free(h);
}

static void the_one_silent_for_longest_goes(void **state)
{
	struct fixture *f = *state;
	struct history *h = watch(f, 2);
	struct history_moment m[4];
	uint32_t i;

	migrate(f, 100, 7, 0, 1);
	migrate(f, 200, 8, 2, 3);
	migrate(f, 250, 7, 0, 1);
	migrate(f, 300, 9, 2, 3);
	assert_true(history_find(h, 7, &i));
	expect_eq(history_read(h, i, m, 4), 2);
	assert_false(history_find(h, 8, &i));
	expect_eq(history_forgotten(h), 1);
	history_reset(h);
	expect_eq(history_nr_tasks(h), 0);
	assert_false(history_find(h, 7, &i));
	history_free(h);
	expect_eq(history_new(&(struct history_cfg){ 0 }, &h), -EINVAL);
}

static void the_dead_are_found_until_their_tid_is_reused(void **state)
{
	struct fixture *f = *state;
	struct history *h = watch(f, 0);
	struct history_moment m[8];
	uint32_t i;

	sw(f, 100, 0, 0, 7, 0);
	sw(f, 110, 0, 7, 0, EV_STATE_DEAD);
	freed(f, 120, 7);
	assert_true(history_find(h, 7, &i));
	expect_eq(history_read(h, i, m, 8), 2);
	forked(f, 130, 5, 7, "next");
	assert_true(history_find(h, 7, &i));
	expect_eq(history_read(h, i, m, 8), 1);
	expect_eq(m[0].kind, EV_FORK);
	history_free(h);
}

static void idle_and_strangers_have_no_history(void **state)
{
	struct fixture *f = *state;
	struct history *h = watch(f, 0);
	uint32_t i;

	sw(f, 100, 0, 0, 7, 0);
	assert_false(history_find(h, 0, &i));
	assert_false(history_find(h, 99, &i));
	assert_null(history_task_at(h, 5));
	expect_eq(history_nr_tasks(h), 1);
	history_free(h);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(moments_come_newest_first),
		T(the_one_silent_for_longest_goes),
		T(the_dead_are_found_until_their_tid_is_reused),
		T(idle_and_strangers_have_no_history),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
