/*
 * base/pb_write — protobuf, encoded in one pass into a growing buffer with a cap.
 *
 * Lengths of nested messages are as short as they can be; pb_end() fills them in and moves what follows
 * if the guess of pb_begin() was wrong. Errors stick: after the first one (-ENOMEM, or -E2BIG at the cap)
 * nothing is written any more, so that callers check .error once, at the end. A zeroed struct with a cap
 * is an empty buffer. Field numbers are ours, never input.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define PB_VARINT_MAX 10UL

struct pb {
	uint8_t *buf;
	size_t len;
	size_t size; /* allocated */
	size_t cap;
	int error; /* negative errno, sticks until pb_clear() */
};

/* An open nested message. */
struct pb_mark {
	size_t start;   /* of its bytes */
	uint32_t width; /* bytes kept for its length */
};

void pb_done(struct pb *w);
void pb_clear(struct pb *w);           /* empty, without error; keeps memory */
void pb_cut(struct pb *w, size_t len); /* drops what follows len, and the error */
MUST_USE bool pb_reserve(struct pb *w,
                         size_t nr_bytes); /* room for so many; else the error is set */

/* Bytes that a varint takes; writes it and returns the end. The room is the caller's business. */
uint32_t pb_varint_size(uint64_t value);
uint8_t *pb_put_varint(uint8_t *p, uint64_t value);

void pb_uint(struct pb *w, uint32_t field, uint64_t value);
void pb_int(struct pb *w, uint32_t field, int64_t value); /* negative: ten bytes, no zigzag */
void pb_bool(struct pb *w, uint32_t field, bool value);
void pb_double(struct pb *w, uint32_t field, double value);
void pb_fixed64(struct pb *w, uint32_t field, uint64_t value);
void pb_bytes(struct pb *w, uint32_t field, const void *bytes, size_t len);
/* Text from outside: up to a NUL or len bytes; what is not UTF-8 becomes U+FFFD. */
void pb_text(struct pb *w, uint32_t field, const char *text, size_t len);
void pb_string(struct pb *w, uint32_t field,
               const char *text); /* of any length; NULL writes nothing */
/* Bytes that are encoded already. */
void pb_raw(struct pb *w, const void *bytes, size_t len);

struct pb_mark pb_begin(struct pb *w, uint32_t field);       /* expected below 128 bytes */
struct pb_mark pb_begin_large(struct pb *w, uint32_t field); /* expected up to 16383 */
void pb_end(struct pb *w, struct pb_mark mark);
