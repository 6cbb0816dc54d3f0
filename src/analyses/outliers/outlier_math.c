#include "analyses/outliers/outlier_math.h"

#include <math.h>
#include <string.h>

#include "base/hist.h"

#define NORMAL_MAD  0.6745   /* median deviation of normal data, in standard deviations */
#define NORMAL_IQR  1.349    /* quartile range of normal data */
#define NORMAL_MEAN 1.253314 /* standard deviations per mean deviation */

static const struct {
	const char *name;
	double k;
} methods[OUTLIER_METHODS] = {
	[OUTLIER_IQR] = { "IQR", 1.5 },
	[OUTLIER_MAD] = { "MAD", 3.5 },
	[OUTLIER_STDDEV] = { "StdDev", 3 },
	[OUTLIER_PERCENTILE] = { "Percentile", 99 },
};

const enum outlier_method *outlier_method_find(const char *name)
{
	static const enum outlier_method all[OUTLIER_METHODS] = { OUTLIER_IQR, OUTLIER_MAD,
		                                                  OUTLIER_STDDEV,
		                                                  OUTLIER_PERCENTILE };

	for (size_t i = 0; i < OUTLIER_METHODS; i++)
		if (!name || !strcmp(methods[all[i]].name, name))
			return &all[i];
	return NULL;
}

const char *outlier_method_name(enum outlier_method method)
{
	return methods[method].name;
}

double outlier_method_default(enum outlier_method method)
{
	return methods[method].k;
}

double outlier_quantile(const uint64_t *sorted, size_t nr, double p)
{
	double at = (double)(nr - 1) * p, below = floor(at);
	size_t i = (size_t)below;

	if (i + 1 >= nr)
		return (double)sorted[nr - 1];
	return (double)sorted[i] + (at - below) * ((double)sorted[i + 1] - (double)sorted[i]);
}

static double mean_of(const uint64_t *sorted, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += (double)sorted[i];
	return sum / (double)nr;
}

static double std_dev_of(const uint64_t *sorted, size_t nr, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += ((double)sorted[i] - mean) * ((double)sorted[i] - mean);
	return sqrt(sum / (double)nr);
}

static double mean_deviation(const uint64_t *sorted, size_t nr, double median)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += fabs((double)sorted[i] - median);
	return sum / (double)nr;
}

/* Deviations in ascending order come from both sides of the median, nearest first. */
static double median_deviation(const uint64_t *sorted, size_t nr, double median)
{
	size_t right = 0, left;
	double last = 0, before = 0;

	while (right < nr && (double)sorted[right] < median)
		right++;
	left = right;
	for (size_t i = 0; i <= nr / 2; i++) {
		double down = left ? median - (double)sorted[left - 1] : INFINITY;
		double up = right < nr ? (double)sorted[right] - median : INFINITY;

		before = last;
		last = down < up ? down : up;
		if (down < up)
			left--;
		else
			right++;
	}
	return nr % 2 ? last : (before + last) / 2;
}

static size_t nr_lower(const uint64_t *sorted, size_t nr, double than)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if ((double)sorted[mid] < than)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static size_t nr_higher(const uint64_t *sorted, size_t nr, double than)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if ((double)sorted[mid] <= than)
			low = mid + 1;
		else
			high = mid;
	}
	return nr - low;
}

static void by_iqr(const uint64_t *sorted, size_t nr, double k, struct outlier_bounds *b)
{
	b->q1 = outlier_quantile(sorted, nr, 0.25);
	b->q3 = outlier_quantile(sorted, nr, 0.75);
	b->iqr = b->spread = b->q3 - b->q1;
	if (b->spread <= 0) {
		b->is_spread_mean = true;
		b->spread = NORMAL_IQR * NORMAL_MEAN * mean_deviation(sorted, nr, b->median);
	}
	b->lower = b->q1 - k * b->spread;
	b->upper = b->q3 + k * b->spread;
}

static void by_mad(const uint64_t *sorted, size_t nr, double k, struct outlier_bounds *b)
{
	b->mad = median_deviation(sorted, nr, b->median);
	b->spread = b->mad / NORMAL_MAD;
	if (b->spread <= 0) {
		b->is_spread_mean = true;
		b->spread = NORMAL_MEAN * mean_deviation(sorted, nr, b->median);
	}
	b->lower = b->median - k * b->spread;
	b->upper = b->median + k * b->spread;
}

static void by_std_dev(const uint64_t *sorted, size_t nr, double k, struct outlier_bounds *b)
{
	b->std_dev = b->spread = std_dev_of(sorted, nr, b->mean);
	b->lower = b->mean - k * b->spread;
	b->upper = b->mean + k * b->spread;
}

static void by_percentile(const uint64_t *sorted, size_t nr, double k, struct outlier_bounds *b)
{
	b->upper = (double)percentile_of_sorted(sorted, nr, HIST_P(k));
	b->lower = 0; /* nothing lies below */
	b->spread = b->upper - b->median > 1 ? b->upper - b->median : 1;
}

void outlier_bounds(const uint64_t *sorted, size_t nr, enum outlier_method method, double k,
                    struct outlier_bounds *out)
{
	static void (*const by[OUTLIER_METHODS])(const uint64_t *, size_t, double,
	                                         struct outlier_bounds *) = {
		[OUTLIER_IQR] = by_iqr,
		[OUTLIER_MAD] = by_mad,
		[OUTLIER_STDDEV] = by_std_dev,
		[OUTLIER_PERCENTILE] = by_percentile,
	};

	*out = (struct outlier_bounds){ .method = method, .nr = nr };
	if (!nr)
		return;
	out->median = outlier_quantile(sorted, nr, 0.5);
	out->mean = mean_of(sorted, nr);
	by[method](sorted, nr, k, out);
	if (out->spread <= 0)
		return;
	out->nr_below = nr_lower(sorted, nr, out->lower);
	out->nr_above = nr_higher(sorted, nr, out->upper);
}

bool outlier_is_high(const struct outlier_bounds *b, uint64_t value)
{
	return b->spread > 0 && (double)value > b->upper;
}

bool outlier_is_low(const struct outlier_bounds *b, uint64_t value)
{
	return b->spread > 0 && (double)value < b->lower;
}

double outlier_severity(const struct outlier_bounds *b, uint64_t value)
{
	double x = (double)value;

	if (b->spread <= 0)
		return 0;
	if (b->method == OUTLIER_IQR)
		return (x > b->q3 ? x - b->q3 : fmax(b->q1 - x, 0)) / b->spread;
	if (b->method == OUTLIER_STDDEV)
		return fabs(x - b->mean) / b->spread;
	return fabs(x - b->median) / b->spread;
}

double outlier_rank_percent(const uint64_t *sorted, size_t nr, uint64_t value)
{
	return nr ? 100.0 * (double)nr_lower(sorted, nr, (double)value) / (double)nr : 0;
}
