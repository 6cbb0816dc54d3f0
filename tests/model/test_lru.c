#include "../unit.h"

#include <errno.h>
#include <stdbool.h>

#include "model/lru.h"

static void the_one_silent_for_longest_makes_room(void **state)
{
	struct lru *l = NULL;
	bool is_new;
	uint32_t i;

	(void)state;
	expect_eq(lru_new(2, &l), 0);
	expect_eq(lru_touch(l, 10, &is_new), 0);
	assert_true(is_new);
	expect_eq(lru_touch(l, 20, &is_new), 1);
	expect_eq(lru_touch(l, 10, &is_new), 0);
	assert_false(is_new);
	expect_eq(lru_touch(l, 30, &is_new), 1); /* 20 goes */
	assert_true(is_new);
	assert_false(lru_find(l, 20, &i));
	assert_true(lru_find(l, 30, &i));
	expect_eq(i, 1);
	expect_eq(lru_key(l, 1), 30);
	expect_eq(lru_key(l, 2), LRU_NONE);
	expect_eq(lru_nr(l), 2);
	expect_eq(lru_forgotten(l), 1);
	lru_clear(l);
	expect_eq(lru_nr(l), 0);
	assert_false(lru_find(l, 30, &i));
	expect_eq(lru_touch(l, 30, &is_new), 0);
	lru_free(l);
}

/* Against a list that is searched from the front. */
static void random_keys_are_those_of_a_list(void **state)
{
	uint32_t list[5], nr = 0, i;
	unsigned int seed = 1;
	struct lru *l = NULL;
	bool is_new;

	(void)state;
	expect_eq(lru_new(5, &l), 0);
	for (int step = 0; step < 20000; step++) {
		seed = seed * 1103515245 + 12345;
		uint32_t key = (seed >> 16) % 9;

		for (i = 0; i < nr && list[i] != key; i++)
			;
		(void)lru_touch(l, key, &is_new);
		assert_int_equal(is_new, i == nr);
		if (i == nr && nr < 5)
			nr++;
		else if (i == nr)
			i = nr - 1;
		for (; i; i--)
			list[i] = list[i - 1];
		list[0] = key;
		for (i = 0; i < nr; i++) {
			uint32_t row;

			assert_true(lru_find(l, list[i], &row));
			expect_eq(lru_key(l, row), list[i]);
		}
	}
	lru_free(l);
}

static void a_bad_size_is_refused(void **state)
{
	struct lru *l;

	(void)state;
	expect_eq(lru_new(0, &l), -EINVAL);
	expect_eq(lru_new(LRU_MAX + 1, &l), -EINVAL);
	lru_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_silent_for_longest_makes_room),
		cmocka_unit_test(random_keys_are_those_of_a_list),
		cmocka_unit_test(a_bad_size_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
