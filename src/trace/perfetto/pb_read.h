/*
 * trace/perfetto/pb_read — protobuf, read field by field from untrusted bytes; never beyond the end.
 *
 * A reader is a pair of pointers; copies are cheap and independent. pb_next() gives one field after the
 * other and false at the end; what is not protobuf (a varint of more than ten bytes, a length beyond the
 * end, a wire type of old) also ends it, with is_bad set. Nothing is copied: bytes stay where they are.
 * The caller must check the wire type of a field before its value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum pb_type { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_in {
	const uint8_t *p;
	const uint8_t *end;
	bool is_bad;
};

struct pb_field {
	uint32_t nr;
	uint32_t type;        /* enum pb_type */
	uint64_t value;       /* of a varint or fixed; the length of bytes */
	const uint8_t *bytes; /* of PB_BYTES */
};

/* bytes is NULL where there are none: even 0 cannot be added to that. */
static inline struct pb_in pb_in_of(const uint8_t *bytes, size_t len)
{
	return (struct pb_in){ .p = bytes, .end = len ? bytes + len : bytes };
}

/* The message in a field of PB_BYTES. */
static inline struct pb_in pb_in_field(const struct pb_field *f)
{
	return pb_in_of(f->bytes, (size_t)f->value);
}

static inline size_t pb_left(const struct pb_in *in)
{
	return (size_t)(in->end - in->p);
}

static inline bool pb_bad(struct pb_in *in)
{
	in->is_bad = true;
	in->p = in->end;
	return false;
}

static __attribute__((noinline, unused)) bool pb_varint_slow(struct pb_in *in, uint64_t *out)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70 && in->p < in->end; shift += 7) {
		uint8_t byte = *in->p++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*out = value;
			return true;
		}
	}
	return pb_bad(in);
}

/* The 7-bit groups of the bytes of w below the mask of one varint, put together. */
static inline uint64_t pb_pack_groups(uint64_t w)
{
	w &= 0x7f7f7f7f7f7f7f7fULL;
	w = (w & 0x007f007f007f007fULL) | (w & 0x7f007f007f007f00ULL) >> 1;
	w = (w & 0x00003fff00003fffULL) | (w & 0x3fff00003fff0000ULL) >> 2;
	return (w & 0x000000000fffffffULL) | (w & 0x0fffffff00000000ULL) >> 4;
}

static inline __attribute__((always_inline)) bool pb_varint(struct pb_in *in, uint64_t *out)
{
	uint64_t w, stops;
	unsigned int nr;

	if (in->p < in->end && *in->p < 0x80) {
		*out = *in->p++;
		return true;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (pb_left(in) >= 8) {
		memcpy(&w, in->p, sizeof(w));
		stops = ~w & 0x8080808080808080ULL;
		if (stops) {
			nr = (unsigned int)__builtin_ctzll(stops) + 1; /* bits that belong to it */
			if (nr < 64)
				w &= (1ULL << nr) - 1;
			in->p += nr / 8;
			*out = pb_pack_groups(w);
			return true;
		}
	}
#endif
	return pb_varint_slow(in, out);
}

static inline uint64_t pb_load(const uint8_t *p, size_t nr)
{
	uint64_t value = 0;

	for (size_t i = 0; i < nr; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

static inline bool pb_take_fixed(struct pb_in *in, size_t nr, uint64_t *out)
{
	if (pb_left(in) < nr)
		return pb_bad(in);
	*out = pb_load(in->p, nr);
	in->p += nr;
	return true;
}

static inline __attribute__((always_inline)) bool pb_next(struct pb_in *in, struct pb_field *f)
{
	uint64_t tag;

	if (in->p == in->end || !pb_varint(in, &tag))
		return false;
	f->bytes = NULL;
	f->nr = (uint32_t)(tag >> 3);
	f->type = tag & 7;
	f->bytes = NULL;
	if (f->nr == 0 || tag > UINT32_MAX)
		return pb_bad(in);
	switch (f->type) {
	case PB_VARINT:
		return pb_varint(in, &f->value);
	case PB_BYTES:
		if (!pb_varint(in, &f->value) || f->value > pb_left(in))
			return pb_bad(in);
		f->bytes = in->p;
		in->p += f->value;
		return true;
	case PB_FIXED64:
		return pb_take_fixed(in, 8, &f->value);
	case PB_FIXED32:
		return pb_take_fixed(in, 4, &f->value);
	default:
		return pb_bad(in);
	}
}

/* int32 of protobuf: two's complement, sign-extended to ten bytes when negative. */
static inline int32_t pb_to_int32(uint64_t value)
{
	return (int32_t)(uint32_t)value;
}

static inline double pb_to_double(uint64_t value)
{
	double d;

	memcpy(&d, &value, sizeof(d));
	return d;
}
