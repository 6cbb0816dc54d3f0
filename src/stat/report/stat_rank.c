#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat/report/stat_build.h"

#define US 1000ULL
#define MS (1000 * US)

const char *const stat_sort_names[] = {
	"default", "p50", "p90", "p99", "max", "mean", "count", "name", NULL,
};

const struct stat_band_set stat_latency_bands = {
	.bands = {
		{ "Very Low (<10μs)", "very_low", 10 * US },
		{ "Low (10-100μs)", "low", 100 * US },
		{ "Medium (100μs-1ms)", "medium", 1 * MS },
		{ "High (1-10ms)", "high", 10 * MS },
		{ "Very High (>10ms)", "very_high", UINT64_MAX },
	},
};

const struct stat_band_set stat_idle_bands = {
	.bands = {
		{ "Very Short (<100μs)", "very_short", 100 * US },
		{ "Short (100μs-1ms)", "short", 1 * MS },
		{ "Medium (1-10ms)", "medium", 10 * MS },
		{ "Long (10-100ms)", "long", 100 * MS },
		{ "Very Long (>100ms)", "very_long", UINT64_MAX },
	},
};

const struct stat_band_set stat_cycle_bands = {
	.bands = {
		{ "Very Low (<1M cycles/sec)", "very_low", 1000000 },
		{ "Low (1-100M cycles/sec)", "low", 100000000 },
		{ "Medium (100M-1G cycles/sec)", "medium", 1000000000 },
		{ "High (1-10G cycles/sec)", "high", 10000000000 },
		{ "Very High (>10G cycles/sec)", "very_high", UINT64_MAX },
	},
	.is_highest_first = true,
};

uint32_t stat_band_of(const struct stat_band_set *set, uint64_t value)
{
	uint32_t band = 0;

	while (band < STAT_BANDS - 1 && value >= set->bands[band].limit)
		band++;
	return band;
}

/* As rows show it: rows that show the same value are ordered by count. */
static double whole_us(uint64_t ns)
{
	uint64_t us = ns / 1000;

	return (double)us;
}

double stat_hist_key(const struct hist *h, enum stat_sort sort)
{
	switch (sort) {
	case STAT_SORT_P50:
		return whole_us(hist_percentile_ns(h, HIST_P(50)));
	case STAT_SORT_DEFAULT:
	case STAT_SORT_P90:
		return whole_us(hist_percentile_ns(h, HIST_P(90)));
	case STAT_SORT_P99:
		return whole_us(hist_percentile_ns(h, HIST_P(99)));
	case STAT_SORT_MAX:
		return whole_us(h->max_ns);
	case STAT_SORT_MEAN:
		return hist_mean_ns(h);
	case STAT_SORT_COUNT:
		return (double)h->count;
	case STAT_SORT_NAME:
		break;
	}
	return 0.0;
}

struct stat_cand stat_cand_of(const struct stat_entry *e, const struct hist *h, enum stat_sort sort)
{
	return (struct stat_cand){
		.entry = e,
		.key = stat_hist_key(h, sort),
		.count = h->count,
		.band = stat_band_of(&stat_latency_bands, hist_percentile_ns(h, HIST_P(90))),
	};
}

double stat_values_key(const struct stat_values *values, enum stat_sort sort)
{
	switch (sort) {
	case STAT_SORT_P50:
		return (double)values->p50;
	case STAT_SORT_DEFAULT:
	case STAT_SORT_P90:
		return (double)values->p90;
	case STAT_SORT_P99:
		return (double)values->p99;
	case STAT_SORT_MAX:
		return (double)values->max;
	case STAT_SORT_MEAN:
		return values->mean;
	case STAT_SORT_COUNT:
		return (double)values->count;
	case STAT_SORT_NAME:
		break;
	}
	return 0.0;
}

static int compare_identities(const struct stat_identity *a, const struct stat_identity *b)
{
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->cgroup_id > b->cgroup_id) - (a->cgroup_id < b->cgroup_id);
}

static int compare_cands(const void *pa, const void *pb, void *sort)
{
	const struct stat_cand *a = pa, *b = pb;

	if (*(const enum stat_sort *)sort != STAT_SORT_NAME) {
		if (a->key > b->key || a->key < b->key)
			return a->key > b->key ? -1 : 1;
		if (a->count != b->count)
			return a->count > b->count ? -1 : 1;
	}
	return compare_identities(&a->entry->identity, &b->entry->identity);
}

