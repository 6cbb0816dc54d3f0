#include "../unit.h"

#include "base/hist.h"
#include "base/rates.h"

static void add(struct rates *r, uint64_t value, uint64_t count)
{
	expect_eq(rates_add(r, value, count), 0);
}

static void nothing_has_no_percentile(void **state)
{
	struct rates r = { 0 };

	(void)state;
	expect_eq(rates_percentile(&r, HIST_P(50)), 0);
	add(&r, 77, 0);
	expect_eq(r.nr, 0);
	expect_eq(r.max, 0);
	rates_done(&r);
}

static void small_values_are_exact(void **state)
{
	struct rates r = { 0 };

	(void)state;
	for (uint64_t v = 1023; v > 0; v--)
		add(&r, v, 1);
	expect_eq(r.nr, 1023);
	expect_eq(r.count, 1023);
	expect_eq(rates_percentile(&r, HIST_P(0)), 1);
	expect_eq(rates_percentile(&r, HIST_P(50)), 512);
	expect_eq(rates_percentile(&r, HIST_P(99)), 1013);
	expect_eq(rates_percentile(&r, HIST_P(100)), 1023);
	rates_done(&r);
}

static void percentiles_are_the_nearest_rank(void **state)
{
	struct rates r = { 0 };

	(void)state;
	add(&r, 9, 1);
	add(&r, 3, 98);
	add(&r, 5, 1);
	expect_eq(rates_percentile(&r, HIST_P(50)), 3);
	expect_eq(rates_percentile(&r, HIST_P(98)), 3);
	expect_eq(rates_percentile(&r, HIST_P(98.01)), 5);
	expect_eq(rates_percentile(&r, HIST_P(99)), 5);
	expect_eq(rates_percentile(&r, HIST_P(99.9)), 9);
	rates_done(&r);
}

static void large_values_are_off_by_less_than_a_64th(void **state)
{
	(void)state;
	for (uint64_t v = 1024; v < UINT64_MAX / 3; v = v * 2 + v / 7) {
		struct rates r = { 0 };
		uint64_t got, off;

		add(&r, v, 1);
		add(&r, UINT64_MAX, 1);
		got = rates_percentile(&r, HIST_P(50));
		off = got > v ? got - v : v - got;
		assert_true(off < v / 64);
		expect_eq(rates_percentile(&r, HIST_P(100)), UINT64_MAX);
		rates_done(&r);
	}
}

static void equal_large_values_are_never_above_the_largest(void **state)
{
	struct rates r = { 0 };

	(void)state;
	add(&r, 1000001, 100);
	expect_eq(r.nr, 1);
	expect_eq(r.max, 1000001);
	assert_true(rates_percentile(&r, HIST_P(50)) <= 1000001);
	expect_eq(rates_percentile(&r, HIST_P(100)), 1000001);
	rates_done(&r);
}

static void memory_is_bounded_whatever_the_values(void **state)
{
	struct rates r = { 0 };
	uint64_t v = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		v = v * 6364136223846793005ULL + 1442695040888963407ULL;
		add(&r, v >> (i % 64), 1);
	}
	expect_eq(r.count, 200000);
	assert_true(r.nr <= 4500);
	for (uint32_t i = 1; i < r.nr; i++)
		assert_true(r.bins[i - 1].value < r.bins[i].value);
	rates_done(&r);
}

static void merging_equals_adding(void **state)
{
	struct rates a = { 0 }, b = { 0 }, both = { 0 }, empty = { 0 };

	(void)state;
	for (uint64_t v = 0; v < 3000; v += 7) {
		add(v % 2 ? &a : &b, v, v + 1);
		add(&both, v, v + 1);
	}
	add(&a, 14, 5);
	add(&both, 14, 5);
	expect_eq(rates_merge(&a, &b), 0);
	expect_eq(rates_merge(&a, &empty), 0);

	expect_eq(a.nr, both.nr);
	expect_eq(a.count, both.count);
	expect_eq(a.max, both.max);
	assert_memory_equal(a.bins, both.bins, both.nr * sizeof(*both.bins));
	add(&a, 1, 1); /* the merged array still grows */
	expect_eq(a.bins[1].value, 1);
	rates_done(&a);
	rates_done(&b);
	rates_done(&both);
}

static void merging_with_itself_doubles(void **state)
{
	struct rates r = { 0 };

	(void)state;
	add(&r, 4, 1);
	add(&r, 8, 3);
	expect_eq(rates_merge(&r, &r), 0);
	expect_eq(r.nr, 2);
	expect_eq(r.count, 8);
	expect_eq(r.bins[1].count, 6);
	rates_done(&r);
	expect_eq(r.count, 0);
	assert_null(r.bins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_no_percentile),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(percentiles_are_the_nearest_rank),
		cmocka_unit_test(large_values_are_off_by_less_than_a_64th),
		cmocka_unit_test(equal_large_values_are_never_above_the_largest),
		cmocka_unit_test(memory_is_bounded_whatever_the_values),
		cmocka_unit_test(merging_equals_adding),
		cmocka_unit_test(merging_with_itself_doubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
