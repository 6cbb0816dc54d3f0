#include "model/small_hist.h"

#include "base/hist.h"

static uint32_t slot_of(uint64_t ns)
{
	uint32_t log, slot;

	if (ns < 4)
		return (uint32_t)ns;
	log = hist_log2(ns);
	slot = 4 * (log - 1) + (uint32_t)((ns >> (log - 2)) & 3);
	return slot < SMALL_HIST_SLOTS ? slot : SMALL_HIST_SLOTS - 1;
}

static struct hist_range range_of(uint32_t slot)
{
	uint32_t shift = slot < 4 ? 0 : slot / 4 - 1;
	uint64_t first = slot < 4 ? slot : (uint64_t)(4 + slot % 4) << shift;
	struct hist_range r = { first, first + (1ULL << shift) - 1 };

	if (slot == SMALL_HIST_SLOTS - 1)
		r.last = UINT64_MAX;
	return r;
}

void small_hist_add(struct small_hist *h, uint64_t ns)
{
	uint32_t *slot = &h->slots[slot_of(ns)];

	*slot += *slot < UINT32_MAX;
}

uint64_t small_hist_percentile_ns(const struct small_hist *h, uint32_t p10000, uint64_t min_ns,
                                  uint64_t max_ns)
{
	uint64_t slots[SMALL_HIST_SLOTS], ns = 0;
	struct hist_view view = { slots, SMALL_HIST_SLOTS, range_of, min_ns, max_ns };

	for (uint32_t i = 0; i < SMALL_HIST_SLOTS; i++)
		slots[i] = h->slots[i];
	return hist_view_percentile(&view, p10000, &ns) ? ns : 0;
}
