/*
 * collect/ring — reads one BPF ring buffer, position by position.
 *
 * libbpf's reader hides where the producers are; the order of records across rings needs just that. Records
 * are read in place: they stay valid until ring_release(). One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct ring;

enum ring_state {
	RING_RECORD, /* there is one */
	RING_END,    /* all below the given end were read */
	RING_BUSY,   /* the next one is still being written */
};

#define RING_RECORD_MAX \
	65536U /* no record is larger: sizes of events are of 16 bits, all others are a few KiB */

/* fd is a ring buffer map of that many bytes; it is not taken over. */
MUST_USE int ring_open(int fd, size_t bytes, struct diag *d, struct ring **out);
void ring_close(struct ring *r); /* NULL is fine */

/* Where producers will write next: everything below was reserved before this call. */
uint64_t ring_end(const struct ring *r);
/* The next record below end; discarded ones are passed over. */
enum ring_state ring_next(struct ring *r, uint64_t end, const void **rec, size_t *len);
/* Passes over a record that is still being written. */
void ring_skip(struct ring *r);
/* Gives the room of all records read so far back to the producers. */
void ring_release(struct ring *r);
