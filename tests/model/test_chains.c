#include "pair_fixture.h"

#include <errno.h>

#include "model/chains.h"

static struct chains *watch(struct fixture *f, uint32_t max_tasks)
{
	struct chains_cfg cfg = { f->tasks, max_tasks };
	struct chains *c = NULL;
	struct pair_out out;

	expect_eq(chains_new(&cfg, &c), 0);
	out = chains_out(c);
	expect_eq(pair_add_out(f->pair, &out), 0);
	return c;
}

/* tid sleeps on a CPU of its own, is woken at ts and runs ns later. */
static void wake(struct fixture *f, uint64_t ts, uint32_t waker, uint32_t tid, uint64_t ns)
{
	sw(f, ts - 5, tid, tid, 0, EV_STATE_S);
	waking(f, ts, waker, tid, waker);
	sw(f, ts + ns, tid, 0, tid, 0);
}

static void a_chain_goes_back_in_time(void **state)
{
	struct fixture *f = *state;
	struct chains *c = watch(f, 0);
	struct chains_chain chain;

	sw(f, 500, 1, 0, 1, 0);
	sw(f, 500, 9, 0, 9, 0);
	wake(f, 1000, 1, 2, 10);
	wake(f, 2000, 2, 3, 20);
	wake(f, 3000, 3, 4, 30);
	wake(f, 4000, 9, 2, 40); /* later than what made 3 run: not part of it */
	assert_true(chains_find(c, task_of(f, 4), 10, &chain));
	expect_eq(chain.nr, 3);
	expect_eq(chain.links[0].waker_tid, 3);
	expect_eq(chain.links[0].run_ns - chain.links[0].waking_ns, 30);
	expect_eq(chain.links[1].waker_tid, 2);
	expect_eq(chain.links[2].waker_tid, 1);
	expect_eq(chain.links[2].run_ns - chain.links[2].waking_ns, 10);
	expect_eq(chain.end, CHAINS_UNKNOWN);
	assert_true(chains_find(c, task_of(f, 2), 10, &chain)); /* its most recent waker */
	expect_eq(chain.links[0].waker_tid, 9);
	assert_true(chains_find(c, task_of(f, 4), 2, &chain));
	expect_eq(chain.nr, 2);
	expect_eq(chain.end, CHAINS_CUT);
	assert_false(chains_find(c, task_of(f, 1), 10, &chain));
	assert_false(chains_find(c, TASKS_NONE, 10, &chain));
	expect_eq(chains_nr_wakeups(c), 4);
	chains_free(c);
}

static void two_that_wake_each_other_end_a_chain(void **state)
{
	struct fixture *f = *state;
	struct chains *c = watch(f, 0);
	struct chains_chain chain;

	for (uint64_t i = 1; i < 20; i++) {
		wake(f, 1000 * i, 1, 2, 10);
		wake(f, 1000 * i + 500, 2, 1, 10);
	}
	assert_true(chains_find(c, task_of(f, 1), 30, &chain));
	expect_eq(chain.nr, 2);
	expect_eq(chain.end, CHAINS_CYCLE);
	expect_eq(chain.links[0].waking_ns, 19500);
	expect_eq(chain.links[1].waking_ns, 19000);
	chains_free(c);
}

static void an_interrupt_ends_a_chain(void **state)
{
	struct fixture *f = *state;
	struct chains *c = watch(f, 0);
	struct chains_chain chain;

	sw(f, 100, 1, 7, 0, EV_STATE_S);
	push(f, &(struct ev_wake){
			.hdr = { sizeof(struct ev_wake), EV_WAKING, EV_FLAG_HARDIRQ, 0, 110 },
			.tid = 7,
			.waker_tid = 5 });
	sw(f, 120, 1, 0, 7, 0);
	assert_true(chains_find(c, task_of(f, 7), 10, &chain));
	expect_eq(chain.nr, 1);
	expect_eq(chain.end, CHAINS_NOBODY);
	expect_eq(chain.links[0].waker_tid, 0);
	chains_free(c);
}

static void a_waker_whose_tid_came_back_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct chains *c = watch(f, 0);
	struct chains_chain chain;

	wake(f, 1000, 1, 2, 10);
	wake(f, 2000, 2, 3, 10);
	sw(f, 2100, 2, 2, 0, EV_STATE_DEAD);
	freed(f, 2200, 2);
	forked(f, 2300, 1, 2, "new");
	wake(f, 3000, 9, 2, 10);
	assert_true(chains_find(c, task_of(f, 3), 10, &chain));
	for (uint32_t i = 1; i < chain.nr; i++)
		assert_int_not_equal(chain.links[i].waker_tid, 9);
	chains_free(c);
}

static void it_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct chains *c = watch(f, 3);
	struct chains_chain chain;

	for (uint32_t i = 10; i < 30; i++)
		wake(f, 1000ULL * i, i - 1, i, 10);
	expect_eq(chains_nr_tasks(c), 3);
	expect_eq(chains_forgotten(c), 17);
	assert_true(chains_find(c, task_of(f, 29), 30, &chain));
	expect_eq(chain.nr, 3);
	expect_eq(chains_task_at(c, 3), TASKS_NONE);
	chains_reset(c);
	expect_eq(chains_nr_tasks(c), 0);
	assert_false(chains_find(c, task_of(f, 29), 30, &chain));
	chains_free(c);
	expect_eq(chains_new(&(struct chains_cfg){ 0 }, &c), -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_chain_goes_back_in_time),
		T(two_that_wake_each_other_end_a_chain),
		T(an_interrupt_ends_a_chain),
		T(a_waker_whose_tid_came_back_is_not_followed),
		T(it_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
