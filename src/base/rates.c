#include "base/rates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hist.h"

#define EXACT_BELOW  1024U
#define LEADING_BITS 7U

/* How many values share the bin of v. */
static uint64_t width_at(uint64_t v)
{
	uint32_t top;

	if (v < EXACT_BELOW)
		return 1;
	top = 63U - (uint32_t)__builtin_clzll(v);
	return 1ULL << (top + 1 - LEADING_BITS);
}

/* Index of the first bin whose value is not below the given one; nr when there is none. */
static uint32_t lower_bound(const struct rates *r, uint64_t value)
{
	uint32_t lo = 0, hi = r->nr;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r->bins[mid].value < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int rates_add(struct rates *r, uint64_t value, uint64_t count)
{
	uint64_t floor = value & ~(width_at(value) - 1);
	uint32_t at;
	int err;

	if (count == 0)
		return 0;
	at = lower_bound(r, floor);
	if (at == r->nr || r->bins[at].value != floor) {
		err = GROW(r->bins, r->capacity, r->nr);
		if (err)
			return err;
		memmove(&r->bins[at + 1], &r->bins[at], (r->nr - at) * sizeof(*r->bins));
		r->bins[at] = (struct rates_bin){ .value = floor };
		r->nr++;
	}
	r->bins[at].count += count;
	r->count += count;
	if (value > r->max)
		r->max = value;
	return 0;
}

static uint32_t merge_bins(struct rates_bin *out, const struct rates *a, const struct rates *b)
{
	uint32_t i = 0, j = 0, nr = 0;

	while (i < a->nr || j < b->nr) {
		if (j == b->nr || (i < a->nr && a->bins[i].value < b->bins[j].value)) {
			out[nr++] = a->bins[i++];
		} else if (i == a->nr || b->bins[j].value < a->bins[i].value) {
			out[nr++] = b->bins[j++];
		} else {
			out[nr] = a->bins[i++];
			out[nr++].count += b->bins[j++].count;
		}
	}
	return nr;
}

int rates_merge(struct rates *into, const struct rates *from)
{
	uint32_t capacity = into->nr + from->nr;
	struct rates_bin *bins;

	if (from->count == 0)
		return 0;
	/* A new array: it leaves into untouched on failure, and merges in one pass. */
	bins = calloc(capacity, sizeof(*bins));
	if (!bins)
		return -ENOMEM;
	into->nr = merge_bins(bins, into, from);
	into->count += from->count;
	if (from->max > into->max)
		into->max = from->max;
	free(into->bins);
	into->bins = bins;
	into->capacity = capacity;
	return 0;
}

uint64_t rates_percentile(const struct rates *r, uint32_t p10000)
{
	uint64_t rank, before = 0;

	if (r->count == 0)
		return 0;
	rank = percentile_rank(r->count, p10000);
	if (rank >= r->count)
		return r->max;
	for (uint32_t i = 0; i < r->nr; i++) {
		uint64_t middle = r->bins[i].value + width_at(r->bins[i].value) / 2;

		before += r->bins[i].count;
		if (before >= rank)
			return middle < r->max ? middle : r->max;
	}
	return r->max; /* not reached: the bins add up to count */
}

void rates_done(struct rates *r)
{
	free(r->bins);
	memset(r, 0, sizeof(*r));
}
