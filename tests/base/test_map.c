#include "../unit.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/map.h"

struct key {
	uint64_t start_ns;
	uint32_t tid;
	uint32_t generation;
};

static struct key key_nr(uint32_t i)
{
	return (struct key){ .start_ns = i / 3, .tid = i, .generation = i % 5 };
}

static struct map *map_with(size_t key_bytes, uint32_t cap)
{
	struct map *m = NULL;

	expect_eq(map_new(key_bytes, cap, &m), 0);
	return m;
}

static void an_empty_map_finds_nothing(void **state)
{
	SCOPED(scoped_map) struct map *m = map_with(sizeof(struct key), 10);
	struct key k = key_nr(1);
	uint32_t index = 77;

	(void)state;
	assert_false(map_find(m, &k, &index));
	assert_false(map_remove(m, &k));
	expect_eq(index, 77);
	expect_eq(map_nr(m), 0);
	map_clear(m);
	map_free(NULL);
}

static void wrong_sizes_are_refused(void **state)
{
	struct map *m = NULL;

	(void)state;
	expect_eq(map_new(0, 10, &m), -EINVAL);
	expect_eq(map_new(MAP_MAX_KEY_BYTES + 1, 10, &m), -EINVAL);
	expect_eq(map_new(8, MAP_MAX_CAP + 1, &m), -EINVAL);
	assert_null(m);
}

static void every_byte_of_a_key_counts(void **state)
{
	(void)state;
	for (size_t len = 1; len <= MAP_MAX_KEY_BYTES; len++) {
		SCOPED(scoped_map) struct map *m = map_with(len, 100);
		unsigned char key[MAP_MAX_KEY_BYTES] = { 0 };
		uint32_t index;

		for (uint32_t i = 0; i < len; i++) {
			key[i] = 1;
			expect_eq(map_insert(m, key, i), 0);
			key[i] = 0;
		}
		assert_false(map_find(m, key, &index));
		for (uint32_t i = 0; i < len; i++) {
			key[i] = 1;
			assert_true(map_find(m, key, &index));
			expect_eq(index, i);
			key[i] = 0;
		}
	}
}

static void a_second_insert_replaces_the_index(void **state)
{
	SCOPED(scoped_map) struct map *m = map_with(sizeof(struct key), 10);
	struct key k = key_nr(1);
	uint32_t index;

	(void)state;
	expect_eq(map_insert(m, &k, 1), 0);
	expect_eq(map_insert(m, &k, 2), 0);
	expect_eq(map_nr(m), 1);
	assert_true(map_find(m, &k, &index));
	expect_eq(index, 2);
}

static void a_full_map_refuses_new_keys_only(void **state)
{
	SCOPED(scoped_map) struct map *m = map_with(sizeof(struct key), 3);
	struct key k;
	uint32_t index;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		k = key_nr(i);
		expect_eq(map_insert(m, &k, i), 0);
	}
	k = key_nr(3);
	expect_eq(map_insert(m, &k, 3), -E2BIG);
	assert_false(map_find(m, &k, &index));
	k = key_nr(2);
	expect_eq(map_insert(m, &k, 22), 0);
	assert_true(map_remove(m, &k));
	k = key_nr(3);
	expect_eq(map_insert(m, &k, 3), 0);
	expect_eq(map_nr(m), 3);
}

static void a_cap_of_zero_takes_nothing(void **state)
{
	SCOPED(scoped_map) struct map *m = map_with(sizeof(struct key), 0);
	struct key k = key_nr(0);

	(void)state;
	expect_eq(map_insert(m, &k, 0), -E2BIG);
}

/* Against a plain array: keys come and go in an order that fills, empties and wraps around. */
static void it_agrees_with_an_array_whatever_comes_and_goes(void **state)
{
	enum { KEYS = 3000, STEPS = 100000 };
	static bool is_in[KEYS];
	static uint32_t expected[KEYS];
	SCOPED(scoped_map) struct map *m = map_with(sizeof(struct key), KEYS);
	uint32_t random = 1, nr = 0, index;

	(void)state;
	for (uint32_t step = 0; step < STEPS; step++) {
		random = random * 1664525U + 1013904223U;
		uint32_t i = (random >> 8) % KEYS;
		struct key k = key_nr(i);
		bool is_filling = step / 10000 % 2 == 0;

		if ((random >> 28) < (is_filling ? 12U : 4U)) {
			expect_eq(map_insert(m, &k, step), 0);
			nr += !is_in[i];
			is_in[i] = true;
			expected[i] = step;
		} else {
			expect_eq(map_remove(m, &k), is_in[i]);
			nr -= is_in[i];
			is_in[i] = false;
		}
		expect_eq(map_nr(m), nr);
	}
	for (uint32_t i = 0; i < KEYS; i++) {
		struct key k = key_nr(i);

		expect_eq(map_find(m, &k, &index), is_in[i]);
		if (is_in[i])
			expect_eq(index, expected[i]);
	}
}

static void clearing_forgets_all(void **state)
{
	SCOPED(scoped_map) struct map *m = map_with(sizeof(struct key), 100);
	struct key k;
	uint32_t index;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		k = key_nr(i);
		expect_eq(map_insert(m, &k, i), 0);
	}
	map_clear(m);
	expect_eq(map_nr(m), 0);
	assert_false(map_find(m, &k, &index));
	expect_eq(map_insert(m, &k, 5), 0);
	assert_true(map_find(m, &k, &index));
	expect_eq(index, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_finds_nothing),
		cmocka_unit_test(wrong_sizes_are_refused),
		cmocka_unit_test(every_byte_of_a_key_counts),
		cmocka_unit_test(a_second_insert_replaces_the_index),
		cmocka_unit_test(a_full_map_refuses_new_keys_only),
		cmocka_unit_test(a_cap_of_zero_takes_nothing),
		cmocka_unit_test(it_agrees_with_an_array_whatever_comes_and_goes),
		cmocka_unit_test(clearing_forgets_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
