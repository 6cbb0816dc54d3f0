#include "../unit.h"

#include <math.h>
#include <string.h>

#include "machine/machine_interval.h"

static struct machine_interval busy(void)
{
	struct machine_interval x = {
		.id = 7, .run_ns = 500000000, .wait_ns = 250000000, .stall_ns = 300000000
	};

	for (int i = 0; i < INTERVAL_COUNTS; i++)
		x.counts[i] = (uint64_t)i + 1;
	for (int i = 0; i < INTERVAL_DISTS; i++)
		x.dists[i] = (struct machine_dist){ .count = (uint64_t)i + 10, .max_ns = 99 };
	return x;
}

static void a_row_shows_all_that_was_counted_per_second(void **state)
{
	struct machine_interval x = busy();
	struct machine_task row = { .run = NAN, .wait = NAN };

	(void)state;
	machine_interval_show(&x, 2, &row);
	for (int i = 0; i < INTERVAL_COUNTS; i++)
		assert_true(row.rates[i] == (i + 1) / 2.0);
	for (int i = 0; i < INTERVAL_DISTS; i++)
		expect_eq(row.dists[i].count, i + 10);
	assert_true(row.run == 0.25 && row.wait == 0.125);
	expect_eq(row.stall_ns, 300000000);
	/* The names are those of the numbers. */
	expect_eq(row.sleep.count, INTERVAL_SLEEP + 10);
	assert_true(row.node_migrations_per_s == (INTERVAL_NODE_MIGRATIONS + 1) / 2.0);
}

static void a_time_that_it_does_not_know_stays(void **state)
{
	struct machine_interval x = busy();
	struct machine_task row = { .run = 0.75, .wait = NAN };

	(void)state;
	x.lacks_run = true;
	machine_interval_show(&x, 1, &row);
	assert_true(row.run == 0.75 && row.wait == 0.25);
	expect_eq(row.latency.count, 10);
}

static void of_no_time_there_are_no_rates(void **state)
{
	struct machine_interval x = busy();
	struct machine_task row = { .run = NAN, .voluntary_per_s = NAN };

	(void)state;
	machine_interval_show(&x, 0, &row);
	assert_true(isnan(row.run) && isnan(row.voluntary_per_s));
	expect_eq(row.slice.count, INTERVAL_SLICE + 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_shows_all_that_was_counted_per_second),
		cmocka_unit_test(a_time_that_it_does_not_know_stays),
		cmocka_unit_test(of_no_time_there_are_no_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
