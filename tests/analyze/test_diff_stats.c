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

static double uniform(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(*seed >> 33) + 0.5) / 2147483648.0;
}

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

static void students_t_is_found_from_its_tail(void **state)
{
	(void)state;
	assert_true(fabs(diff_student_t(0.05, 4) - 2.776445) < 1e-5); /* of tables */
	assert_true(fabs(diff_student_t(0.05, 15) - 2.131450) < 1e-5);
	assert_true(fabs(diff_student_t(0.01, 1) - 63.65674) < 1e-3);
}

/* With a spread of nothing it is exact; turned around, it is the reciprocal. */
static void the_ratio_of_two_means_has_an_interval(void **state)
{
	const double a[] = { 9, 11, 10, 9, 11, 10, 10, 10 },
		     b[] = { 29, 31, 30, 30, 30, 31, 29, 30 }, ones[] = { 1, 1, 1 },
		     twos[] = { 2, 2, 2 }, none[] = { 0, 0, 0 };
	struct diff_ratio r = diff_ratio_of(a, 8, b, 8), back = diff_ratio_of(b, 8, a, 8);

	(void)state;
	assert_true(r.is_known && is_near(r.value, 3) && r.low > 2.7 && r.low < 3 && r.high > 3 &&
	            r.high < 3.4);
	assert_true(is_near(r.low * back.high, 1) && is_near(r.high * back.low, 1));
	r = diff_ratio_of(ones, 3, twos, 3);
	assert_true(is_near(r.low, 2) && is_near(r.high, 2));
	assert_false(diff_ratio_of(none, 3, twos, 3).is_known);
	assert_false(diff_ratio_of(ones, 3, none, 3).is_known);
	assert_false(diff_ratio_of(ones, 1, twos, 3).is_known);
}

#define NR_TRUTHS 4000

/* The true ratio, which the values are made from, is in the interval as often as it says. */
static void the_interval_holds_the_truth(void **state)
{
	uint64_t seed = 11;
	int nr_held = 0;

	(void)state;
	for (int i = 0; i < NR_TRUTHS; i++) {
		double a[16], b[16];
		struct diff_ratio r;

		for (int k = 0; k < 16; k++) {
			a[k] = 100 + 20 * normal(&seed);
			b[k] = 280 + 40 * normal(&seed);
		}
		r = diff_ratio_of(a, 16, b, 16);
		nr_held += r.low <= 2.8 && r.high >= 2.8;
	}
	print_message("# 2.8 is within %d of %d intervals\n", nr_held, NR_TRUTHS);
	assert_true(nr_held >= NR_TRUTHS * 94 / 100);
}

static struct diff_sample recording(uint64_t *seed, double mean, double between, double within)
{
	double off = exp(between * normal(seed)), parts[16];

	for (int i = 0; i < 16; i++)
		parts[i] = mean * off * exp(within * normal(seed));
	return diff_sample_of(parts, 16);
}

#define NR_FAMILIES 4000
#define NR_METRICS  8

/* Sets of three recordings of the same thing, whose recordings differ much, little, or not at all. */
static void equal_sets_do_not_differ(void **state)
{
	static const double between[] = { 0, 0.02, 0.1, 0.5 };
	uint64_t seed = 5;

	(void)state;
	for (size_t kind = 0; kind < sizeof(between) / sizeof(between[0]); kind++) {
		int nr_false = 0;

		for (int i = 0; i < NR_FAMILIES; i++) {
			double p[NR_METRICS];
			bool is_false = false;

			for (int m = 0; m < NR_METRICS; m++) {
				struct diff_sample a[3], b[3];

				for (int k = 0; k < 3; k++) {
					a[k] = recording(&seed, 50, between[kind], 0.2);
					b[k] = recording(&seed, 50, between[kind], 0.2);
				}
				p[m] = diff_p_value_sets(a, 3, b, 3);
			}
			assert_int_equal(diff_holm(p, NR_METRICS), 0);
			for (int m = 0; m < NR_METRICS; m++)
				is_false = is_false || p[m] <= 0.005;
			nr_false += is_false;
		}
		print_message("# %d of %d families with a false claim\n", nr_false, NR_FAMILIES);
		assert_true(nr_false <= NR_FAMILIES * 75 / 10000); /* 0.5 %, and chance */
	}
}

static void sets_that_differ_do(void **state)
{
	struct diff_sample a[3], b[3], alike[3] = { { 10, 4 }, { 10, 4 }, { 10, 4 } },
				       other[3] = { { 11, 4 }, { 11, 4 }, { 11, 4 } };
	struct diff_ratio r;
	uint64_t seed = 9;

	(void)state;
	for (int k = 0; k < 3; k++) {
		a[k] = recording(&seed, 50, 0.05, 0.2);
		b[k] = recording(&seed, 150, 0.05, 0.2);
	}
	assert_true(diff_p_value_sets(a, 3, b, 3) < 0.005 / NR_METRICS);
	r = diff_ratio_of_sets(a, 3, b, 3);
	assert_true(r.is_known && r.low < 3 && r.high > 3 && r.low > 2 && r.high < 4.5);
	assert_true(diff_p_value_sets(a, 2, b, 3) == 1);
	assert_true(diff_interval_of_set(a, 3) > 0 && diff_interval_of_set(a, 2) < 0);
	/* Alike by chance: the parts of each say that it could as well have been the other. */
	assert_true(diff_p_value_sets(alike, 3, other, 3) > 0.3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tail_of_students_t_is_right),
		cmocka_unit_test(holm_takes_the_smallest_times_all_and_never_goes_back),
		cmocka_unit_test(few_values_prove_little),
		cmocka_unit_test(neighbours_that_are_alike_prove_less),
		cmocka_unit_test(students_t_is_found_from_its_tail),
		cmocka_unit_test(the_ratio_of_two_means_has_an_interval),
		cmocka_unit_test(the_interval_holds_the_truth),
		cmocka_unit_test(equal_sets_do_not_differ),
		cmocka_unit_test(sets_that_differ_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
