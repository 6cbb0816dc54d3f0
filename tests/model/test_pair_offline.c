/* CPUs that are taken offline, and come back: their time is not idle. */
#include "pair_fixture.h"

/* A step of CPU 1, recorded on CPU 0. */
static void hotplug(struct fixture *f, uint64_t ts, int32_t step, int32_t target)
{
	struct ev_cpu_hotplug rec = {
		{ sizeof(rec), EV_CPU_HOTPLUG, 0, 0, ts }, .cpu = 1, .target = target, .step = step
	};

	push(f, &rec);
}

/* CPU 1 is idle from 100 on, and on its way down from 200 on, on which its own thread 20 works from 250 to 260. */
static void take_down(struct fixture *f)
{
	pair_start(f->pair, 0);
	sw(f, 50, 0, 0, 10, 0);
	sw(f, 60, 1, 0, 11, 0);
	sw(f, 100, 1, 11, 0, EV_STATE_S);
	hotplug(f, 200, 230, 100);
	sw(f, 250, 1, 0, 20, 0);
	sw(f, 260, 1, 20, 0, EV_STATE_S);
	hotplug(f, 300, 50, 0);
}

static void expect_gap(const struct fixture *f, size_t i, uint64_t start_ns, uint64_t end_ns)
{
	expect_eq(f->gaps[i].start_ns, start_ns);
	expect_eq(f->gaps[i].end_ns, end_ns);
	expect_eq(f->gaps[i].cpu, 1);
	expect_eq(f->gaps[i].reason, PAIR_GAP_OFFLINE);
}

/* Of CPU 1, from the given one on. */
static size_t next_gap(const struct fixture *f, size_t i)
{
	while (i < f->nr_gaps && f->gaps[i].reason != PAIR_GAP_OFFLINE)
		i++;
	return i;
}

static void a_cpu_that_is_offline_is_not_idle(void **state)
{
	struct fixture *f = *state;
	size_t first, second;

	take_down(f);
	done(f, 1000);
	expect_eq(f->nr_idles, 1);
	expect_eq(f->idles[0].start_ns, 100);
	expect_eq(f->idles[0].end_ns, 200);
	first = next_gap(f, 0);
	second = next_gap(f, first + 1);
	assert_true(second < f->nr_gaps);
	expect_gap(f, first, 200, 250);
	expect_gap(f, second, 260, 1000);
	expect_eq(next_gap(f, second + 1), f->nr_gaps);
}

static void one_that_comes_back_is_idle_again(void **state)
{
	struct fixture *f = *state;

	take_down(f);
	hotplug(f, 400, 10, 230);
	sw(f, 500, 1, 0, 11, 0);
	sw(f, 600, 1, 11, 0, EV_STATE_S);
	done(f, 1000);
	expect_eq(f->nr_idles, 2);
	expect_eq(f->idles[1].start_ns, 600);
	expect_eq(f->idles[1].end_ns, 1000);
}

static void a_cpu_that_nothing_is_known_of_stays_unknown(void **state)
{
	struct ev_cpu_hotplug rec = { { sizeof(rec), EV_CPU_HOTPLUG, 0, 0, 200 },
		                      .cpu = UINT32_MAX,
		                      .target = 0,
		                      .step = 230 };
	struct fixture *f = *state;

	pair_start(f->pair, 0);
	sw(f, 50, 0, 0, 10, 0);
	push(f, &rec);
	done(f, 1000);
	expect_eq(f->nr_idles, 0);
}

/* The end of a step does not say where it leads. */
static void the_end_of_a_step_changes_nothing(void **state)
{
	struct ev_cpu_hotplug rec = {
		{ sizeof(rec), EV_CPU_HOTPLUG, 0, 0, 200 }, .cpu = 1, .step = 230, .is_exit = 1
	};
	struct fixture *f = *state;

	pair_start(f->pair, 0);
	sw(f, 60, 1, 0, 11, 0);
	sw(f, 100, 1, 11, 0, EV_STATE_S);
	push(f, &rec);
	done(f, 1000);
	expect_eq(f->nr_idles, 1);
	expect_eq(f->idles[0].end_ns, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
		CASE(a_cpu_that_is_offline_is_not_idle),
		CASE(one_that_comes_back_is_idle_again),
		CASE(a_cpu_that_nothing_is_known_of_stays_unknown),
		CASE(the_end_of_a_step_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
