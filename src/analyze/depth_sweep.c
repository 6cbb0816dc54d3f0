#include "analyze/depth_sweep.h"

#include <string.h>

#include "analyze/sort_u64.h"

#define P99 0.99

struct samples depth_join(const struct samples *slices, const struct samples *ended,
                          uint64_t *others)
{
	size_t nr = 0, k = 0;

	sort_u64(slices->values, slices->nr);
	sort_u64(ended->values, ended->nr);
	for (size_t i = 0; i < slices->nr; i++) {
		uint64_t change = slices->values[i];

		while (k < ended->nr && ended->values[k] < (change & ~1ULL))
			others[nr++] = ended->values[k++];
		if (change & 1 && k < ended->nr && ended->values[k] == change - 1)
			k++;
		else
			others[nr++] = change;
	}
	while (k < ended->nr)
		others[nr++] = ended->values[k++];
	return (struct samples){ .values = others, .nr = nr };
}

/* The position of a walk over changes. */
struct depth_walk {
	const struct depth_times *times;
	struct depth_found *out;
	uint64_t last;
	uint32_t now;
};

static inline void take(struct depth_walk *w, uint64_t change)
{
	uint64_t at = change >> 1, ns = at - w->last;

	w->times->at_ns[w->now] += ns;
	w->out->sum += w->now * ns;
	w->last = at;
	if (change & 1)
		w->now += w->now < w->times->most;
	else
		w->now -= w->now > 0;
	if (w->now > w->out->max) {
		w->out->max = w->now;
		w->out->max_at = at;
	}
}

static uint32_t p99_of(const struct depth_times *times, uint32_t max, uint64_t span)
{
	double need = P99 * (double)span, sum = 0;

	for (uint32_t d = 0; d < max; d++) {
		sum += (double)times->at_ns[d];
		if (sum >= need)
			return d;
	}
	return max;
}

void depth_sweep(const struct samples *begun, const struct samples *others, uint64_t span,
                 const struct depth_times *times, struct depth_found *out)
{
	struct depth_walk w = { .times = times, .out = out };
	size_t i = 0, k = 0;

	*out = (struct depth_found){ 0 };
	sort_u64(begun->values, begun->nr);
	sort_u64(others->values, others->nr);
	/* Which list is next is unpredictable, so the choice must not be a branch. */
	while (i < begun->nr && k < others->nr) {
		uint64_t a = begun->values[i], b = others->values[k];
		bool is_a = a <= b;

		take(&w, is_a ? a : b);
		i += is_a;
		k += !is_a;
	}
	while (i < begun->nr)
		take(&w, begun->values[i++]);
	while (k < others->nr)
		take(&w, others->values[k++]);
	take(&w, span << 1);
	out->p99 = p99_of(times, out->max, span);
	memset(times->at_ns, 0, (out->max + 1ULL) * sizeof(*times->at_ns));
}
