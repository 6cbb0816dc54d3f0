#include "../unit.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/unxz.h"

static size_t pack(const uint8_t *in, size_t len, uint8_t *out, size_t room)
{
	size_t at = 0;

	expect_eq(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, in, len, out, &at, room),
	          LZMA_OK);
	return at;
}

static void what_was_packed_comes_back(void **state)
{
	static uint8_t plain[300000], packed[400000];
	SCOPED(scoped_free) uint8_t *out = NULL;
	size_t len = 0, nr;

	(void)state;
	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)(i * i >> 3);
	nr = pack(plain, sizeof(plain), packed, sizeof(packed));
	expect_eq(unxz(packed, nr, 1 << 20, &out, &len), 0);
	expect_eq(len, sizeof(plain));
	assert_memory_equal(out, plain, len);
}

static void damage_and_bombs_are_refused(void **state)
{
	static uint8_t zeroes[4 << 20];
	uint8_t packed[8192], *out = NULL;
	size_t len = 0, nr = pack(zeroes, sizeof(zeroes), packed, sizeof(packed));

	(void)state;
	expect_eq(unxz(packed, nr, sizeof(zeroes) - 1, &out, &len), -EFBIG);
	expect_eq(unxz(packed, nr / 2, 8 << 20, &out, &len), -EINVAL);
	expect_eq(unxz("no xz", 5, 100, &out, &len), -EINVAL);
	packed[nr / 2] ^= 0x40;
	expect_eq(unxz(packed, nr, 8 << 20, &out, &len), -EINVAL);
	assert_null(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_packed_comes_back),
		cmocka_unit_test(damage_and_bombs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
