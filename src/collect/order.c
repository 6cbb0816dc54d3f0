#include "collect/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "base/grow.h"

struct order_entry {
	uint64_t ts_ns;
	const struct ev_hdr *rec;
};

/* What one ring, or the store of held records, brings to a round; sorted. */
struct order_run {
	size_t begin;
	size_t end; /* indices of entries */
};

struct order {
	struct ring *const *rings;
	size_t nr_rings;
	uint64_t *complete_ns;     /* per ring: all up to this time was read */
	struct order_run *sources; /* the held ones, then one per ring */
	struct order_entry *entries;
	size_t nr_entries;
	size_t capacity;
	uint8_t *held; /* records that wait, one after the other */
	size_t held_bytes;
	uint64_t horizon_ns; /* handed on up to here */
	bool is_last;        /* no producer is left */
	struct order_stats stats;
};

int order_new(struct ring *const *rings, size_t nr, struct order **out)
{
	struct order *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->rings = rings;
	o->nr_rings = nr;
	o->complete_ns = calloc(nr, sizeof(*o->complete_ns));
	o->sources = calloc(nr + 1, sizeof(*o->sources));
	if (!o->complete_ns || !o->sources) {
		order_free(o);
		return -ENOMEM;
	}
	*out = o;
	return 0;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	free(o->complete_ns);
	free(o->sources);
	free(o->entries);
	free(o->held);
	free(o);
}

/* Adds an entry at its place in the source that began at begin: nearly always the end. */
static int add(struct order *o, size_t begin, const struct ev_hdr *rec)
{
	size_t at = o->nr_entries;

	if (GROW(o->entries, o->capacity, at))
		return -ENOMEM;
	while (at > begin && o->entries[at - 1].ts_ns > rec->ts_ns) {
		o->entries[at] = o->entries[at - 1];
		at--;
	}
	o->stats.unsorted += at != o->nr_entries;
	o->entries[at] = (struct order_entry){ rec->ts_ns, rec };
	o->nr_entries++;
	return 0;
}

static int gather_held(struct order *o)
{
	struct order_run *src = &o->sources[0];
	int err = 0;

	src->begin = o->nr_entries;
	for (size_t at = 0; !err && at < o->held_bytes;) {
		const struct ev_hdr *rec = (const void *)(o->held + at);

		err = add(o, src->begin, rec);
		at += rec->size;
	}
	src->end = o->nr_entries;
	return err;
}

/* As ring_next(); in the last round what is unfinished stays so. */
static enum ring_state next_record(struct order *o, size_t i, uint64_t end, const void **rec,
                                   size_t *len)
{
	enum ring_state state;

	while ((state = ring_next(o->rings[i], end, rec, len)) == RING_BUSY && o->is_last) {
		ring_skip(o->rings[i]);
		o->stats.torn++;
	}
	return state;
}

static int gather_ring(struct order *o, size_t i, uint64_t end, uint64_t now_ns)
{
	struct order_run *src = &o->sources[i + 1];
	enum ring_state state;
	const void *rec;
	size_t len;
	int err;

	src->begin = o->nr_entries;
	while ((state = next_record(o, i, end, &rec, &len)) == RING_RECORD) {
		if (!ev_check(rec, len)) {
			o->stats.bad++;
			continue;
		}
		o->stats.late += ((const struct ev_hdr *)rec)->ts_ns < o->horizon_ns;
		err = add(o, src->begin, rec);
		if (err)
			return err;
	}
	src->end = o->nr_entries;
	if (state == RING_END)
		o->complete_ns[i] = now_ns;
	else
		o->stats.busy++;
	return 0;
}

static struct order_run *earliest(struct order *o)
{
	struct order_run *best = NULL;

	for (size_t i = 0; i <= o->nr_rings; i++) {
		struct order_run *src = &o->sources[i];

		if (src->begin < src->end &&
		    (!best || o->entries[src->begin].ts_ns < o->entries[best->begin].ts_ns))
			best = src;
	}
	return best;
}

static int hand_on(struct order *o, uint64_t until_ns, const struct ev_sink *sink)
{
	struct order_run *src;

	while ((src = earliest(o)) && o->entries[src->begin].ts_ns <= until_ns) {
		int err = sink->push(sink->ctx, o->entries[src->begin].rec);

		if (err)
			return err;
		o->stats.records++;
		src->begin++;
	}
	return 0;
}

/* What is too young is copied out of the rings, so that their room can be given back. */
static int hold_rest(struct order *o)
{
	size_t bytes = 0;
	uint8_t *held;

	for (size_t i = 0; i <= o->nr_rings; i++)
		for (size_t k = o->sources[i].begin; k < o->sources[i].end; k++)
			bytes += o->entries[k].rec->size;
	held = malloc(bytes ? bytes : 1);
	if (!held)
		return -ENOMEM;
	bytes = 0;
	for (size_t i = 0; i <= o->nr_rings; i++) {
		for (size_t k = o->sources[i].begin; k < o->sources[i].end; k++) {
			memcpy(held + bytes, o->entries[k].rec, o->entries[k].rec->size);
			bytes += o->entries[k].rec->size;
			o->stats.held++;
		}
	}
	free(o->held);
	o->held = held;
	o->held_bytes = bytes;
	return 0;
}

static uint64_t common_horizon(const struct order *o)
{
	uint64_t horizon = UINT64_MAX;

	for (size_t i = 0; i < o->nr_rings; i++)
		if (o->complete_ns[i] < horizon)
			horizon = o->complete_ns[i];
	return horizon;
}

static int round_until(struct order *o, uint64_t now_ns, uint64_t until_ns,
                       const struct ev_sink *sink)
{
	int err;

	o->nr_entries = 0;
	err = gather_held(o);
	for (size_t i = 0; !err && i < o->nr_rings; i++)
		err = gather_ring(o, i, ring_end(o->rings[i]), now_ns);
	if (err)
		return err;
	o->horizon_ns = until_ns ? until_ns : common_horizon(o);
	err = hand_on(o, o->horizon_ns, sink);
	if (!err)
		err = hold_rest(o);
	for (size_t i = 0; i < o->nr_rings; i++)
		ring_release(o->rings[i]);
	if (!err && sink->advance && o->horizon_ns != UINT64_MAX)
		err = sink->advance(sink->ctx, o->horizon_ns);
	return err;
}

int order_round(struct order *o, uint64_t now_ns, const struct ev_sink *sink, uint64_t *until)
{
	int err = round_until(o, now_ns, 0, sink);

	*until = o->horizon_ns;
	return err;
}

int order_finish(struct order *o, const struct ev_sink *sink)
{
	o->is_last = true;
	return round_until(o, UINT64_MAX, UINT64_MAX, sink);
}

void order_stats(const struct order *o, struct order_stats *out)
{
	*out = o->stats;
}
