/*
 * analyze/diff_stats — whether two series of values have the same mean: a probability that is sound for parts of recordings.
 *
 * The values of a side are those of parts of one recording that follow each other, few, and the next is often like the one
 * before. So the test is Welch's, which needs no equal spread; of logarithms where all values are positive, as times vary
 * by factors; the number of values is reduced by how much neighbours are alike (first-order autocorrelation); and the
 * result is never smaller than the share of one split among all ways to split the values of both sides into two, which
 * is all that so few values can prove. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_VALUES_MAX 1024

/* Two-sided, for values in order of time, at most DIFF_VALUES_MAX. 1 for fewer than two values on a side. */
double diff_p_value(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b);

/* The mean of b over that of a, and its 95 % confidence interval. */
struct diff_ratio {
	bool is_known; /* not where a mean is not positive, or a side has fewer than two values */
	double value, low, high;
};

/*
 * Of the same series. The spread of the means is that of diff_p_value(); the interval is one of the logarithm of the ratio, so that
 * both ways of looking at it (b over a, a over b) say the same.
 */
struct diff_ratio diff_ratio_of(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b);

/* What one recording of a set says: a mean, and the square of its standard error. */
struct diff_sample {
	double mean;
	double error;
};

/* Of the parts of a recording, in order of time; nr > 0, at most DIFF_VALUES_MAX. */
struct diff_sample diff_sample_of(const double *values, uint32_t nr);
/*
 * The same two questions for two sets of recordings that were made independently of each other: each is one value. The spread of a
 * set is never taken to be smaller than what the parts of its recordings say, so that few recordings that happen to be alike
 * prove nothing. Sets of at least DIFF_MIN_SET; below, p is 1 and the ratio unknown.
 */
#define DIFF_MIN_SET 3
double diff_p_value_sets(const struct diff_sample *a, uint32_t nr_a, const struct diff_sample *b,
                         uint32_t nr_b);
struct diff_ratio diff_ratio_of_sets(const struct diff_sample *a, uint32_t nr_a,
                                     const struct diff_sample *b, uint32_t nr_b);
/* Half the width of the 95 % confidence interval of the mean of a set; negative for fewer than DIFF_MIN_SET. */
double diff_interval_of_set(const struct diff_sample *a, uint32_t nr);

/*
 * Holm's correction: p of a family of tests becomes what it is worth among all of them. If all that is below a limit is called a
 * change, the chance that any of these is false is at most that limit, however the tests depend on each other. -ENOMEM.
 */
int diff_holm(double *p, size_t nr);

/* The two-sided tail of Student's t. */
double diff_student(double t, double freedom);
/* The t whose tail is that. */
double diff_student_t(double p, double freedom);
