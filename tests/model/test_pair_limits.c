/* Rows of deadline tasks that had used up their runtime, and of real-time tasks that had to let others run. */
#include "pair_fixture.h"

#include "abi/policy.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* A switch on CPU 1 between tasks of these priorities. */
struct urgent {
	uint64_t ts;
	uint32_t prev, next, state;
	int16_t prev_prio, next_prio;
};

static void urgent_sw(struct fixture *f, const struct urgent *x)
{
	struct ev_switch rec = { { sizeof(rec), EV_SWITCH, 0, 1, x->ts },
		                 .prev_tid = x->prev,
		                 .next_tid = x->next,
		                 .prev_state = x->state,
		                 .prev_prio = x->prev_prio,
		                 .next_prio = x->next_prio };

	push(f, &rec);
}

static void deadline(struct fixture *f, uint64_t ts, uint32_t tid, uint64_t until_ns)
{
	struct ev_throttle rec = { { sizeof(rec), EV_THROTTLE, 0, 1, ts },
		                   .quota_ns = 10,
		                   .period_ns = 100,
		                   .until_ns = until_ns,
		                   .tid = tid,
		                   .limit = EV_LIMIT_DEADLINE };

	push(f, &rec);
}

static void rt_limit(struct fixture *f, uint64_t ts, bool is_on)
{
	struct ev_rt_limit rec = { { sizeof(rec), EV_RT_LIMIT, 0, 1, ts }, .is_on = is_on };

	push(f, &rec);
}

static void wakes(struct fixture *f, uint64_t ts, uint32_t tid, int16_t prio)
{
	struct ev_wake rec = {
		{ sizeof(rec), EV_WAKEUP, 0, 1, ts }, .tid = tid, .target_cpu = 1, .prio = prio
	};

	push(f, &rec);
}

static void expect_rows(const struct fixture *f, const uint64_t (*rows)[4], size_t nr)
{
	expect_eq(f->nr_throttles, nr);
	for (size_t i = 0; i < nr; i++) {
		expect_eq(f->throttles[i].task, task_of(f, (uint32_t)rows[i][0]));
		expect_eq(f->throttles[i].start_ns, rows[i][1]);
		expect_eq(f->throttles[i].end_ns, rows[i][2]);
		expect_eq(f->throttles[i].limit, rows[i][3]);
		expect_eq(f->throttles[i].cpu, 1);
		expect_eq(f->throttles[i].cgroup, 0);
	}
}

static void a_deadline_task_may_run_again_in_its_next_period(void **state)
{
	static const uint64_t rows[][4] = { { 20, 200, 300, EV_LIMIT_DEADLINE } };
	struct fixture *f = *state;

	pair_start(f->pair, 0);
	urgent_sw(f, &(struct urgent){ 100, 0, 20, 0, 120, -1 });
	urgent_sw(f, &(struct urgent){ 200, 20, 30, 0, -1, -1 });
	deadline(f, 201, 20, 300);
	/* A refill is of quotas. */
	refill(f, 250, 0, EVERY_CPU);
	expect_eq(pair_throttled_since(f->pair, task_of(f, 20)), 200);
	/* Another one had an earlier deadline. */
	urgent_sw(f, &(struct urgent){ 400, 30, 20, EV_STATE_S, -1, -1 });
	expect_eq(pair_throttled_since(f->pair, task_of(f, 20)), 0);
	done(f, 500);
	expect_rows(f, rows, NR(rows));
	expect_eq(f->throttles[0].quota_ns, 10);
	expect_eq(f->throttles[0].period_ns, 100);
}

static void one_that_runs_before_is_not_throttled_longer(void **state)
{
	static const uint64_t rows[][4] = { { 20, 200, 300, EV_LIMIT_DEADLINE } };
	struct fixture *f = *state;

	pair_start(f->pair, 0);
	urgent_sw(f, &(struct urgent){ 100, 0, 20, 0, 120, -1 });
	urgent_sw(f, &(struct urgent){ 200, 20, 0, 0, -1, 120 });
	deadline(f, 201, 20, 900);
	urgent_sw(f, &(struct urgent){ 300, 0, 20, 0, 120, -1 });
	done(f, 1000);
	expect_rows(f, rows, NR(rows));
}

static void periods_that_begin_between_two_records_are_in_order(void **state)
{
	static const uint64_t rows[][4] = { { 21, 210, 300, EV_LIMIT_DEADLINE },
		                            { 22, 220, 310, EV_LIMIT_DEADLINE },
		                            { 20, 200, 320, EV_LIMIT_DEADLINE } };
	struct fixture *f = *state;

	pair_start(f->pair, 0);
	urgent_sw(f, &(struct urgent){ 100, 0, 20, 0, 120, -1 });
	urgent_sw(f, &(struct urgent){ 200, 20, 21, 0, -1, -1 });
	deadline(f, 201, 20, 320);
	urgent_sw(f, &(struct urgent){ 210, 21, 22, 0, -1, -1 });
	deadline(f, 211, 21, 300);
	urgent_sw(f, &(struct urgent){ 220, 22, 0, 0, -1, 120 });
	deadline(f, 221, 22, 310);
	urgent_sw(f, &(struct urgent){ 400, 0, 21, 0, 120, -1 });
	done(f, 500);
	expect_rows(f, rows, NR(rows));
}

