#include "pair_fixture.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hist.h"
#include "model/wakers.h"

static struct wakers *watch(struct fixture *f, uint32_t max_edges)
{
	static const struct live_place places[] = { { 0, 0 }, { 0, 0 }, { 1, 0 }, { 2, 1 } };
	struct wakers_cfg cfg = {
		.tasks = f->tasks, .places = places, .nr_places = 4, .max_edges = max_edges
	};
	struct pair_out out;
	struct wakers *w = NULL;

	expect_eq(wakers_new(&cfg, &w), 0);
	out = wakers_out(w);
	expect_eq(pair_add_out(f->pair, &out), 0);
	return w;
}

/* tid sleeps on cpu, is woken from CPU 0 and runs ns later. */
static void wake(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint32_t waker,
                 uint64_t ns)
{
	sw(f, ts, cpu, tid, 0, EV_STATE_S);
	waking(f, ts + 10, 0, tid, waker);
	wakeup(f, ts + 12, cpu, tid, cpu);
	sw(f, ts + 10 + ns, cpu, 0, tid, 0);
}

static const struct wakers_edge *edge(const struct fixture *f, const struct wakers *w,
                                      uint32_t waker, uint32_t wakee)
{
	uint32_t i;

	assert_true(wakers_find(w, task_of(f, waker), task_of(f, wakee), &i));
	return wakers_at(w, i);
}

static void an_edge_counts_wakeups_and_their_latency(void **state)
{
	struct fixture *f = *state;
	struct wakers *w = watch(f, 0);
	struct wakers_total total;

	sw(f, 50, 0, 0, 5, 0);
	wake(f, 100, 1, 7, 5, 20);
	wake(f, 200, 1, 7, 5, 60);
	expect_eq(wakers_nr(w), 1);
	expect_eq(edge(f, w, 5, 7)->latency.samples, 2);
	expect_eq(edge(f, w, 5, 7)->latency.min_ns, 20);
	expect_eq(edge(f, w, 5, 7)->latency.max_ns, 60);
	expect_eq(edge(f, w, 5, 7)->first_seen_ns, 110);
	expect_eq(edge(f, w, 5, 7)->last_seen_ns, 210);
	expect_eq(edge(f, w, 5, 7)->waker_tid, 5);
	expect_eq(edge(f, w, 5, 7)->wakee_tid, 7);
	expect_eq(wakers_percentile_ns(edge(f, w, 5, 7), HIST_P(99)), 60);
	wakers_total(w, &total);
	expect_eq(total.nr_wakeups, 2);
	wakers_free(w);
}

static void edges_know_how_far_they_reach(void **state)
{
	struct fixture *f = *state;
	struct wakers *w = watch(f, 0);

	sw(f, 50, 0, 0, 5, 0);
	wake(f, 100, 1, 7, 5, 20);
	wake(f, 200, 2, 8, 5, 20);
	wake(f, 300, 3, 9, 5, 20);
	wake(f, 400, 6, 10, 5, 20); /* nobody knows where CPU 6 is */
	expect_eq(edge(f, w, 5, 7)->cross_cpu, 1);
	expect_eq(edge(f, w, 5, 7)->same_llc, 1);
	expect_eq(edge(f, w, 5, 8)->cross_llc, 1);
	expect_eq(edge(f, w, 5, 8)->same_node, 1);
	expect_eq(edge(f, w, 5, 9)->cross_node, 1);
	expect_eq(edge(f, w, 5, 10)->cross_cpu, 1);
	expect_eq(edge(f, w, 5, 10)->same_llc + edge(f, w, 5, 10)->cross_llc, 0);
	wakers_free(w);
}

static void an_interrupt_is_nobody(void **state)
{
	struct fixture *f = *state;
	struct wakers *w = watch(f, 0);
	uint32_t i;

	sw(f, 50, 0, 0, 5, 0);
	sw(f, 100, 1, 7, 0, EV_STATE_S);
	push(f, &(struct ev_wake){
			.hdr = { sizeof(struct ev_wake), EV_WAKING, EV_FLAG_HARDIRQ, 0, 110 },
			.tid = 7,
			.waker_tid = 5 });
	sw(f, 120, 1, 0, 7, 0);
	assert_false(wakers_find(w, task_of(f, 5), task_of(f, 7), &i));
	assert_true(wakers_find(w, TASKS_NONE, task_of(f, 7), &i));
	expect_eq(wakers_at(w, i)->waker_tid, 0);
	wakers_free(w);
}

static void preemption_is_no_wakeup(void **state)
{
	struct fixture *f = *state;
	struct wakers *w = watch(f, 0);

	sw(f, 50, 0, 0, 5, 0);
	sw(f, 60, 0, 5, 7, EV_STATE_RUNNABLE);
	sw(f, 70, 0, 7, 5, EV_STATE_S);
	expect_eq(wakers_nr(w), 0);
	wakers_free(w);
}

