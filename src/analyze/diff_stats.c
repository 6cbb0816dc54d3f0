#include "analyze/diff_stats.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define MAX_LIKENESS 0.9
#define MIN_FREEDOM  2.0
#define STEPS        300
#define TINY         1e-300
#define CLOSE        1e-14
#define TOO_FAR      1e12
#define HALVINGS     100
#define DIFF_OUTSIDE 0.05 /* of a 95 % interval */

/* One denominator of the continued fraction, kept from 0. */
static double apart(double value)
{
	return fabs(value) < TINY ? TINY : value;
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / apart(1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m <= STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / apart(1 + even * d);
		c = apart(1 + even / c);
		h *= d * c;
		d = 1 / apart(1 + odd * d);
		c = apart(1 + odd / c);
		step = d * c;
		h *= step;
		if (fabs(step - 1) < CLOSE)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double diff_student(double t, double freedom)
{
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* The tail falls as t grows: halving finds it. */
double diff_student_t(double p, double freedom)
{
	double low = 0, high = 1;

	while (diff_student(high, freedom) > p && high < TOO_FAR)
		high *= 2;
	for (int i = 0; i < HALVINGS; i++) {
		double mid = (low + high) / 2;

		if (diff_student(mid, freedom) > p)
			low = mid;
		else
			high = mid;
	}
	return high;
}

struct series_stats {
	double mean;
	double error;   /* variance of the mean */
	double freedom; /* effective number of values, less one */
};

/*
 * How alike neighbours are, 0 = not at all. An estimate from few values is too low by about (1 + 4r)/n, which is added. A
 * negative one would make the mean more certain than independent values do: not taken.
 */
static double likeness(const double *values, uint32_t nr, double mean, double squares)
{
	double products = 0, r;

	for (uint32_t i = 1; i < nr; i++)
		products += (values[i - 1] - mean) * (values[i] - mean);
	r = squares > 0 ? products / squares : 0;
	r += (1 + 4 * (r > 0 ? r : 0)) / nr;
	return r < 0 ? 0 : r > MAX_LIKENESS ? MAX_LIKENESS : r;
}

static struct series_stats series_of(const double *given, uint32_t nr, bool is_log)
{
	double values[DIFF_VALUES_MAX], sum = 0, squares = 0, r, effective;
	struct series_stats s;

	assert(nr <= DIFF_VALUES_MAX);
	for (uint32_t i = 0; i < nr; i++) {
		values[i] = is_log ? log(given[i]) : given[i];
		sum += values[i];
	}
	s.mean = sum / nr;
	for (uint32_t i = 0; i < nr; i++)
		squares += (values[i] - s.mean) * (values[i] - s.mean);
	r = likeness(values, nr, s.mean, squares);
	effective = nr * (1 - r) / (1 + r);
	s.error = squares / (nr - 1) / effective;
	s.freedom = effective > 2 ? effective - 1 : 1;
	return s;
}

static bool is_positive(const double *values, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (values[i] <= 0)
			return false;
	return true;
}

/* Two of all splits are as extreme as the one at hand, if it is the most extreme: this one and its mirror image. */
static double least_p(uint32_t nr_a, uint32_t nr_b)
{
	return 2 * exp(lgamma(nr_a + 1.0) + lgamma(nr_b + 1.0) - lgamma(nr_a + nr_b + 1.0));
}

/* Of Welch's statistic, from the variances of both means. */
static double welch_freedom(const struct series_stats *x, const struct series_stats *y)
{
	double error = x->error + y->error;
	double freedom = error * error /
	                 (x->error * x->error / x->freedom + y->error * y->error / y->freedom);

	return freedom > MIN_FREEDOM ? freedom : MIN_FREEDOM;
}

static double welch(const struct series_stats *x, const struct series_stats *y)
{
	double error = x->error + y->error;

	if (x->mean == y->mean)
		return 1;
	return error > 0 ? diff_student((x->mean - y->mean) / sqrt(error), welch_freedom(x, y)) : 0;
}

double diff_p_value(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b)
{
	struct series_stats x, y;
	double p, least;
	bool is_log;

	if (nr_a < 2 || nr_b < 2)
		return 1;
	is_log = is_positive(a, nr_a) && is_positive(b, nr_b);
	x = series_of(a, nr_a, is_log);
	y = series_of(b, nr_b, is_log);
	p = welch(&x, &y);
	least = least_p(nr_a, nr_b);
	if (p < least)
		p = least;
	return p < 1 ? p : 1;
}

/* The variance of a logarithm is that of the value over its square, near enough where the mean is known well. */
static void to_log(struct series_stats *s)
{
	s->error /= s->mean * s->mean;
	s->mean = log(s->mean);
}

static struct diff_ratio ratio_of(struct series_stats x, struct series_stats y)
{
	struct diff_ratio r = { .is_known = x.mean > 0 && y.mean > 0 };
	double half;

	if (!r.is_known)
		return r;
	r.value = y.mean / x.mean;
	to_log(&x);
	to_log(&y);
	half = x.error + y.error > 0 ? diff_student_t(DIFF_OUTSIDE, welch_freedom(&x, &y)) *
	                                       sqrt(x.error + y.error)
	                             : 0;
	r.low = r.value * exp(-half);
	r.high = r.value * exp(half);
	r.is_known = isfinite(r.high);
	return r;
}

struct diff_ratio diff_ratio_of(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b)
{
	if (nr_a < 2 || nr_b < 2)
		return (struct diff_ratio){ 0 };
	return ratio_of(series_of(a, nr_a, false), series_of(b, nr_b, false));
}

struct diff_sample diff_sample_of(const double *values, uint32_t nr)
{
	struct series_stats s = { .mean = values[0] };

	if (nr > 1)
		s = series_of(values, nr, false);
	return (struct diff_sample){ s.mean, s.error };
}

static struct series_stats series_of_set(const struct diff_sample *given, uint32_t nr, bool is_log)
{
	struct series_stats s = { .freedom = nr - 1.0 };
	double squares = 0, within = 0;

	for (uint32_t i = 0; i < nr; i++) {
		double mean = given[i].mean;

		s.mean += is_log ? log(mean) : mean;
		within += is_log ? given[i].error / (mean * mean) : given[i].error;
	}
	s.mean /= nr;
	for (uint32_t i = 0; i < nr; i++) {
		double off = (is_log ? log(given[i].mean) : given[i].mean) - s.mean;

		squares += off * off;
	}
	s.error = fmax(squares / (nr - 1.0), within / nr) / nr;
	return s;
}

static bool is_set_positive(const struct diff_sample *values, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (values[i].mean <= 0)
			return false;
	return true;
}

double diff_p_value_sets(const struct diff_sample *a, uint32_t nr_a, const struct diff_sample *b,
                         uint32_t nr_b)
{
	struct series_stats x, y;
	bool is_log;

	if (nr_a < DIFF_MIN_SET || nr_b < DIFF_MIN_SET)
		return 1;
	is_log = is_set_positive(a, nr_a) && is_set_positive(b, nr_b);
	x = series_of_set(a, nr_a, is_log);
	y = series_of_set(b, nr_b, is_log);
	return welch(&x, &y);
}

struct diff_ratio diff_ratio_of_sets(const struct diff_sample *a, uint32_t nr_a,
                                     const struct diff_sample *b, uint32_t nr_b)
{
	if (nr_a < DIFF_MIN_SET || nr_b < DIFF_MIN_SET)
		return (struct diff_ratio){ 0 };
	return ratio_of(series_of_set(a, nr_a, false), series_of_set(b, nr_b, false));
}

double diff_interval_of_set(const struct diff_sample *a, uint32_t nr)
{
	struct series_stats s;

	if (nr < DIFF_MIN_SET)
		return -1;
	s = series_of_set(a, nr, false);
	return diff_student_t(DIFF_OUTSIDE, s.freedom) * sqrt(s.error);
}

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	return (left->p > right->p) - (left->p < right->p);
}

int diff_holm(double *p, size_t nr)
{
	SCOPED(scoped_free) struct ranked *order = calloc(nr ? nr : 1, sizeof(*order));
	double worst = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		order[i] = (struct ranked){ p[i], i };
	if (nr)
		qsort(order, nr, sizeof(*order), by_p);
	for (size_t i = 0; i < nr; i++) {
		double adjusted = order[i].p * (double)(nr - i);

		worst = adjusted > worst ? adjusted : worst;
		p[order[i].at] = worst < 1 ? worst : 1;
	}
	return 0;
}
