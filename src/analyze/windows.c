#include "analyze/windows.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_SECOND 1e9

int windows_init(struct windows *w, uint64_t from_ns, uint64_t span_ns, uint32_t nr_keys)
{
	uint64_t nr = span_ns / WINDOWS_MIN_NS;

	*w = (struct windows){ .from_ns = from_ns, .span_ns = span_ns, .nr_keys = nr_keys };
	w->nr = nr < 1 ? 1 : (nr > WINDOWS_MAX ? WINDOWS_MAX : (uint32_t)nr);
	w->window_ns = span_ns / w->nr + (span_ns % w->nr != 0);
	if (!w->window_ns)
		w->window_ns = 1;
	w->sums = calloc((size_t)w->nr * (nr_keys + 1U), sizeof(*w->sums));
	return w->sums ? 0 : -ENOMEM;
}

void windows_done(struct windows *w)
{
	free(w->sums);
	w->sums = NULL;
}

static uint64_t *sums_of(const struct windows *w, uint32_t key)
{
	return w->sums + (size_t)key * w->nr;
}

/* The last moment of all belongs to the last window. */
static uint32_t window_of(const struct windows *w, uint64_t ts_ns)
{
	uint64_t i = (ts_ns - w->from_ns) / w->window_ns;

	return i < w->nr ? (uint32_t)i : w->nr - 1;
}

void windows_count(struct windows *w, uint32_t key, uint64_t ts_ns)
{
	if (key < w->nr_keys && ts_ns >= w->from_ns && ts_ns <= w->from_ns + w->span_ns)
		sums_of(w, key)[window_of(w, ts_ns)]++;
}

static uint64_t begin_of(const struct windows *w, uint32_t i)
{
	uint64_t off_ns = i * w->window_ns;

	return w->from_ns + (off_ns < w->span_ns ? off_ns : w->span_ns);
}

static double rate(const struct windows *w, uint64_t sum, uint32_t first, uint32_t end)
{
	uint64_t ns = begin_of(w, end) - begin_of(w, first);

	return ns ? (double)sum * NS_PER_SECOND / (double)ns : 0;
}

bool windows_worst(const struct windows *w, uint32_t key, double per_second, struct stretch *out)
{
	const uint64_t *sums = sums_of(w, key);
	uint64_t best = 0, sum = 0;

	for (uint32_t i = 0, first = 0; i < w->nr; i++) {
		if (!(rate(w, sums[i], i, i + 1) > per_second)) {
			first = i + 1;
			sum = 0;
			continue;
		}
		sum += sums[i];
		if (sum <= best)
			continue;
		best = sum;
		*out = (struct stretch){ begin_of(w, first), begin_of(w, i + 1),
			                 rate(w, sum, first, i + 1) };
	}
	return best > 0;
}

uint64_t windows_sum(const struct windows *w, uint32_t key, const struct stretch *in)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < w->nr; i++)
		if (begin_of(w, i) >= in->from_ns && begin_of(w, i + 1) <= in->to_ns)
			sum += sums_of(w, key)[i];
	return sum;
}
