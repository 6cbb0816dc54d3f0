/*
 * trace/tracedat/dat_in — numbers and texts of a trace.dat file, one after the other, never beyond their end.
 *
 * Numbers are of the file's byte order. What would be beyond the end is 0 or NULL, and is_bad sticks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dat_in {
	const uint8_t *at, *end;
	bool is_swapped; /* numbers are of the other byte order */
	bool is_bad;
};

static inline uint64_t dat_left(const struct dat_in *in)
{
	return (uint64_t)(in->end - in->at);
}

/* So many bytes, which are then passed. */
static inline const uint8_t *dat_take(struct dat_in *in, uint64_t len)
{
	const uint8_t *at = in->at;

	if (len > dat_left(in)) {
		in->is_bad = true;
		in->at = in->end;
		return NULL;
	}
	in->at += len;
	return at;
}

/* The next bytes as an input of their own; an empty one if there are too few. */
static inline struct dat_in dat_sub(struct dat_in *in, uint64_t len)
{
	const uint8_t *at = dat_take(in, len);

	return (struct dat_in){ .at = at ? at : in->end,
		                .end = in->at,
		                .is_swapped = in->is_swapped };
}

static inline uint16_t dat_u16_at(const uint8_t *at, bool is_swapped)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return is_swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t dat_u32_at(const uint8_t *at, bool is_swapped)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return is_swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t dat_u64_at(const uint8_t *at, bool is_swapped)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return is_swapped ? __builtin_bswap64(value) : value;
}

static inline uint16_t dat_u16(struct dat_in *in)
{
	const uint8_t *at = dat_take(in, sizeof(uint16_t));

	return at ? dat_u16_at(at, in->is_swapped) : 0;
}

static inline uint32_t dat_u32(struct dat_in *in)
{
	const uint8_t *at = dat_take(in, sizeof(uint32_t));

	return at ? dat_u32_at(at, in->is_swapped) : 0;
}

static inline uint64_t dat_u64(struct dat_in *in)
{
	const uint8_t *at = dat_take(in, sizeof(uint64_t));

	return at ? dat_u64_at(at, in->is_swapped) : 0;
}

/* A text that ends with a NUL, which is there; NULL without one. */
static inline const char *dat_text(struct dat_in *in)
{
	const uint8_t *nul = in->at < in->end ? memchr(in->at, '\0', dat_left(in)) : NULL;

	return nul ? (const char *)dat_take(in, (uint64_t)(nul + 1 - in->at))
	           : (const char *)dat_take(in, dat_left(in) + 1);
}
