#include "../unit.h"

#include "base/hash.h"

static void equal_bytes_have_equal_hashes(void **state)
{
	(void)state;
	expect_eq(hash_bytes("kworker/0:1", 11, 5), hash_bytes("kworker/0:1x", 11, 5));
	expect_eq(hash_bytes(NULL, 0, 5), hash_bytes("x", 0, 5));
}

static void length_and_seed_count(void **state)
{
	(void)state;
	assert_true(hash_bytes("a\0", 1, 5) != hash_bytes("a\0", 2, 5));
	assert_true(hash_bytes("a", 1, 5) != hash_bytes("a", 1, 6));
	assert_true(hash_bytes("", 0, 5) != hash_bytes("\0", 1, 5));
}

/* Tables use the low bits: numbers in a row must fill 256 buckets about evenly. */
static void numbers_in_a_row_spread_over_the_low_bits(void **state)
{
	uint32_t buckets[256] = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 256UL * 64; i++)
		buckets[hash_bytes(&i, sizeof(i), 42) % 256]++;
	for (uint32_t i = 0; i < 256; i++)
		assert_in_range(buckets[i], 16, 128);
}

static void each_table_gets_its_own_seed(void **state)
{
	(void)state;
	assert_true(hash_seed() != hash_seed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_bytes_have_equal_hashes),
		cmocka_unit_test(length_and_seed_count),
		cmocka_unit_test(numbers_in_a_row_spread_over_the_low_bits),
		cmocka_unit_test(each_table_gets_its_own_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