/* 20 is a FIFO task that has run on CPU 1, and has to let 10 run from 200 on. */
static void limit(struct fixture *f)
{
	pair_start(f->pair, 0);
	urgent_sw(f, &(struct urgent){ 100, 0, 20, 0, 120, 49 });
	urgent_sw(f, &(struct urgent){ 200, 20, 10, 0, 49, 120 });
	rt_limit(f, 201, true);
}

static void real_time_tasks_wait_until_one_of_them_runs(void **state)
{
	static const uint64_t rows[][4] = { { 21, 230, 300, EV_LIMIT_RT },
		                            { 20, 200, 300, EV_LIMIT_RT } };
	struct fixture *f = *state;

	sw(f, 50, 1, 21, 0, EV_STATE_S);
	sw(f, 60, 1, 22, 0, EV_STATE_S);
	sw(f, 70, 1, 23, 0, EV_STATE_S);
	limit(f);
	wakes(f, 230, 21, 59);
	wakes(f, 231, 22, 120); /* fair */
	wakes(f, 232, 23, -1);  /* deadline: it may run */
	urgent_sw(f, &(struct urgent){ 300, 10, 21, 0, 120, 59 });
	rt_limit(f, 301, false);
	urgent_sw(f, &(struct urgent){ 350, 21, 20, EV_STATE_S, 59, 49 });
	done(f, 500);
	expect_rows(f, rows, NR(rows));
}

static void fair_tasks_that_take_turns_do_not_end_it(void **state)
{
	static const uint64_t rows[][4] = { { 20, 200, 300, EV_LIMIT_RT } };
	struct fixture *f = *state;

	limit(f);
	urgent_sw(f, &(struct urgent){ 250, 10, 11, 0, 120, 120 });
	rt_limit(f, 300, false);
	urgent_sw(f, &(struct urgent){ 400, 11, 20, 0, 120, 49 });
	done(f, 500);
	expect_rows(f, rows, NR(rows));
}

static void the_end_of_the_recording_ends_it(void **state)
{
	static const uint64_t rows[][4] = { { 20, 200, 500, EV_LIMIT_RT } };
	struct fixture *f = *state;

	limit(f);
	done(f, 500);
	expect_rows(f, rows, NR(rows));
}

static void the_highest_priority_is_told_by_its_policy(void **state)
{
	static const uint64_t rows[][4] = { { 21, 230, 300, EV_LIMIT_RT } };
	struct ev_policy policy = { { sizeof(policy), EV_POLICY, 0, 1, 40 },
		                    .tid = 21,
		                    .policy = ABI_POLICY_FIFO };
	struct fixture *f = *state;

	push(f, &policy);
	sw(f, 50, 1, 21, 0, EV_STATE_S);
	sw(f, 60, 1, 22, 0, EV_STATE_S);
	sw(f, 100, 1, 0, 10, 0);
	rt_limit(f, 101, true);
	wakes(f, 230, 21, 0);
	wakes(f, 231, 22, 0); /* unknown */
	urgent_sw(f, &(struct urgent){ 300, 10, 21, 0, 120, 0 });
	done(f, 500);
	expect_rows(f, rows, NR(rows));
}

static void after_a_loss_nothing_is_said(void **state)
{
	struct fixture *f = *state;

	limit(f);
	lost(f, 250, 1, EV_SWITCH, 1);
	urgent_sw(f, &(struct urgent){ 300, 10, 20, 0, 120, 49 });
	done(f, 500);
	expect_eq(f->nr_throttles, 0);
}

static void of_a_cpu_that_is_unknown_nothing_is_said(void **state)
{
	struct fixture *f = *state;

	sw(f, 60, 1, 21, 0, EV_STATE_S);
	limit(f);
	lost(f, 250, 1, EV_SWITCH, 1);
	rt_limit(f, 260, true);
	wakes(f, 270, 21, 59);
	urgent_sw(f, &(struct urgent){ 300, 10, 21, 0, 120, 59 });
	done(f, 500);
	expect_eq(f->nr_throttles, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		CASE(a_deadline_task_may_run_again_in_its_next_period),
		CASE(one_that_runs_before_is_not_throttled_longer),
		CASE(periods_that_begin_between_two_records_are_in_order),
		CASE(real_time_tasks_wait_until_one_of_them_runs),
		CASE(fair_tasks_that_take_turns_do_not_end_it),
		CASE(the_end_of_the_recording_ends_it),
		CASE(the_highest_priority_is_told_by_its_policy),
		CASE(after_a_loss_nothing_is_said),
		CASE(of_a_cpu_that_is_unknown_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
