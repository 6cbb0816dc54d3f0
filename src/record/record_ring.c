#include "record/record_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define MIN_CHUNKS 2U

_Static_assert(RECORD_RING_CHUNK > UINT16_MAX, "every record fits into a chunk");

struct ring_chunk {
	uint32_t used; /* bytes that were written */
	_Alignas(8) unsigned char bytes[];
};

/* A place between two records: in the chunk of that number since the beginning. */
struct ring_place {
	uint64_t chunk;
	uint32_t offset;
};

struct record_ring {
	struct record_ring_cfg cfg;
	struct ring_chunk **chunks; /* a circle: chunk n is at n % max_chunks; kept when empty */
	uint64_t max_chunks;
	struct ring_place oldest;
	struct ring_place end; /* where the next record goes */
	struct ring_place cursor;
	bool has_cursor;
	uint64_t nr;
	uint64_t nr_cut;
	uint64_t cut_ns;
};

DEFINE_SCOPED(record_ring, record_ring_free)

static struct ring_chunk **slot(const struct record_ring *r, uint64_t number)
{
	return &r->chunks[number % r->max_chunks];
}

int record_ring_new(const struct record_ring_cfg *cfg, struct record_ring **out)
{
	SCOPED(scoped_record_ring) struct record_ring *r = NULL;
	size_t max_chunks = cfg->max_bytes / (sizeof(struct ring_chunk) + RECORD_RING_CHUNK);

	if (max_chunks < MIN_CHUNKS || !cfg->keep_ns)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->cfg = *cfg;
	r->max_chunks = max_chunks;
	r->chunks = calloc(max_chunks, sizeof(struct ring_chunk *));
	if (!r->chunks)
		return -ENOMEM;
	*out = TAKE_PTR(r);
	return 0;
}

void record_ring_free(struct record_ring *r)
{
	if (!r)
		return;
	for (uint64_t i = 0; r->chunks && i < r->max_chunks; i++)
		free(r->chunks[i]);
	free(r->chunks);
	free(r);
}

static bool is_same(struct ring_place a, struct ring_place b)
{
	return a.chunk == b.chunk && a.offset == b.offset;
}

/* The record at a place that is not the end; steps over the end of a chunk. */
static const struct ev_hdr *record_at(const struct record_ring *r, struct ring_place *at)
{
	const struct ring_chunk *c = *slot(r, at->chunk);

	if (at->offset == c->used) {
		at->chunk++;
		at->offset = 0;
		c = *slot(r, at->chunk);
	}
	return (const struct ev_hdr *)(c->bytes + at->offset);
}

static const struct ev_hdr *oldest(struct record_ring *r)
{
	const struct ev_hdr *rec;
	struct ring_place before = r->oldest;

	if (is_same(r->oldest, r->end))
		return NULL;
	rec = record_at(r, &r->oldest);
	if (r->has_cursor && is_same(r->cursor, before))
		r->cursor = r->oldest;
	return rec;
}

static void drop_oldest(struct record_ring *r, const struct ev_hdr *rec)
{
	bool is_unread = r->has_cursor && is_same(r->cursor, r->oldest);

	if (r->cfg.leaves)
		r->cfg.leaves(r->cfg.ctx, rec, is_unread);
	r->oldest.offset += rec->size;
	r->nr--;
	if (is_unread)
		r->cursor = r->oldest;
}

/* Makes all of the oldest chunk leave. */
static void cut_chunk(struct record_ring *r)
{
	uint64_t number = r->oldest.chunk;
	const struct ev_hdr *rec;

	while ((rec = oldest(r)) && r->oldest.chunk == number) {
		r->cut_ns = rec->ts_ns;
		r->nr_cut++;
		drop_oldest(r, rec);
	}
}

/*
 * Beyond the last chunk: takes an empty one that is behind the oldest, or a new one, or makes one empty. The
 * circle is entered only as far as it must be, so that little is used where little happens.
 */
static int begin_chunk(struct record_ring *r)
{
	uint64_t number = r->end.chunk + 1;
	struct ring_chunk *c;

	(void)oldest(r); /* off the end of a chunk that is empty */
	if (number - r->oldest.chunk == r->max_chunks)
		cut_chunk(r);
	c = *slot(r, number);
	for (uint64_t i = number + 1; !c && i < r->oldest.chunk + r->max_chunks; i++) {
		c = *slot(r, i);
		*slot(r, i) = NULL;
	}
	if (!c)
		c = malloc(sizeof(*c) + RECORD_RING_CHUNK);
	if (!c)
		return -ENOMEM;
	c->used = 0;
	*slot(r, number) = c;
	r->end = (struct ring_place){ .chunk = number };
	return 0;
}

/* The chunk for a record of that size. */
static int make_room(struct record_ring *r, uint32_t size, struct ring_chunk **out)
{
	struct ring_chunk *c = *slot(r, r->end.chunk);

	if (!c) { /* the very first */
		c = malloc(sizeof(*c) + RECORD_RING_CHUNK);
		if (!c)
			return -ENOMEM;
		c->used = 0;
		*slot(r, r->end.chunk) = c;
	}
	if (c->used + size > RECORD_RING_CHUNK) {
		int err = begin_chunk(r);

		if (err)
			return err;
		c = *slot(r, r->end.chunk);
	}
	*out = c;
	return 0;
}

int record_ring_add(struct record_ring *r, const struct ev_hdr *rec)
{
	struct ring_chunk *c;
	int err;

	record_ring_advance(r, rec->ts_ns);
	err = make_room(r, rec->size, &c);
	if (err)
		return err;
	memcpy(c->bytes + c->used, rec, rec->size);
	c->used += rec->size;
	r->end.offset = c->used;
	r->nr++;
	return 0;
}

void record_ring_advance(struct record_ring *r, uint64_t now_ns)
{
	const struct ev_hdr *rec;

	while ((rec = oldest(r)) && rec->ts_ns + r->cfg.keep_ns < now_ns &&
	       !(r->has_cursor && is_same(r->cursor, r->oldest)))
		drop_oldest(r, rec);
}

void record_ring_rewind(struct record_ring *r)
{
	r->has_cursor = true;
	r->cursor = r->oldest;
}

const struct ev_hdr *record_ring_next(struct record_ring *r)
{
	const struct ev_hdr *rec;

	if (!r->has_cursor || is_same(r->cursor, r->end))
		return NULL;
	rec = record_at(r, &r->cursor);
	r->cursor.offset += rec->size;
	return rec;
}

void record_ring_release(struct record_ring *r)
{
	r->has_cursor = false;
}

bool record_ring_oldest_ns(const struct record_ring *r, uint64_t *out)
{
	struct ring_place at = r->oldest;

	if (is_same(r->oldest, r->end))
		return false;
	*out = record_at(r, &at)->ts_ns;
	return true;
}

uint64_t record_ring_nr(const struct record_ring *r)
{
	return r->nr;
}

size_t record_ring_bytes(const struct record_ring *r)
{
	size_t nr = 0;

	for (uint64_t i = 0; i < r->max_chunks; i++)
		nr += r->chunks[i] != NULL;
	return nr * (sizeof(struct ring_chunk) + RECORD_RING_CHUNK);
}

uint64_t record_ring_nr_cut(const struct record_ring *r)
{
	return r->nr_cut;
}

uint64_t record_ring_cut_ns(const struct record_ring *r)
{
	return r->cut_ns;
}
