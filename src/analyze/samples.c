#include "analyze/samples.h"

#include <stdlib.h>

#include "analyze/sort_u64.h"
#include "base/grow.h"
#include "base/hist.h"

#define MAX_BINS  20
#define NR_BOUNDS 58 /* the last one is 10^19 */

void samples_add(struct samples *s, uint64_t value)
{
	if (GROW(s->values, s->capacity, s->nr)) {
		s->has_failed = true;
		return;
	}
	s->values[s->nr++] = value;
	s->is_sorted = false;
}

void samples_done(struct samples *s)
{
	free(s->values);
	*s = (struct samples){ 0 };
}

uint64_t samples_sum(const struct samples *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->nr; i++)
		sum += s->values[i];
	return sum;
}

double samples_mean(const struct samples *s)
{
	return s->nr ? (double)samples_sum(s) / (double)s->nr : 0;
}

static void sort(struct samples *s)
{
	if (!s->is_sorted)
		sort_u64(s->values, s->nr);
	s->is_sorted = true;
}

uint64_t samples_percentile(struct samples *s, uint32_t p10000)
{
	sort(s);
	return s->nr ? percentile_of_sorted(s->values, s->nr, p10000) : 0;
}

static void add(struct samples *s, struct report *r, const char *key, uint64_t value)
{
	if (s->nr)
		report_u64(r, key, value);
	else
		report_null(r, key);
}

void samples_report(struct samples *s, struct report *r, const char *suffix)
{
	sort(s);
	add(s, r, report_printf(r, "min%s", suffix), s->nr ? s->values[0] : 0);
	add(s, r, report_printf(r, "max%s", suffix), s->nr ? s->values[s->nr - 1] : 0);
	add(s, r, report_printf(r, "avg%s", suffix), (uint64_t)samples_mean(s));
	add(s, r, report_printf(r, "p50%s", suffix), samples_percentile(s, HIST_P(50)));
	add(s, r, report_printf(r, "p95%s", suffix), samples_percentile(s, HIST_P(95)));
	add(s, r, report_printf(r, "p99%s", suffix), samples_percentile(s, HIST_P(99)));
	add(s, r, report_printf(r, "p999%s", suffix), samples_percentile(s, HIST_P(99.9)));
}

void samples_report_object(struct samples *s, struct report *r, const char *key)
{
	if (!s->nr) {
		report_null(r, key);
		return;
	}
	report_begin_object(r, key);
	report_u64(r, "count", s->nr);
	report_u64(r, "min", samples_percentile(s, 0));
	report_u64(r, "max", s->values[s->nr - 1]);
	report_double(r, "mean", samples_mean(s), 3);
	report_u64(r, "median", samples_percentile(s, HIST_P(50)));
	report_u64(r, "p95", samples_percentile(s, HIST_P(95)));
	report_u64(r, "p99", samples_percentile(s, HIST_P(99)));
	report_u64(r, "p999", samples_percentile(s, HIST_P(99.9)));
	report_end_object(r);
}

/* 1, 2, 5, 10, 20, ... as far as 64 bits go: bin b holds values below the bound b, and not below the one before. */
static void make_bounds(uint64_t *bounds)
{
	static const uint64_t steps[] = { 1, 2, 5 };
	uint64_t decade = 1;

	for (uint32_t i = 0; i < NR_BOUNDS; i++) {
		bounds[i] = decade * steps[i % 3];
		decade *= i % 3 == 2 ? 10 : 1;
	}
}

static uint32_t bin_of(const uint64_t *bounds, uint64_t value)
{
	uint32_t low = 0, high = NR_BOUNDS;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (value < bounds[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void report_bin(struct report *r, const uint64_t *bounds, uint32_t first, uint32_t bin,
                       uint64_t count)
{
	report_begin_object(r, NULL);
	report_u64(r, "at_least_ns", first ? bounds[first - 1] : 0);
	if (bin < NR_BOUNDS)
		report_u64(r, "below_ns", bounds[bin]);
	else
		report_null(r, "below_ns");
	report_u64(r, "count", count);
	report_end_object(r);
}

void samples_report_histogram(const struct samples *s, struct report *r, const char *key)
{
	uint64_t bins[NR_BOUNDS + 1] = { 0 }, bounds[NR_BOUNDS], shared = 0;
	uint32_t first = NR_BOUNDS, last = 0, shown;

	make_bounds(bounds);
	for (size_t i = 0; i < s->nr; i++) {
		uint32_t bin = bin_of(bounds, s->values[i]);

		bins[bin]++;
		first = bin < first ? bin : first;
		last = bin > last ? bin : last;
	}
	report_begin_array(r, key);
	shown = s->nr && last - first >= MAX_BINS ? last - MAX_BINS + 1 : first;
	for (uint32_t i = first; s->nr && i <= last; i++) {
		if (i < shown)
			shared += bins[i];
		else
			report_bin(r, bounds, i == shown ? first : i, i,
			           bins[i] + (i == shown ? shared : 0));
	}
	report_end_array(r);
}
