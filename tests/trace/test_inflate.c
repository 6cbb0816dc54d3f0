#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "trace/inflate.h"

#define LIMIT ((size_t)64 << 20)

static size_t gzip(const void *from, size_t len, uint8_t *to, size_t size, int bits)
{
	z_stream z = { 0 };

	expect_eq(deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)from;
	z.avail_in = (uInt)len;
	z.next_out = to;
	z.avail_out = (uInt)size;
	expect_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

static uint8_t *text(size_t len)
{
	uint8_t *s = malloc(len);
	uint32_t x = 1;

	for (size_t i = 0; i < len; i++) {
		x = x * 1664525U + 1013904223U;
		s[i] = (uint8_t)(x >> 28);
	}
	return s;
}

static void each_kind_gives_back_what_went_in(void **state)
{
	size_t len = 1000000, packed_len;
	uint8_t *plain = text(len), *packed = malloc(2 * len);
	struct inflated out = { 0 };

	(void)state;
	packed_len = gzip(plain, len, packed, 2 * len, MAX_WBITS + 16);
	expect_eq(inflate_sniff(packed, packed_len), INFLATE_ZLIB);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZLIB, .limit = LIMIT }, packed,
	                      packed_len, &out),
	          0);
	expect_eq(out.len, len);
	assert_memory_equal(out.bytes, plain, len);
	out.len = 0;
	packed_len = gzip(plain, len, packed, 2 * len, MAX_WBITS);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZLIB, .limit = LIMIT }, packed,
	                      packed_len, &out),
	          0);
	expect_eq(out.len, len);
	out.len = 0;
	packed_len = ZSTD_compress(packed, 2 * len, plain, len, 3);
	expect_eq(inflate_sniff(packed, packed_len), INFLATE_ZSTD);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZSTD, .limit = LIMIT }, packed,
	                      packed_len, &out),
	          0);
	expect_eq(out.len, len);
	assert_memory_equal(out.bytes, plain, len);
	free(out.bytes);
	free(plain);
	free(packed);
}

static void members_and_frames_follow_each_other(void **state)
{
	uint8_t packed[1000];
	struct inflated out = { 0 };
	size_t len;

	(void)state;
	len = gzip("one ", 4, packed, sizeof(packed), MAX_WBITS + 16);
	len += gzip("two", 3, packed + len, sizeof(packed) - len, MAX_WBITS + 16);
	memset(packed + len, 0, 20); /* padding */
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZLIB, .limit = LIMIT }, packed,
	                      len + 20, &out),
	          0);
	expect_eq(out.len, 7);
	assert_memory_equal(out.bytes, "one two", 7);
	out.len = 0;
	len = ZSTD_compress(packed, sizeof(packed), "one ", 4, 1);
	len += ZSTD_compress(packed + len, sizeof(packed) - len, "two", 3, 1);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZSTD, .limit = LIMIT }, packed,
	                      len, &out),
	          0);
	expect_eq(out.len, 7);
	free(out.bytes);
}

static void what_came_before_damage_is_kept(void **state)
{
	size_t len = 1000000, packed_len;
	uint8_t *plain = text(len), *packed = malloc(2 * len);
	struct inflated out = { 0 };

	(void)state;
	packed_len = gzip(plain, len, packed, 2 * len, MAX_WBITS + 16);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZLIB, .limit = LIMIT }, packed,
	                      packed_len / 2, &out),
	          -EBADMSG);
	assert_true(out.len > len / 4 && out.len < len);
	assert_memory_equal(out.bytes, plain, out.len);
	out.len = 0;
	packed_len = ZSTD_compress(packed, 2 * len, plain, len, 1);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZSTD, .limit = LIMIT }, packed,
	                      packed_len / 2, &out),
	          -EBADMSG);
	assert_memory_equal(out.bytes, plain, out.len);
	out.len = 0;
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZSTD, .limit = LIMIT }, packed,
	                      0, &out),
	          -EBADMSG);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZLIB, .limit = LIMIT },
	                      (const uint8_t *)"no zlib", 7, &out),
	          -EBADMSG);
	free(out.bytes);
	free(plain);
	free(packed);
}

static void a_bomb_stops_at_the_limit(void **state)
{
	size_t len = (size_t)32 << 20, packed_len;
	uint8_t *plain = calloc(1, len), *packed = malloc(len);
	struct inflated out = { 0 };

	(void)state;
	packed_len = gzip(plain, len, packed, len, MAX_WBITS);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZLIB, .limit = 1 << 20 },
	                      packed, packed_len, &out),
	          -E2BIG);
	assert_true(out.size <= 1 << 20);
	out.len = 0;
	packed_len = ZSTD_compress(packed, len, plain, len, 1);
	expect_eq(inflate_all(&(struct inflate_cfg){ .kind = INFLATE_ZSTD, .limit = 1 << 20 },
	                      packed, packed_len, &out),
	          -E2BIG);
	assert_true(out.size <= 1 << 20);
	free(out.bytes);
	free(plain);
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_gives_back_what_went_in),
		cmocka_unit_test(members_and_frames_follow_each_other),
		cmocka_unit_test(what_came_before_damage_is_kept),
		cmocka_unit_test(a_bomb_stops_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
