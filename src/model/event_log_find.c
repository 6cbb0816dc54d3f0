#include <errno.h>
#include <stdlib.h>

#include "model/event_log_priv.h"

/* More tasks or CPUs than buckets share them: they are distinguished when read. */
#define CPU_BUCKETS     (1U << 10)
#define MIN_TID_BUCKETS (1U << 6)
#define MAX_TID_BUCKETS (1U << 16)
#define TID_BUCKET_ROWS 16U /* on average, while there are buckets */

void event_log_index_free(struct log_index *ix)
{
	free(ix->starts);
	free(ix->order);
	*ix = (struct log_index){ 0 };
}

/* The buckets of a record: how many. */
static unsigned int keys_of(const struct log_view *v, bool is_tid, uint32_t nr_buckets,
                            uint32_t keys[EVENT_LOG_MAX_TIDS])
{
	unsigned int nr = 1;

	if (!is_tid) {
		keys[0] = v->cpu & (nr_buckets - 1);
		return 1;
	}
	nr = event_log_body_tids(v->kind, v->body, keys);
	for (unsigned int i = 0; i < nr; i++)
		keys[i] &= nr_buckets - 1;
	return nr == 2 && keys[0] == keys[1] ? 1 : nr;
}

/* Counts the records of each bucket into starts[bucket + 1]; with an order, puts each into its place. */
static void walk(const struct event_log *l, struct log_index *ix, bool is_tid)
{
	uint32_t keys[EVENT_LOG_MAX_TIDS];
	struct log_view v = { 0 };

	for (uint32_t i = 0; i < l->nr_chunks; i++) {
		for (uint32_t unit = 0; unit < l->chunks[i]->nr_units; unit += v.units) {
			unsigned int nr;

			event_log_view(l->chunks[i], unit, &v);
			nr = keys_of(&v, is_tid, ix->nr_buckets, keys);
			for (unsigned int k = 0; k < nr; k++) {
				if (ix->order)
					ix->order[ix->starts[keys[k]]++] =
						i * EVENT_LOG_CHUNK_UNITS + unit;
				else
					ix->starts[keys[k] + 1]++;
			}
		}
	}
}

static uint32_t tid_buckets(const struct event_log *l)
{
	uint32_t nr = MIN_TID_BUCKETS;

	while (nr < MAX_TID_BUCKETS && 1ULL * nr * TID_BUCKET_ROWS < l->nr)
		nr *= 2;
	return nr;
}

static int build(const struct event_log *l, struct log_index *ix, bool is_tid)
{
	uint32_t nr_buckets = is_tid ? tid_buckets(l) : CPU_BUCKETS, nr;

	if (ix->nr_buckets)
		return 0;
	ix->starts = calloc(nr_buckets + 1, sizeof(uint32_t));
	if (!ix->starts)
		return -ENOMEM;
	ix->nr_buckets = nr_buckets;
	walk(l, ix, is_tid);
	for (uint32_t i = 1; i <= nr_buckets; i++)
		ix->starts[i] += ix->starts[i - 1];
	nr = ix->starts[nr_buckets];
	ix->order = malloc((nr ? nr : 1) * sizeof(uint32_t));
	if (!ix->order) {
		event_log_index_free(ix);
		return -ENOMEM;
	}
	walk(l, ix, is_tid);
	/* Each start has moved on to where the next bucket starts. */
	memmove(ix->starts + 1, ix->starts, nr_buckets * sizeof(uint32_t));
	ix->starts[0] = 0;
	ix->bytes = (nr_buckets + 1 + (size_t)nr) * sizeof(uint32_t);
	return 0;
}

static void view_at(const struct event_log *l, uint64_t place, struct log_view *out)
{
	event_log_view(l->chunks[place / EVENT_LOG_CHUNK_UNITS],
	               (uint32_t)(place % EVENT_LOG_CHUNK_UNITS), out);
}

/* The first of a bucket that is not too early; all of them where time went back. */
static void skip_early(struct event_log_iter *it)
{
	uint64_t low = it->at, high = it->end;
	struct log_view v = { 0 };

	while (low < high && !it->l->is_unsorted) {
		uint64_t mid = low + (high - low) / 2;

		view_at(it->l, it->order[mid], &v);
		if (v.ts_ns < it->q.from_ns)
			low = mid + 1;
		else
			high = mid;
	}
	it->at = low;
}

