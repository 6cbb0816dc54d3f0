#include "stat/tally/dsq_tally.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"

struct dsq_entry {
	struct dsq_row pub;
	struct stat_dsq seen;
};

struct dsq_tally {
	struct dsq_entry **rows;
	size_t nr, cap;
	struct map *index_of; /* id -> index of rows */
	uint32_t scheduler_nr;
};

static void forget(struct dsq_tally *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->rows[i]);
	t->nr = 0;
	if (t->index_of)
		map_clear(t->index_of);
}

int dsq_tally_new(struct dsq_tally **out)
{
	struct dsq_tally *t = calloc(1, sizeof(*t));
	int err = t ? map_new(sizeof(uint64_t), STAT_DSQ_MAX, &t->index_of) : -ENOMEM;

	if (err) {
		free(t);
		return err;
	}
	*out = t;
	return 0;
}

void dsq_tally_free(struct dsq_tally *t)
{
	if (!t)
		return;
	forget(t);
	map_free(t->index_of);
	free(t->rows);
	free(t);
}

void dsq_tally_begin_interval(struct dsq_tally *t)
{
	for (size_t i = 0; i < t->nr; i++)
		memset(&t->rows[i]->pub.view[TALLY_INTERVAL], 0, sizeof(struct dsq_view));
}

static struct dsq_entry *row_of(struct dsq_tally *t, uint64_t id)
{
	struct dsq_entry *row;
	uint32_t i;

	if (map_find(t->index_of, &id, &i))
		return t->rows[i];
	if (GROW(t->rows, t->cap, t->nr))
		return NULL;
	row = calloc(1, sizeof(*row));
	if (!row || map_insert(t->index_of, &id, (uint32_t)t->nr)) {
		free(row);
		return NULL;
	}
	row->pub.id = id;
	t->rows[t->nr++] = row;
	return row;
}

/* How far it went since it was seen; 0 for what went backwards. */
static uint64_t ahead(uint64_t now, uint64_t seen)
{
	return now > seen ? now - seen : 0;
}

/* The peak of an epoch, if there was any. */
struct peak {
	bool is_known;
	bool has_place;
	uint64_t value;
	const struct stat_peak *at;
};

static struct peak peak_of(const struct stat_peak peaks[2], uint32_t epoch)
{
	const struct stat_peak *p = &peaks[epoch & 1];

	return (struct peak){
		.is_known = p->packed >> STAT_PEAK_BITS == (epoch & 0xffff),
		.has_place = p->noted == p->packed,
		.value = p->packed & STAT_PEAK_MAX,
		.at = p,
	};
}

struct dsq_growth {
	uint64_t count, sum_ns;
	struct hist_range first, last; /* slots that grew */
	struct peak high, low;
	uint32_t slots[HIST_SLOTS];
};

static void grow(const struct stat_dsq_hist *now, const struct stat_dsq_hist *seen, uint32_t epoch,
                 struct dsq_growth *out)
{
	*out = (struct dsq_growth){
		.sum_ns = ahead(now->sum_ns, seen->sum_ns),
		.high = peak_of(now->peaks, epoch),
		.low = peak_of(now->lows, epoch),
	};
	for (uint32_t i = 0; i < HIST_SLOTS; i++) {
		out->slots[i] = now->slots[i] - seen->slots[i]; /* they may have wrapped */
		if (!out->slots[i])
			continue;
		if (!out->count)
			out->first = hist_slot_range(i);
		out->last = hist_slot_range(i);
		out->count += out->slots[i];
	}
}

/*
 * Samples between the end of the epoch and our reading have raised slots, but no peak of that
 * epoch: the bounds of slots hold in any case.
 */
static uint64_t least_of(const struct dsq_growth *g)
{
	uint64_t low = STAT_PEAK_MAX - g->low.value;

	return g->low.is_known && low < g->first.last ? low : g->first.last;
}

/* Whether it is the largest of all, so that its place counts. */
static bool take_max(struct hist *h, const struct dsq_growth *g)
{
	uint64_t max = g->high.is_known && g->high.value > g->last.first ? g->high.value
	                                                                 : g->last.first;
	bool has_place = g->high.is_known && g->high.has_place && max == g->high.value;

	if (h->count && max <= h->max_ns)
		return false;
	h->max_ns = max;
	h->max_at_ns = has_place ? g->high.at->at_ns : 0;
	h->max_cpu = has_place ? g->high.at->cpu : 0;
	return true;
}

