/*
 * analyses/outliers/outlier_math — which numbers of many lie outside, by four methods. Pure.
 *
 *   IQR         beyond k quartile ranges below the first or above the third quartile (k 1.5); quartiles and median
 *               are interpolated between the two nearest elements.
 *   MAD         0.6745 * |x - median| / (median of |x - median|) above k (3.5).
 *   StdDev      more than k standard deviations (3, of the whole population) from the mean.
 *   Percentile  above the k-th percentile (99), by nearest rank.
 * Where the middle half of all numbers is the same, quartile range and MAD are 0 and say nothing of the rest: then
 * the mean deviation from the median takes their place, scaled so that it is the same for normal data. Where
 * all numbers are the same, none lies outside.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outlier_method {
	OUTLIER_IQR,
	OUTLIER_MAD,
	OUTLIER_STDDEV,
	OUTLIER_PERCENTILE,
	OUTLIER_METHODS
};

struct outlier_bounds {
	enum outlier_method method;
	size_t nr;       /* numbers examined */
	size_t nr_below; /* lower */
	size_t nr_above; /* upper */
	double lower, upper;
	double median;
	double q1, q3, iqr; /* of IQR */
	double mean;
	double std_dev;      /* of StdDev */
	double mad;          /* of MAD */
	double spread;       /* by which severity counts; 0 = nothing lies outside */
	bool is_spread_mean; /* the mean deviation had to take the place */
};

/* NULL for a name that is none of IQR, MAD, StdDev, Percentile; NULL as a name is IQR. */
const enum outlier_method *outlier_method_find(const char *name);
const char *outlier_method_name(enum outlier_method method);
double outlier_method_default(enum outlier_method method); /* k */

/* Values ascending. All zero for none. */
void outlier_bounds(const uint64_t *sorted, size_t nr, enum outlier_method method, double k,
                    struct outlier_bounds *out);
bool outlier_is_high(const struct outlier_bounds *b, uint64_t value);
bool outlier_is_low(const struct outlier_bounds *b, uint64_t value);
/*
 * How far outside, in the units of the method: quartile ranges beyond the quartile, MAD scores, standard
 * deviations, or distances between median and threshold. Finite; 0 where there is no spread.
 */
double outlier_severity(const struct outlier_bounds *b, uint64_t value);
/* How many percent of the values are lower. */
double outlier_rank_percent(const uint64_t *sorted, size_t nr, uint64_t value);
/* Linear between the elements around (nr - 1) * p. */
double outlier_quantile(const uint64_t *sorted, size_t nr, double p);
