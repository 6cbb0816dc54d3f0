/* What a log forgets, reading by number, and snapshots of it. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/copy.h"
#include "model/event_log_priv.h"

void event_log_chunk_put(struct log_chunk *c)
{
	if (atomic_fetch_sub(&c->refs, 1) == 1)
		free(c);
}

void event_log_drop_indexes(struct event_log *l)
{
	event_log_index_free(&l->by_cpu);
	event_log_index_free(&l->by_tid);
}

static void forget(struct event_log *l)
{
	struct log_chunk *c = l->chunks[0];

	event_log_drop_indexes(l); /* they hold places */
	l->nr_chunks--;
	memmove(l->chunks, l->chunks + 1, l->nr_chunks * sizeof(struct log_chunk *));
	l->nr -= c->nr;
	l->forgotten += c->nr;
	l->gone++;
	event_log_chunk_put(c);
}

bool event_log_make_room(struct event_log *l)
{
	if (!l->cfg.window_ns || l->nr_chunks < 2)
		return false;
	l->cut += l->chunks[0]->nr;
	forget(l);
	return true;
}

static bool is_old(const struct event_log *l, uint64_t now_ns)
{
	return now_ns > l->chunks[0]->max_ns && now_ns - l->chunks[0]->max_ns > l->cfg.window_ns;
}

void event_log_keep_window(struct event_log *l)
{
	while (l->nr_chunks > 1 && is_old(l, l->last_ns))
		forget(l);
	while (l->cfg.max_records && l->nr > l->cfg.max_records && event_log_make_room(l)) {
	}
}

void event_log_advance(struct event_log *l, uint64_t now_ns)
{
	while (l->cfg.window_ns && l->nr_chunks && is_old(l, now_ns))
		forget(l);
}

uint64_t event_log_first(const struct event_log *l)
{
	return l->forgotten + 1;
}

uint64_t event_log_end(const struct event_log *l)
{
	return l->forgotten + l->nr + 1;
}

uint64_t event_log_cut(const struct event_log *l)
{
	return l->cut;
}

uint64_t event_log_place(const struct event_log *l)
{
	return l->last_place;
}

struct ev_hdr *event_log_change(struct event_log *l, uint64_t place)
{
	uint64_t number = place / EVENT_LOG_CHUNK_UNITS;
	struct log_chunk *c;

	if (!l->cfg.keeps_whole || number < l->gone || number - l->gone >= l->nr_chunks)
		return NULL;
	c = l->chunks[number - l->gone];
	if (atomic_load(&c->refs) > 1)
		return NULL;
	return (struct ev_hdr *)(c->data + place % EVENT_LOG_CHUNK_UNITS + 1);
}

uint32_t event_log_lend(const struct event_log *l, uint64_t number, const struct ev_hdr **out,
                        uint32_t max)
{
	uint64_t first = l->forgotten + 1; /* of the chunk */
	uint32_t nr = 0;
	struct log_view v = { 0 };

	for (uint32_t i = 0; i < l->nr_chunks && nr < max; first += l->chunks[i++]->nr) {
		const struct log_chunk *c = l->chunks[i];
		uint64_t at = first;

		if (number >= first + c->nr)
			continue;
		for (uint32_t unit = 0; unit < c->nr_units && nr < max; unit += v.units, at++) {
			event_log_view(c, unit, &v);
			if (at >= number)
				out[nr++] = v.raw;
		}
	}
	return nr;
}

DEFINE_SCOPED(event_log, event_log_free)

int event_log_snapshot(const struct event_log *l, struct event_log **out)
{
	SCOPED(scoped_event_log) struct event_log *copy = copy_of(l, 1, sizeof(*l));
	uint32_t last = l->nr_chunks ? l->nr_chunks - 1 : 0;

	if (!copy)
		return -ENOMEM;
	copy->cfg.window_ns = 0;
	copy->by_cpu = copy->by_tid = (struct log_index){ 0 };
	copy->nr_chunks = 0;
	copy->max_chunks = l->nr_chunks;
	copy->chunks = copy_of(l->chunks, l->nr_chunks, sizeof(struct log_chunk *));
	if (!copy->chunks)
		return -ENOMEM;
	for (; copy->nr_chunks < last; copy->nr_chunks++)
		atomic_fetch_add(&copy->chunks[copy->nr_chunks]->refs, 1);
	if (l->nr_chunks) {
		copy->chunks[last] = copy_of(l->chunks[last], 1, EVENT_LOG_CHUNK_BYTES);
		if (!copy->chunks[last])
			return -ENOMEM;
		atomic_init(&copy->chunks[last]->refs, 1);
		copy->nr_chunks++;
	}
	*out = TAKE_PTR(copy);
	return 0;
}