/* The first chunk with a record that is not too early. */
static uint64_t first_chunk(const struct event_log *l, uint64_t from_ns)
{
	uint64_t low = 0, high = l->nr_chunks;

	while (low < high && !l->is_unsorted) {
		uint64_t mid = low + (high - low) / 2;

		if (l->chunks[mid]->max_ns < from_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int event_log_find(struct event_log *l, const struct event_log_query *q, struct event_log_iter *out)
{
	bool is_tid = q->tid != EVENT_LOG_ANY && q->tid != 0; /* idle is in no index */
	struct log_index *ix = is_tid ? &l->by_tid : &l->by_cpu;
	uint32_t key;
	int err;

	*out = (struct event_log_iter){ .l = l, .q = *q };
	if (!is_tid && q->cpu == EVENT_LOG_ANY) {
		out->at = first_chunk(l, q->from_ns) * EVENT_LOG_CHUNK_UNITS;
		out->end = 1ULL * l->nr_chunks * EVENT_LOG_CHUNK_UNITS;
		return 0;
	}
	err = build(l, ix, is_tid);
	if (err)
		return err;
	key = (is_tid ? q->tid : q->cpu) & (ix->nr_buckets - 1);
	out->order = ix->order;
	out->at = ix->starts[key];
	out->end = ix->starts[key + 1];
	skip_early(out);
	return 0;
}

static bool has_tid(const struct log_view *v, uint32_t tid)
{
	uint32_t tids[EVENT_LOG_MAX_TIDS];
	unsigned int nr;

	if (tid == EVENT_LOG_ANY)
		return true;
	nr = event_log_body_tids(v->kind, v->body, tids);
	return (nr > 0 && tids[0] == tid) || (nr > 1 && tids[1] == tid);
}

static bool is_wanted(const struct event_log_query *q, const struct log_view *v)
{
	return v->ts_ns >= q->from_ns && v->ts_ns < q->to_ns &&
	       (!q->kinds || q->kinds & EV_BIT(v->kind)) &&
	       (q->cpu == EVENT_LOG_ANY || q->cpu == v->cpu) && has_tid(v, q->tid);
}

/* The record as it came in. */
static const struct ev_hdr *whole(struct event_log_iter *it, const struct log_view *v)
{
	struct ev_hdr *hdr = (struct ev_hdr *)it->rec;
	struct short_hdr h;

	if (v->raw)
		return v->raw;
	memcpy(&h, v->body - sizeof(h), sizeof(h));
	*hdr = (struct ev_hdr){ v->size, v->kind, h.flags, v->cpu, v->ts_ns };
	memcpy(hdr + 1, v->body, v->size - sizeof(*hdr));
	return hdr;
}

/* Moves on to the next place of the log that holds a record; false at the end. */
static bool settle(struct event_log_iter *it)
{
	while (it->at < it->end) {
		const struct log_chunk *c = it->l->chunks[it->at / EVENT_LOG_CHUNK_UNITS];
		uint32_t unit = (uint32_t)(it->at % EVENT_LOG_CHUNK_UNITS);
		bool is_useless = unit == 0 &&
		                  (c->max_ns < it->q.from_ns || c->min_ns >= it->q.to_ns ||
		                   (it->q.kinds && !(it->q.kinds & c->kinds)));

		if (!is_useless && unit < c->nr_units)
			return true;
		it->at += EVENT_LOG_CHUNK_UNITS - unit;
	}
	return false;
}

const struct ev_hdr *event_log_next(struct event_log_iter *it)
{
	struct log_view v = { 0 };

	while (it->order ? it->at < it->end : settle(it)) {
		view_at(it->l, it->order ? it->order[it->at] : it->at, &v);
		it->at += it->order ? 1 : v.units;
		if (v.ts_ns >= it->q.to_ns && !it->l->is_unsorted)
			it->at = it->end;
		if (is_wanted(&it->q, &v))
			return whole(it, &v);
	}
	return NULL;
}
