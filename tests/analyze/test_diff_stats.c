#include "../unit.h"

#include <math.h>
#include <stdbool.h>

#include "analyze/diff_stats.h"

static bool is_near(double got, double want)
{
	return fabs(got - want) <= 1e-9 + 1e-6 * want;
}

/* With one and two degrees of freedom the tail has a closed form. */
static void the_tail_of_students_t_is_right(void **state)
{
	(void)state;
	for (double t = 0.01; t < 1e6; t *= 3) {
		assert_true(is_near(diff_student(t, 1), 1 - 2 * atan(t) / M_PI));
		assert_true(is_near(diff_student(-t, 2), 1 - t / sqrt(t * t + 2)));
	}
	assert_true(fabs(diff_student(2.228, 10) - 0.05) < 1e-4); /* of tables */
	assert_true(fabs(diff_student(2.042, 30) - 0.05) < 1e-4);
	assert_true(fabs(diff_student(3.646, 30) - 0.001) < 1e-5);
	assert_true(diff_student(0, 5) == 1);
}

static void holm_takes_the_smallest_times_all_and_never_goes_back(void **state)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 };

	(void)state;
	assert_int_equal(diff_holm(p, 4), 0);
	assert_true(is_near(p[0], 0.03) && is_near(p[1], 0.06) && is_near(p[2], 0.06) &&
	            is_near(p[3], 0.02));
	p[0] = 0.9;
	p[1] = 0.8;
	assert_int_equal(diff_holm(p, 2), 0);
	assert_true(p[0] == 1 && p[1] == 1);
	assert_int_equal(diff_holm(p, 0), 0);
}

static void few_values_prove_little(void **state)
{
	const double low[] = { 1, 1, 1, 1 }, high[] = { 9, 9, 9, 9 };

	(void)state;
	assert_true(is_near(diff_p_value(low, 4, high, 4), 2.0 / 70)); /* 8 over 4 */
	assert_true(diff_p_value(low, 4, low, 4) == 1);
	assert_true(diff_p_value(low, 1, high, 4) == 1);
	assert_true(diff_p_value(low, 0, high, 0) == 1);
}

/* The same values: once mixed, and once with the small ones first, as of something that grew meanwhile. */
static void neighbours_that_are_alike_prove_less(void **state)
{
	const double mixed[] = { 10, 17, 12, 15, 11, 16, 13, 14 },
		     rising[] = { 10, 11, 12, 13, 14, 15, 16, 17 };
	double other_mixed[8], other_rising[8], p_mixed, p_rising;

	(void)state;
	for (int i = 0; i < 8; i++) {
		other_mixed[i] = mixed[i] + 5;
		other_rising[i] = rising[i] + 5;
	}
	p_mixed = diff_p_value(mixed, 8, other_mixed, 8);
	p_rising = diff_p_value(rising, 8, other_rising, 8);
	assert_true(p_mixed < 0.01);
	assert_true(p_rising > 5 * p_mixed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tail_of_students_t_is_right),
		cmocka_unit_test(holm_takes_the_smallest_times_all_and_never_goes_back),
		cmocka_unit_test(few_values_prove_little),
		cmocka_unit_test(neighbours_that_are_alike_prove_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
