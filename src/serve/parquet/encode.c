#include "serve/parquet/encode.h"

#include <string.h>

#define DELTA_BLOCK 128U /* values; the format wants a multiple of 128 */
#define DELTA_MINI  32U  /* values packed with the same width; a multiple of 32 */
#define DELTA_MINIS (DELTA_BLOCK / DELTA_MINI)
#define RLE_GROUP   8U  /* packed values come in groups of eight */
#define RLE_RUN_MIN 8U  /* equal values that are worth a run */
#define RLE_GROUPS  63U /* of one packed run, so that its header is one byte */

unsigned int encode_width(uint64_t value)
{
	return value ? 64U - (unsigned int)__builtin_clzll(value) : 0;
}

void encode_plain64(struct bytes *out, const uint64_t *values, size_t nr)
{
	uint8_t *to = nr <= SIZE_MAX / 8 ? bytes_reserve(out, nr * 8) : NULL;

	if (!to)
		return;
	for (size_t i = 0; i < nr; i++)
		for (unsigned int byte = 0; byte < 8; byte++)
			to[i * 8 + byte] = (uint8_t)(values[i] >> (8 * byte));
	out->nr += nr * 8;
}

void encode_plain_bits(struct bytes *out, const uint64_t *values, size_t nr)
{
	size_t nr_bytes = (nr + 7) / 8;
	uint8_t *to = bytes_reserve(out, nr_bytes);

	if (!to)
		return;
	memset(to, 0, nr_bytes);
	for (size_t i = 0; i < nr; i++)
		if (values[i])
			to[i / 8] |= (uint8_t)(1U << (i % 8));
	out->nr += nr_bytes;
}

void encode_plain_text(struct bytes *out, const char *text, size_t len)
{
	bytes_u32(out, (uint32_t)len);
	bytes_add(out, text, len);
}

/* nr values of width bits, beginning with the lowest bit; nr * width is a multiple of 8. */
static void pack(struct bytes *out, const uint64_t *values, size_t nr, unsigned int width)
{
	size_t nr_bytes = nr * width / 8;
	uint8_t *to = bytes_reserve(out, nr_bytes);
	unsigned __int128 bits = 0;
	unsigned int have = 0;

	if (!to)
		return;
	for (size_t i = 0; i < nr; i++) {
		bits |= (unsigned __int128)values[i] << have;
		for (have += width; have >= 8; have -= 8, bits >>= 8)
			*to++ = (uint8_t)bits;
	}
	out->nr += nr_bytes;
}

static size_t run_length(const uint64_t *values, size_t nr)
{
	size_t run = 1;

	while (run < nr && values[run] == values[0])
		run++;
	return run;
}

static void put_run(struct bytes *out, uint64_t value, size_t nr, unsigned int width)
{
	bytes_varint(out, (uint64_t)nr << 1);
	for (unsigned int bit = 0; bit < width; bit += 8)
		bytes_u8(out, (uint8_t)(value >> bit));
}

/* Groups of eight; the last one is filled up with zeros, so only the last run of a page may have such a group. */
static void put_packed(struct bytes *out, const uint64_t *values, size_t nr, unsigned int width)
{
	while (nr) {
		size_t groups = (nr + RLE_GROUP - 1) / RLE_GROUP;
		uint64_t last[RLE_GROUP] = { 0 };
		size_t whole;

		if (groups > RLE_GROUPS)
			groups = RLE_GROUPS;
		whole = nr / RLE_GROUP < groups ? nr / RLE_GROUP : groups;
		bytes_varint(out, groups << 1 | 1);
		pack(out, values, whole * RLE_GROUP, width);
		values += whole * RLE_GROUP;
		nr -= whole * RLE_GROUP;
		if (whole == groups)
			continue;
		memcpy(last, values, nr * sizeof(*values));
		pack(out, last, RLE_GROUP, width);
		nr = 0;
	}
}

/* Values before the next run that is worth it: whole groups, or all that is left. */
static size_t packed_length(const uint64_t *values, size_t nr)
{
	size_t at = 0;

	while (at < nr &&
	       run_length(values + at, nr - at < RLE_RUN_MIN ? nr - at : RLE_RUN_MIN) < RLE_RUN_MIN)
		at += RLE_GROUP;
	return at < nr ? at : nr;
}

void encode_rle(struct bytes *out, const uint64_t *values, size_t nr, unsigned int width)
{
	while (nr) {
		size_t run = run_length(values, nr);

		if (run >= RLE_RUN_MIN || run == nr) {
			put_run(out, values[0], run, width);
		} else {
			run = packed_length(values, nr);
			put_packed(out, values, run, width);
		}
		values += run;
		nr -= run;
	}
}

/* One block of differences, 1 to DELTA_BLOCK; those behind the end are as the least, so that they pack to 0. */
static void put_block(struct bytes *out, int64_t deltas[DELTA_BLOCK], size_t nr)
{
	size_t minis = (nr + DELTA_MINI - 1) / DELTA_MINI;
	uint64_t packed[DELTA_BLOCK] = { 0 };
	unsigned int widths[DELTA_MINIS] = { 0 };
	int64_t least = deltas[0];

	for (size_t i = 1; i < nr; i++)
		least = deltas[i] < least ? deltas[i] : least;
	for (size_t i = 0; i < nr; i++) {
		unsigned int width;

		packed[i] = (uint64_t)deltas[i] - (uint64_t)least;
		width = encode_width(packed[i]);
		if (width > widths[i / DELTA_MINI])
			widths[i / DELTA_MINI] = width;
	}
	bytes_zigzag(out, least);
	for (size_t i = 0; i < DELTA_MINIS; i++)
		bytes_u8(out, (uint8_t)widths[i]);
	for (size_t i = 0; i < minis; i++)
		pack(out, packed + i * DELTA_MINI, DELTA_MINI, widths[i]);
}

void encode_delta(struct bytes *out, const uint64_t *values, size_t nr)
{
	int64_t deltas[DELTA_BLOCK];
	size_t filled = 0;

	bytes_varint(out, DELTA_BLOCK);
	bytes_varint(out, DELTA_MINIS);
	bytes_varint(out, nr);
	bytes_zigzag(out, nr ? (int64_t)values[0] : 0);
	for (size_t i = 1; i < nr; i++) {
		deltas[filled++] = (int64_t)(values[i] - values[i - 1]);
		if (filled < DELTA_BLOCK && i + 1 < nr)
			continue;
		put_block(out, deltas, filled);
		filled = 0;
	}
}
