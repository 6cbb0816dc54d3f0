/* The published vectors of the methods, by their names, and numbers worked out by hand. */
#include "../unit.h"

#include <math.h>
#include <string.h>

#include "analyses/outliers/outlier_math.h"

/* [10,12,11,13,12,14,100,11,13,12], sorted. */
static const uint64_t vector[] = { 10, 11, 11, 12, 12, 12, 13, 13, 14, 100 };

static size_t found(const uint64_t *sorted, size_t nr, enum outlier_method method, double k)
{
	struct outlier_bounds b;

	outlier_bounds(sorted, nr, method, k, &b);
	return b.nr_below + b.nr_above;
}

static void quartiles_are_interpolated(void **state)
{
	static const uint64_t ten[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };

	(void)state;
	assert_true(outlier_quantile(ten, 10, 0.5) == 5.5);
	assert_true(outlier_quantile(ten, 10, 0.25) == 3.25);
	assert_true(outlier_quantile(ten, 10, 0.75) == 7.75);
	assert_true(outlier_quantile(ten, 10, 1) == 10);
	assert_true(outlier_quantile(ten, 1, 0.5) == 1);
}

static void one_value_of_ten_lies_outside_by_each_method(void **state)
{
	struct outlier_bounds b;

	(void)state;
	outlier_bounds(vector, 10, OUTLIER_IQR, 1.5, &b);
	expect_eq(b.nr_above, 1);
	expect_eq(b.nr_below, 0);
	assert_true(b.q1 == 11.25 && b.q3 == 13.0 && b.iqr == 1.75);
	assert_true(outlier_is_high(&b, 100));
	assert_false(outlier_is_high(&b, 14));
	assert_true(fabs(outlier_severity(&b, 100) - 87 / 1.75) < 1e-9);
	expect_eq(found(vector, 10, OUTLIER_MAD, 3.5), 1);
	expect_eq(found(vector, 10, OUTLIER_STDDEV, 2.5), 1);
	expect_eq(found(vector, 10, OUTLIER_PERCENTILE, 85), 1);
}

static void mad_is_exact(void **state)
{
	static const uint64_t even[] = { 1, 2, 4, 9 }; /* median 3: deviations 1, 1, 2, 6 */
	struct outlier_bounds b;

	(void)state;
	/* Median 12; deviations 0 0 0 1 1 1 1 2 2 88. */
	outlier_bounds(vector, 10, OUTLIER_MAD, 3.5, &b);
	assert_true(b.mad == 1.0);
	assert_true(fabs(outlier_severity(&b, 100) - 0.6745 * 88) < 1e-9);
	outlier_bounds(even, 4, OUTLIER_MAD, 3.5, &b);
	assert_true(b.mad == 1.5);
	outlier_bounds(even, 3, OUTLIER_MAD, 3.5, &b);
	assert_true(b.mad == 1.0);
}

static void even_numbers_have_no_outliers(void **state)
{
	static const uint64_t even[] = { 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 };

	(void)state;
	expect_eq(found(even, 10, OUTLIER_IQR, 1.5), 0);
	expect_eq(found(even, 10, OUTLIER_MAD, 3.5), 0);
	expect_eq(found(even, 10, OUTLIER_STDDEV, 3), 0);
}

static void nothing_has_no_points(void **state)
{
	struct outlier_bounds b;

	(void)state;
	for (int m = 0; m < OUTLIER_METHODS; m++) {
		outlier_bounds(vector, 0, (enum outlier_method)m, 3, &b);
		expect_eq(b.nr, 0);
		expect_eq(b.nr_above + b.nr_below, 0);
		assert_false(outlier_is_high(&b, 100));
		assert_true(outlier_severity(&b, 100) == 0);
	}
}

static void w46_a_range_of_zero_still_finds_what_lies_outside(void **state)
{
	static const uint64_t same[] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 100 };
	struct outlier_bounds b;

	(void)state;
	outlier_bounds(same, 10, OUTLIER_IQR, 1.5, &b);
	assert_true(b.iqr == 0 && b.is_spread_mean);
	expect_eq(b.nr_above, 1);
	assert_true(isfinite(outlier_severity(&b, 100)) && outlier_severity(&b, 100) > 1.5);
	outlier_bounds(same, 10, OUTLIER_MAD, 3.5, &b);
	assert_true(b.mad == 0 && b.is_spread_mean);
	expect_eq(b.nr_above, 1);
	/* 95 over 1.253314 mean deviations of 9.5. */
	assert_true(fabs(outlier_severity(&b, 100) - 10 / 1.253314) < 1e-9);
}

static void where_all_are_the_same_none_is_an_outlier(void **state)
{
	static const uint64_t same[] = { 5, 5, 5, 5 };

	(void)state;
	for (int m = 0; m < OUTLIER_METHODS; m++)
		expect_eq(found(same, 4, (enum outlier_method)m, 1), 0);
}

static void ranks_are_shares_of_lower_values(void **state)
{
	(void)state;
	assert_true(outlier_rank_percent(vector, 10, 100) == 90.0);
	assert_true(outlier_rank_percent(vector, 10, 12) == 30.0);
	assert_true(outlier_rank_percent(vector, 0, 12) == 0);
}

static void methods_have_names(void **state)
{
	(void)state;
	expect_eq(*outlier_method_find(NULL), OUTLIER_IQR);
	expect_eq(*outlier_method_find("MAD"), OUTLIER_MAD);
	expect_eq(*outlier_method_find("StdDev"), OUTLIER_STDDEV);
	expect_eq(*outlier_method_find("Percentile"), OUTLIER_PERCENTILE);
	assert_null(outlier_method_find("mad"));
	assert_string_equal(outlier_method_name(OUTLIER_IQR), "IQR");
	assert_true(outlier_method_default(OUTLIER_MAD) == 3.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quartiles_are_interpolated),
		cmocka_unit_test(one_value_of_ten_lies_outside_by_each_method),
		cmocka_unit_test(mad_is_exact),
		cmocka_unit_test(even_numbers_have_no_outliers),
		cmocka_unit_test(nothing_has_no_points),
		cmocka_unit_test(w46_a_range_of_zero_still_finds_what_lies_outside),
		cmocka_unit_test(where_all_are_the_same_none_is_an_outlier),
		cmocka_unit_test(ranks_are_shares_of_lower_values),
		cmocka_unit_test(methods_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
