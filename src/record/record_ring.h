/*
 * record/record_ring — the last records, within a time and a number of bytes; whole ones, oldest out first.
 *
 * Memory comes in chunks, as it is needed, and is kept for the next ones: after the first time that so much
 * was needed nothing is allocated, and never more than max_bytes. A callback gets each record that is
 * evicted from the ring. One cursor can read from the oldest on while others are added; a record that it
 * has not read yet is evicted only for lack of memory. One thread. Pure: no I/O, no clock; time is that of
 * the records.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/attr.h"

#define RECORD_RING_CHUNK (256U << 10)

struct record_ring;

struct record_ring_cfg {
	uint64_t keep_ns;
	size_t max_bytes; /* two chunks at least */
	/* rec leaves; is_unread: the cursor has not been there. May be NULL. */
	void (*leaves)(void *ctx, const struct ev_hdr *rec, bool is_unread);
	void *ctx;
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int record_ring_new(const struct record_ring_cfg *cfg, struct record_ring **out);
void record_ring_free(struct record_ring *r); /* NULL is fine */

/* Copies the record in. -ENOMEM if there is not even memory for a second chunk. */
MUST_USE int record_ring_add(struct record_ring *r, const struct ev_hdr *rec);
/* Time has passed: what is older than keep_ns leaves, as far as the cursor has read it. */
void record_ring_advance(struct record_ring *r, uint64_t now_ns);

/* Puts the cursor onto the oldest record. */
void record_ring_rewind(struct record_ring *r);
/* The record at the cursor, which moves on; NULL at the end for now. Valid until the next call of any. */
const struct ev_hdr *record_ring_next(struct record_ring *r);
/* No cursor any more: nothing is held for it. */
void record_ring_release(struct record_ring *r);

bool record_ring_oldest_ns(const struct record_ring *r, uint64_t *out); /* false if it is empty */
uint64_t record_ring_nr(const struct record_ring *r);
size_t record_ring_bytes(const struct record_ring *r); /* of memory in use and in reserve */
/* Records that memory, not age, made leave; and when the last of them happened, 0 = there was none. */
uint64_t record_ring_nr_cut(const struct record_ring *r);
uint64_t record_ring_cut_ns(const struct record_ring *r);