int stat_bands_build(struct arena *mem, const struct stat_band_set *set, const size_t *nr_total,
                     struct stat_table *t, uint32_t *slot)
{
	t->bands = ARENA_ARRAY(mem, struct stat_band, STAT_BANDS);
	if (!t->bands)
		return -ENOMEM;
	for (uint32_t i = 0; i < STAT_BANDS; i++) {
		uint32_t band = set->is_highest_first ? STAT_BANDS - 1 - i : i;

		if (!nr_total[band])
			continue;
		slot[band] = t->nr_bands;
		t->bands[t->nr_bands++] = (struct stat_band){
			.label = set->bands[band].label,
			.slug = set->bands[band].slug,
			.nr_total = nr_total[band],
		};
	}
	return 0;
}

size_t stat_rank_limit(const struct stat_report_in *in, const struct stat_table *t)
{
	if (in->is_detailed || in->top == STAT_TOP_ALL)
		return SIZE_MAX;
	if (in->top)
		return in->top;
	return t->id == STAT_TABLE_COUNTER || t->id == STAT_TABLE_DSQ ? STAT_TOP_COUNTERS
	                                                              : STAT_TOP_DEFAULT;
}

/* Moves what is shown to the front, in order; the limit holds per band. */
static size_t keep_first(struct stat_cand *cands, size_t nr, size_t limit)
{
	size_t nr_taken[STAT_BANDS] = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (nr_taken[cands[i].band]++ < limit)
			cands[kept++] = cands[i];
	return kept;
}

/* Only of rows that are shown: asking for a name may be expensive. */
static int name_cgroup(struct stat_build *b, struct stat_identity *identity)
{
	const struct stat_report_in *in = b->in;
	const char *name;

	if (!identity->has_cgroup || identity->cgroup || !in->cgroup_name)
		return 0;
	name = in->cgroup_name(in->cgroup_ctx, identity->cgroup_id);
	if (!name)
		return 0;
	identity->cgroup = arena_strdup(b->mem, name);
	return identity->cgroup ? 0 : -ENOMEM;
}

int stat_rank(struct stat_build *b, struct stat_table *t, size_t nr_cands,
              const struct stat_band_set *set)
{
	const struct stat_report_in *in = b->in;
	enum stat_sort sort = in->sort;
	size_t nr_total[STAT_BANDS] = { 0 };
	uint32_t slot[STAT_BANDS] = { 0 };

	for (size_t i = 0; i < nr_cands; i++)
		nr_total[b->cands[i].band]++;
	if (set && stat_bands_build(b->mem, set, nr_total, t, slot) < 0)
		return -ENOMEM;
	qsort_r(b->cands, nr_cands, sizeof(b->cands[0]), compare_cands, &sort);
	t->is_flat = !set || in->is_detailed;
	t->nr_total = nr_cands;
	t->nr_rows = keep_first(b->cands, nr_cands, stat_rank_limit(in, t));
	t->rows = ARENA_ARRAY(b->mem, struct stat_row, t->nr_rows);
	if (!t->rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		struct stat_row *row = &t->rows[i];

		row->identity = b->cands[i].entry->identity;
		if (name_cgroup(b, &row->identity) < 0)
			return -ENOMEM;
		row->band = set ? slot[b->cands[i].band] : STAT_NO_BAND;
		if (set)
			t->bands[row->band].nr_rows++;
	}
	return 0;
}

int stat_rank_hists(struct stat_build *b, struct stat_table *t, stat_hist_fn *add, const void *ctx)
{
	struct hist table = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < b->entries.nr; i++) {
		const struct stat_entry *e = &b->entries.items[i];
		struct hist all = { 0 };

		add(e, b->in->view, ctx, &all);
		if (!all.count)
			continue;
		if (b->in->has_bins)
			hist_merge(&table, &all);
		b->cands[nr++] = stat_cand_of(e, &all, b->in->sort);
	}
	if (stat_rank(b, t, nr, &stat_latency_bands) < 0)
		return -ENOMEM;
	return b->in->has_bins ? stat_bins_of_hist(b->mem, &table, &t->bins) : 0;
}
