#include <errno.h>

#include "stat/report/stat_build.h"

#define LOG2_SLOTS 65 /* zero, then one per power of two */

void stat_dist_of(const struct hist *h, struct stat_dist *out)
{
	*out = (struct stat_dist){ .count = h->count };
	if (!h->count)
		return;
	out->min_ns = h->min_ns;
	out->p50_ns = hist_percentile_ns(h, HIST_P(50));
	out->p90_ns = hist_percentile_ns(h, HIST_P(90));
	out->p99_ns = hist_percentile_ns(h, HIST_P(99));
	out->max_ns = h->max_ns;
	out->max_at_ns = h->max_at_ns;
	out->mean_ns = hist_mean_ns(h);
	out->max_cpu = h->max_cpu;
}

static struct hist_range whole_number(uint32_t slot)
{
	return (struct hist_range){ slot, slot };
}

/* The last slot of durations and that of depths take all larger values, too. */
static struct hist_range duration_range(uint32_t slot)
{
	struct hist_range r = hist_slot_range(slot);

	if (slot == HIST_SLOTS - 1)
		r.last = UINT64_MAX;
	return r;
}

static struct hist_range depth_range(uint32_t slot)
{
	return (struct hist_range){ slot, slot == STAT_DEPTH_SLOTS - 1 ? UINT64_MAX : slot };
}

static struct hist_range power_of_two(uint32_t slot)
{
	struct hist_range r = { 0, 0 };

	if (slot) {
		r.first = 1ULL << (slot - 1);
		r.last = r.first + (r.first - 1);
	}
	return r;
}

static int build(struct arena *mem, const uint64_t *slots, uint32_t nr,
                 struct hist_range (*range)(uint32_t slot), struct stat_bins *out)
{
	struct stat_bin *items = ARENA_ARRAY(mem, struct stat_bin, nr);

	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		struct hist_range r = range(i);

		items[i] = (struct stat_bin){ r.first, r.last, slots[i] };
	}
	*out = (struct stat_bins){ items, nr };
	return 0;
}

int stat_bins_of_hist(struct arena *mem, const struct hist *h, struct stat_bins *out)
{
	return build(mem, h->slots, HIST_SLOTS, duration_range, out);
}

int stat_bins_of_depth(struct arena *mem, const uint64_t *slots, struct stat_bins *out)
{
	return build(mem, slots, STAT_DEPTH_SLOTS, depth_range, out);
}

int stat_bins_of_rates(struct arena *mem, const struct rates *r, struct stat_bins *out)
{
	uint64_t slots[LOG2_SLOTS] = { 0 };
	bool is_linear = r->max < LOG2_SLOTS;

	for (uint32_t i = 0; i < r->nr; i++) {
		uint64_t value = r->bins[i].value;
		uint64_t slot = is_linear || !value ? value : hist_log2(value) + 1;

		slots[slot < LOG2_SLOTS ? slot : LOG2_SLOTS - 1] += r->bins[i].count;
	}
	return build(mem, slots, LOG2_SLOTS, is_linear ? whole_number : power_of_two, out);
}
