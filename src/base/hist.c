#include "base/hist.h"

struct hist_range hist_slot_range(uint32_t slot)
{
	struct hist_range r;
	uint32_t log, sub;
	uint64_t first_us, width_us;

	if (slot < HIST_FINE_US) {
		first_us = slot;
		width_us = 1;
	} else if (slot < HIST_LINEAR_END) {
		first_us = HIST_FINE_US + (uint64_t)(slot - HIST_FINE_US) * HIST_STEP_US;
		width_us = HIST_STEP_US;
	} else {
		log = HIST_LOG2_FIRST + ((slot - HIST_LINEAR_END) >> HIST_SUB_BITS);
		sub = (slot - HIST_LINEAR_END) & ((1U << HIST_SUB_BITS) - 1);
		width_us = 1ULL << (log - HIST_SUB_BITS);
		first_us = (1ULL << log) + sub * width_us;
	}
	r.first = first_us * 1000;
	r.last = (first_us + width_us) * 1000 - 1;
	return r;
}

void hist_add(struct hist *h, uint64_t ns, uint64_t at_ns, uint32_t cpu)
{
	if (h->count == 0 || ns < h->min_ns)
		h->min_ns = ns;
	if (h->count == 0 || ns > h->max_ns) {
		h->max_ns = ns;
		h->max_at_ns = at_ns;
		h->max_cpu = cpu;
	}
	h->count++;
	h->sum_ns += ns;
	h->slots[hist_slot(ns)]++;
}

/*
 * The slots of all samples, by the shortest and the longest: few of them, mostly. False where they hold another number of
 * samples than were counted, as may be while the kernel still counts.
 */
static bool used_slots(const struct hist *h, uint32_t *first, uint32_t *last)
{
	uint64_t total = 0;

	*first = hist_slot(h->min_ns);
	*last = hist_slot(h->max_ns);
	for (uint32_t i = *first; i <= *last; i++)
		total += h->slots[i];
	return total == h->count;
}

static void merge_slots(struct hist *into, const struct hist *from)
{
	uint32_t first, last;

	if (!used_slots(from, &first, &last)) {
		first = 0;
		last = HIST_SLOTS - 1;
	}
	for (uint32_t i = first; i <= last; i++)
		into->slots[i] += from->slots[i];
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (from->count == 0)
		return;
	if (into->count == 0 || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (into->count == 0 || from->max_ns > into->max_ns) {
		into->max_ns = from->max_ns;
		into->max_at_ns = from->max_at_ns;
		into->max_cpu = from->max_cpu;
	}
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	merge_slots(into, from);
}

double hist_mean_ns(const struct hist *h)
{
	return h->count ? (double)h->sum_ns / (double)h->count : 0.0;
}

uint64_t percentile_rank(uint64_t n, uint32_t p10000)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)n * p10000 + 9999) / 10000);

	return rank ? rank : 1;
}

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	if (v > hi)
		return hi;
	return v < lo ? lo : v;
}

/* In the slots from first on; total is that of all samples, and not 0. */
static bool find_percentile(const struct hist_view *v, uint32_t first, uint64_t total,
                            uint32_t p10000, uint64_t *out)
{
	uint64_t before = 0, rank = percentile_rank(total, p10000), width;
	struct hist_range r;

	for (uint32_t i = first; i < v->nr_slots; i++) {
		if (before + v->slots[i] < rank) {
			before += v->slots[i];
			continue;
		}
		r = v->range(i);
		/* The last slot has no upper end of its own: it reaches up to the maximum. */
		if (i == v->nr_slots - 1 && v->max != UINT64_MAX && v->max > r.last)
			r.last = v->max;
		width = r.last - r.first + 1;
		*out = r.first +
		       (uint64_t)((unsigned __int128)(rank - before) * width / v->slots[i]);
		*out = clamp(clamp(*out, r.first, r.last), v->min, v->max);
		return true;
	}
	return false; /* not reached: the slots add up to total */
}

bool hist_view_percentile(const struct hist_view *v, uint32_t p10000, uint64_t *out)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < v->nr_slots; i++)
		total += v->slots[i];
	return total && find_percentile(v, 0, total, p10000, out);
}

uint64_t hist_percentile_ns(const struct hist *h, uint32_t p10000)
{
	struct hist_view v = {
		.slots = h->slots,
		.nr_slots = HIST_SLOTS,
		.range = hist_slot_range,
		.min = h->min_ns,
		.max = h->max_ns,
	};
	uint32_t first, last;
	uint64_t out = 0;
	bool is_found;

	if (h->count && used_slots(h, &first, &last))
		is_found = find_percentile(&v, first, h->count, p10000, &out);
	else
		is_found = hist_view_percentile(&v, p10000, &out);
	return is_found ? out : 0;
}

uint64_t percentile_of_sorted(const uint64_t *sorted, uint64_t n, uint32_t p10000)
{
	return sorted[percentile_rank(n, p10000) - 1];
}