static void two_that_wake_each_other_are_found(void **state)
{
	struct fixture *f = *state;
	struct wakers *w = watch(f, 0);
	uint32_t i, j;

	sw(f, 50, 0, 0, 5, 0);
	wake(f, 100, 1, 7, 5, 20);
	assert_true(wakers_find(w, task_of(f, 5), task_of(f, 7), &i));
	assert_false(wakers_reverse(w, i, &j));
	sw(f, 200, 0, 5, 0, EV_STATE_S);
	waking(f, 210, 1, 5, 7);
	sw(f, 220, 0, 0, 5, 0);
	assert_true(wakers_reverse(w, i, &j));
	expect_eq(wakers_at(w, j)->waker_tid, 7);
	assert_false(wakers_reverse(w, 99, &j));
	wakers_free(w);
}

static void a_tid_that_comes_back_has_its_own_edges(void **state)
{
	struct fixture *f = *state;
	struct wakers *w = watch(f, 0);

	sw(f, 50, 0, 0, 5, 0);
	wake(f, 100, 1, 7, 5, 20);
	sw(f, 150, 1, 7, 0, EV_STATE_DEAD);
	freed(f, 160, 7);
	wake(f, 200, 1, 7, 5, 30);
	expect_eq(wakers_nr(w), 2);
	expect_eq(edge(f, w, 5, 7)->latency.samples, 1);
	wakers_free(w);
}

static void the_top_edges_come_in_the_order_asked_for(void **state)
{
	struct fixture *f = *state;
	struct wakers *w = watch(f, 0);
	uint32_t top[3];

	sw(f, 50, 0, 0, 5, 0);
	wake(f, 100, 1, 7, 5, 20);
	wake(f, 200, 1, 7, 5, 20);
	wake(f, 300, 1, 7, 5, 20); /* 3 times, 60 */
	wake(f, 400, 2, 8, 5, 50);
	wake(f, 500, 2, 8, 5, 50); /* twice, 100 */
	wake(f, 600, 3, 9, 5, 90); /* once */
	expect_eq(wakers_top(w, WAKERS_BY_COUNT, top, 3), 3);
	expect_eq(wakers_at(w, top[0])->wakee_tid, 7);
	expect_eq(wakers_at(w, top[2])->wakee_tid, 9);
	expect_eq(wakers_top(w, WAKERS_BY_SCORE, top, 2), 2);
	expect_eq(wakers_at(w, top[0])->wakee_tid, 8);
	expect_eq(wakers_at(w, top[1])->wakee_tid, 9);
	expect_eq(wakers_top(w, WAKERS_BY_LATENCY, top, 1), 1);
	expect_eq(wakers_at(w, top[0])->wakee_tid, 9);
	expect_eq(wakers_top(w, WAKERS_BY_COUNT, top, 0), 0);
	wakers_free(w);
}

static void a_full_table_keeps_the_busy_edges(void **state)
{
	struct fixture *f = *state;
	struct wakers *w = watch(f, 8);
	struct wakers_total total;
	uint64_t ts = 1000;

	sw(f, 50, 0, 0, 5, 0);
	for (uint32_t tid = 100; tid < 120; tid++) {
		wake(f, ts, 1, 7, 5, 20);
		wake(f, ts + 100, 2, tid, 5, 20);
		ts += 200;
	}
	assert_true(wakers_nr(w) <= 8);
	expect_eq(edge(f, w, 5, 7)->latency.samples, 20);
	expect_eq(edge(f, w, 5, 119)->latency.samples, 1);
	wakers_total(w, &total);
	expect_eq(total.forgotten + wakers_nr(w), 21);
	expect_eq(total.nr_wakeups, 40);
	wakers_reset(w);
	expect_eq(wakers_nr(w), 0);
	assert_null(wakers_at(w, 0));
	wakers_free(w);
}

static void small_histograms_are_within_a_quarter(void **state)
{
	(void)state;
	for (uint64_t ns = 1; ns < 1ULL << 35; ns = ns * 5 / 4 + 1) {
		struct small_hist h = { 0 };
		uint64_t p;

		small_hist_add(&h, ns);
		small_hist_add(&h, ns);
		p = small_hist_percentile_ns(&h, HIST_P(50), 0, UINT64_MAX);
		assert_true(p * 4 >= ns * 3 && p * 4 <= ns * 5);
		expect_eq(small_hist_percentile_ns(&h, HIST_P(50), ns, ns), ns);
	}
	expect_eq(small_hist_percentile_ns(&(struct small_hist){ 0 }, HIST_P(50), 0, 9), 0);
}

static void a_bad_configuration_is_refused(void **state)
{
	struct wakers *w;

	(void)state;
	expect_eq(wakers_new(&(struct wakers_cfg){ 0 }, &w), -EINVAL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_edge_counts_wakeups_and_their_latency),
		T(edges_know_how_far_they_reach),
		T(an_interrupt_is_nobody),
		T(preemption_is_no_wakeup),
		T(two_that_wake_each_other_are_found),
		T(a_tid_that_comes_back_has_its_own_edges),
		T(the_top_edges_come_in_the_order_asked_for),
		T(a_full_table_keeps_the_busy_edges),
		T(small_histograms_are_within_a_quarter),
		T(a_bad_configuration_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