static void take_hist(const struct dsq_growth *g, struct hist *into, uint32_t *max_tid)
{
	uint64_t least = least_of(g);

	if (!g->count)
		return;
	if (take_max(into, g) && max_tid)
		*max_tid = into->max_at_ns ? g->high.at->tid : 0;
	if (!into->count || least < into->min_ns)
		into->min_ns = least;
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		into->slots[i] += g->slots[i];
	into->count += g->count;
	into->sum_ns += g->sum_ns;
}

static void take_depth(const struct stat_dsq *now, const struct stat_dsq *seen, uint32_t epoch,
                       struct tally_depth *into)
{
	struct peak p = peak_of(now->depth_peaks, epoch);
	uint64_t grown = 0, deepest = 0;

	for (uint32_t i = 0; i < STAT_DEPTH_SLOTS; i++) {
		uint32_t more = now->depths[i] - seen->depths[i];

		into->slots[i] += more;
		grown += more;
		if (more)
			deepest = i;
	}
	if (!grown)
		return;
	if (p.is_known && p.value > deepest)
		deepest = p.value;
	if (!into->count || deepest > into->max) {
		bool has_place = p.is_known && p.has_place && deepest == p.value;

		into->max = deepest;
		into->max_at_ns = has_place ? p.at->at_ns : 0;
		into->max_cpu = has_place ? p.at->cpu : 0;
	}
	into->count += grown;
	into->sum += ahead(now->depth_sum, seen->depth_sum);
}

static uint64_t deltas_of(const struct stat_dsq_vtime *v)
{
	return v->count ? v->count - 1 : 0;
}

static void take_vtime(const struct stat_dsq_vtime *now, const struct stat_dsq_vtime *seen,
                       uint32_t epoch, struct dsq_vtime *into)
{
	struct peak up = peak_of(now->ahead, epoch), down = peak_of(now->behind, epoch);
	uint64_t count = ahead(deltas_of(now), deltas_of(seen));

	if (!count)
		return;
	into->count += count;
	into->sum += (int64_t)(now->sum - seen->sum);
	into->nr_behind += ahead(now->nr_behind, seen->nr_behind);
	if (up.is_known && up.value > into->max_ahead)
		into->max_ahead = up.value;
	if (down.is_known && down.value > into->max_behind)
		into->max_behind = down.value;
}

static void take_view(const struct stat_dsq *now, const struct stat_dsq *seen, uint32_t epoch,
                      struct dsq_view *v)
{
	struct dsq_growth g;

	v->inserts += ahead(now->inserts, seen->inserts);
	v->moved_in += ahead(now->moved_in, seen->moved_in);
	v->moved_out += ahead(now->moved_out, seen->moved_out);
	v->runs += ahead(now->runs, seen->runs);
	v->endless += ahead(now->endless, seen->endless);
	grow(&now->latency, &seen->latency, epoch, &g);
	take_hist(&g, &v->latency, &v->latency_max_tid);
	grow(&now->given, &seen->given, epoch, &g);
	take_hist(&g, &v->given, NULL);
	grow(&now->used, &seen->used, epoch, &g);
	take_hist(&g, &v->used, NULL);
	take_depth(now, seen, epoch, &v->depth);
	take_vtime(&now->vtime, &seen->vtime, epoch, &v->vtime);
}

void dsq_tally_take(struct dsq_tally *t, const struct stat_dsq_key *key, const struct stat_dsq *now,
                    uint32_t epoch)
{
	struct dsq_entry *row;

	if (key->scheduler_nr < t->scheduler_nr || key->id == STAT_DSQ_INVALID)
		return;
	if (key->scheduler_nr > t->scheduler_nr) {
		forget(t);
		t->scheduler_nr = key->scheduler_nr;
	}
	row = row_of(t, key->id);
	if (!row)
		return;
	row->pub.nr_now = now->nr_now;
	for (int v = 0; v < TALLY_VIEWS; v++)
		take_view(now, &row->seen, epoch, &row->pub.view[v]);
	row->seen = *now;
}

size_t dsq_tally_nr(const struct dsq_tally *t)
{
	return t->nr;
}

const struct dsq_row *dsq_tally_at(const struct dsq_tally *t, size_t i)
{
	return i < t->nr ? &t->rows[i]->pub : NULL;
}
