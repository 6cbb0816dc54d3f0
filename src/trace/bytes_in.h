/*
 * trace/bytes_in — numbers and texts of perf.data and trace.dat, one after the other, never beyond their end.
 *
 * Numbers are of the file's byte order. What would be beyond the end is 0 or NULL, and is_bad sticks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes_in {
	const uint8_t *at, *end;
	bool is_swapped; /* numbers are of the other byte order */
	bool is_bad;
};

static inline uint64_t bytes_left(const struct bytes_in *in)
{
	return (uint64_t)(in->end - in->at);
}

/* So many bytes, which are then passed. */
static inline const uint8_t *bytes_take(struct bytes_in *in, uint64_t len)
{
	const uint8_t *at = in->at;

	if (len > bytes_left(in)) {
		in->is_bad = true;
		in->at = in->end;
		return NULL;
	}
	in->at += len;
	return at;
}

/* The next bytes as an input of their own; an empty one if there are too few. */
static inline struct bytes_in bytes_sub(struct bytes_in *in, uint64_t len)
{
	const uint8_t *at = bytes_take(in, len);

	return (struct bytes_in){ .at = at ? at : in->end,
		                  .end = in->at,
		                  .is_swapped = in->is_swapped };
}

static inline uint16_t bytes_u16_at(const uint8_t *at, bool is_swapped)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return is_swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t bytes_u32_at(const uint8_t *at, bool is_swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return is_swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t bytes_u64_at(const uint8_t *at, bool is_swapped)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return is_swapped ? __builtin_bswap64(value) : value;
}

static inline uint16_t bytes_u16(struct bytes_in *in)
{
	const uint8_t *at = bytes_take(in, sizeof(uint16_t));

	return at ? bytes_u16_at(at, in->is_swapped) : 0;
}

static inline uint32_t bytes_u32(struct bytes_in *in)
{
	const uint8_t *at = bytes_take(in, sizeof(uint32_t));

	return at ? bytes_u32_at(at, in->is_swapped) : 0;
}

static inline uint64_t bytes_u64(struct bytes_in *in)
{
	const uint8_t *at = bytes_take(in, sizeof(uint64_t));

	return at ? bytes_u64_at(at, in->is_swapped) : 0;
}

/* A text that ends with a NUL, which is there; NULL without one. */
static inline const char *bytes_text(struct bytes_in *in)
{
	const uint8_t *nul = in->at < in->end ? memchr(in->at, '\0', bytes_left(in)) : NULL;

	return nul ? (const char *)bytes_take(in, (uint64_t)(nul + 1 - in->at))
	           : (const char *)bytes_take(in, bytes_left(in) + 1);
}
