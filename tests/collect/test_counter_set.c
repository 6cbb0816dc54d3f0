#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/counter_set.h"
#include "sys/cpulist.h"

static struct cpulist online;

static bool can_count(void)
{
	struct counter_slot_cfg slot = { "page-faults", PERF_COUNT_ALL, -1 };
	struct counter_set *c = NULL;
	int err = cpulist_add(&online, 0);

	if (!err)
		err = counter_set_new(2, &c);
	if (!err)
		err = counter_set_add(c, &online, &slot, NULL);
	counter_set_free(c);
	return !err;
}

static void each_event_has_a_descriptor_per_cpu(void **state)
{
	struct counter_slot_cfg faults = { "page-faults", PERF_COUNT_ALL, -1 };
	struct counter_slot_cfg clock = { "task-clock", PERF_COUNT_ALL, -1 };
	struct counter_set *c = NULL;
	const int *fds;
	uint64_t value = 0;

	(void)state;
	expect_eq(counter_set_new(2, &c), 0);
	expect_eq(counter_set_add(c, &online, &faults, NULL), 0);
	expect_eq(counter_set_add(c, &online, &clock, NULL), 0);
	expect_eq(counter_set_nr(c), 2);
	assert_non_null(strstr(counter_set_title(c, 0), "fault"));
	fds = counter_set_fds(c);
	assert_true(fds[0] >= 0 && fds[2] >= 0 && fds[0] != fds[2]);
	expect_eq(fds[1], -1); /* CPU 1 was not asked for */
	expect_eq(fds[3], -1);
	expect_eq(counter_set_start(c), 0);
	usleep(1000);
	assert_true(read(fds[2], &value, sizeof(value)) > 0 || errno == ENOSPC);
	counter_set_clear(c);
	expect_eq(counter_set_nr(c), 0);
	counter_set_free(c);
}

/* CPUs that come online are tried with those that are: a list without one of them, and then with it. */
static void cpus_that_come_are_counted_and_those_that_go_are_let_go(void **state)
{
	struct counter_slot_cfg clock = { "cpu-clock", PERF_COUNT_ALL, -1 };
	struct cpulist both = { 0 }, second = { 0 };
	struct counter_set *c = NULL;
	uint64_t values[3] = { 0 };
	const int *fds;

	(void)state;
	expect_eq(cpulist_parse("0-1", &both), 0);
	expect_eq(cpulist_parse("1", &second), 0);
	expect_eq(counter_set_new(2, &c), 0);
	expect_eq(counter_set_add(c, &online, &clock, NULL), 0);
	expect_eq(counter_set_start(c), 0);
	expect_eq(counter_set_follow(c, &both, NULL), 0);
	fds = counter_set_fds(c);
	assert_true(fds[0] >= 0 && fds[1] >= 0 && fds[0] != fds[1]);
	usleep(1000);
	assert_true(read(fds[1], values, sizeof(values)) > 0);
	assert_true(values[1] > 0); /* it is enabled */
	expect_eq(counter_set_follow(c, &second, NULL), 0);
	fds = counter_set_fds(c);
	expect_eq(fds[0], -1);
	assert_true(fds[1] >= 0);
	counter_set_free(c);
	cpulist_done(&both);
	cpulist_done(&second);
}

static void a_failure_adds_nothing(void **state)
{
	struct counter_slot_cfg bad = { "no-such-event", PERF_COUNT_ALL, -1 };
	struct counter_set *c = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(counter_set_new(1, &c), 0);
	assert_true(counter_set_add(c, &online, &bad, &d) < 0);
	assert_non_null(strstr(d.what, "no-such-event"));
	expect_eq(counter_set_nr(c), 0);
	counter_set_free(c);
	counter_set_free(NULL);
}

static void there_is_an_end_to_slots(void **state)
{
	struct counter_slot_cfg faults = { "page-faults", PERF_COUNT_ALL, -1 };
	struct counter_set *c = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(counter_set_new(1, &c), 0);
	for (int i = 0; i < COUNTER_SET_MAX; i++)
		expect_eq(counter_set_add(c, &online, &faults, NULL), 0);
	expect_eq(counter_set_add(c, &online, &faults, &d), -E2BIG);
	counter_set_free(c);
}

int main(void)
{
	bool can = can_count();
	const struct CMUnitTest tests[] = {
		unit_test_if(can, each_event_has_a_descriptor_per_cpu,
		             "may not count on whole CPUs"),
		unit_test_if(can && sysconf(_SC_NPROCESSORS_ONLN) > 1,
		             cpus_that_come_are_counted_and_those_that_go_are_let_go,
		             "needs two CPUs and the right to count on them"),
		cmocka_unit_test(a_failure_adds_nothing),
		unit_test_if(can, there_is_an_end_to_slots, "may not count on whole CPUs"),
	};
	int failed;

	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cpulist_done(&online);
	return failed;
}
