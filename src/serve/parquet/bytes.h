/*
 * serve/parquet/bytes — a block of bytes that grows at its end.
 *
 * The first failure sticks: what is added afterwards is dropped, and bytes_error() is -ENOMEM, so that callers check once.
 * A zeroed one is empty. One thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct bytes {
	uint8_t *at;
	size_t nr;
	size_t room;
	int error;
};

/* Room for so many more; NULL without memory. They are part of it when the caller has added to nr. */
uint8_t *bytes_reserve(struct bytes *b, size_t nr);
void bytes_add(struct bytes *b, const void *from, size_t nr);
void bytes_u8(struct bytes *b, uint8_t value);
void bytes_u32(struct bytes *b, uint32_t value); /* little endian */
void bytes_u64(struct bytes *b, uint64_t value); /* little endian */
void bytes_varint(struct bytes *b, uint64_t value);
void bytes_zigzag(struct bytes *b, int64_t value);
MUST_USE int bytes_error(const struct bytes *b);
void bytes_clear(struct bytes *b); /* keeps memory, forgets an error */
void bytes_done(struct bytes *b);
