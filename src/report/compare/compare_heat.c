#include <math.h>
#include <string.h>

#include "analyze/latency.h"
#include "analyze/scope.h"
#include "report/axis.h"
#include "report/compare/compare_priv.h"

#define SECOND_NS   1e9
#define BAND_FACTOR 1.4142135623730951 /* two bands per power of two */

/* Whole slots, so that a band is the sum of what reports of one recording have in them. */
void compare_heat_init(struct compare_heat *h)
{
	struct hist_range *last = &h->bands[0];

	*last = hist_slot_range(0);
	h->nr_bands = 1;
	for (uint32_t slot = 1; slot < HIST_SLOTS; slot++) {
		struct hist_range range = hist_slot_range(slot);
		bool is_new = (double)range.first >= BAND_FACTOR * (double)last->first;

		if (is_new && h->nr_bands < COMPARE_MAX_BANDS) {
			last = &h->bands[h->nr_bands++];
			*last = range;
		}
		last->last = range.last;
		h->band_of[slot] = (uint8_t)(h->nr_bands - 1);
	}
}

/* Two buckets become one, of both sides. */
static void halve(struct compare_heat *h)
{
	for (int side = 0; side < COMPARE_SIDES; side++) {
		struct compare_map *m = &h->maps[side];

		for (size_t i = 0; i < COMPARE_BUCKETS / 2; i++) {
			for (uint32_t band = 0; band < h->nr_bands; band++)
				m->counts[i][band] = m->counts[2 * i][band] +
				                     m->counts[2 * i + 1][band];
			m->covered_ns[i] = m->covered_ns[2 * i] + m->covered_ns[2 * i + 1];
		}
		memset(m->counts[COMPARE_BUCKETS / 2], 0,
		       COMPARE_BUCKETS / 2 * sizeof(m->counts[0]));
		memset(&m->covered_ns[COMPARE_BUCKETS / 2], 0,
		       COMPARE_BUCKETS / 2 * sizeof(m->covered_ns[0]));
		m->nr_buckets = (m->nr_buckets + 1) / 2;
	}
	h->width_ns *= 2;
}

/* All recordings share one axis: it is as coarse as the longest needs. */
static struct report_axis share_axis(struct compare_heat *h, const struct scope *sc)
{
	struct report_axis a = { .from_ns = sc->from_ns, .to_ns = sc->from_ns + sc->span_ns };

	if (!h->width_ns)
		h->width_ns = axis_make(a.from_ns, a.to_ns, COMPARE_BUCKETS).width_ns;
	while (sc->span_ns / h->width_ns >= COMPARE_BUCKETS)
		halve(h);
	a.width_ns = h->width_ns;
	a.nr = (uint32_t)(sc->span_ns / h->width_ns) + 1;
	return a;
}

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t end)
{
	start = start > from ? start : from;
	end = end < to ? end : to;
	return end > start ? end - start : 0;
}

static void add_covered(struct compare_map *m, const struct scope *sc, const struct report_axis *a)
{
	const struct source_facts *f = sc->s->facts;

	for (uint32_t i = 0; i < a->nr; i++) {
		uint64_t from = axis_edge(a, i), to = axis_edge(a, i + 1);

		to = to < a->to_ns ? to : a->to_ns;
		if (from >= to)
			continue;
		m->covered_ns[i] += to - from;
		for (size_t k = 0; k < f->nr_holes; k++)
			m->covered_ns[i] -= overlap(from, to, f->holes[k].from_ns,
			                            f->holes[k].to_ns);
	}
}

int compare_heat_add(struct compare_heat *h, enum compare_side side, const struct source *s,
                     const struct pass_args *args, struct diag *d)
{
	struct compare_map *m = &h->maps[side];
	struct report_axis a;
	struct pair_wait w;
	struct scope sc;
	struct rows it;
	int err = scope_init(&sc, s, args, d);

	if (err) {
		scope_done(&sc);
		return err;
	}
	a = share_axis(h, &sc);
	add_covered(m, &sc, &a);
	it = (struct rows){ .sc = &sc };
	while (rows_wait(&it, &w))
		if (latency_counts(&w))
			m->counts[axis_at(&a, pair_wait_woken_ns(&w))]
				 [h->band_of[hist_slot(latency_ns(&w))]]++;
	m->nr_buckets = a.nr > m->nr_buckets ? a.nr : m->nr_buckets;
	scope_done(&sc);
	return 0;
}

uint32_t compare_heat_buckets(const struct compare_heat *h)
{
	uint32_t before = h->maps[COMPARE_BEFORE].nr_buckets,
		 after = h->maps[COMPARE_AFTER].nr_buckets;

	return before > after ? before : after;
}

uint64_t compare_heat_band_count(const struct compare_map *m, uint32_t band)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->nr_buckets; i++)
		sum += m->counts[i][band];
	return sum;
}

bool compare_heat_range(const struct compare_heat *h, uint32_t *first, uint32_t *nr)
{
	uint32_t low = h->nr_bands, high = 0;

	for (uint32_t band = 0; band < h->nr_bands; band++) {
		if (!compare_heat_band_count(&h->maps[COMPARE_BEFORE], band) &&
		    !compare_heat_band_count(&h->maps[COMPARE_AFTER], band))
			continue;
		low = band < low ? band : low;
		high = band;
	}
	*first = low;
	*nr = high - low + 1;
	return low < h->nr_bands;
}

double compare_heat_rate(const struct compare_map *m, uint32_t bucket, uint32_t band)
{
	if (!m->covered_ns[bucket])
		return -1;
	return (double)m->counts[bucket][band] * SECOND_NS / (double)m->covered_ns[bucket];
}

double compare_heat_band_rate(const struct compare_map *m, uint32_t band)
{
	double ns = 0;

	for (uint32_t i = 0; i < m->nr_buckets; i++)
		ns += (double)m->covered_ns[i];
	return ns > 0 ? (double)compare_heat_band_count(m, band) * SECOND_NS / ns : -1;
}
