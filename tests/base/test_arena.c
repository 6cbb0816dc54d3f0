#include "../unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"

static void memory_is_zeroed_even_after_a_reset(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(1 << 20);

	(void)state;
	assert_non_null(a);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			unsigned char *p = arena_alloc(a, 30, 10, 1);

			assert_non_null(p);
			for (int j = 0; j < 300; j++)
				expect_eq(p[j], 0);
			memset(p, 0xff, 300);
		}
		arena_reset(a);
	}
}

static void objects_do_not_overlap(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(1 << 20);
	uint32_t *arrays[200];

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		arrays[i] = ARENA_ARRAY(a, uint32_t, i + 1);
		assert_non_null(arrays[i]);
		for (uint32_t j = 0; j <= i; j++)
			arrays[i][j] = i;
	}
	for (uint32_t i = 0; i < 200; i++) {
		for (uint32_t j = 0; j <= i; j++)
			expect_eq(arrays[i][j], i);
	}
}

static void every_alignment_is_kept(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(1 << 20);

	(void)state;
	for (size_t align = 1; align <= 4096; align *= 2) {
		assert_non_null(arena_alloc(a, 1, 1, 1)); /* makes the next place odd */
		uintptr_t at = (uintptr_t)arena_alloc(a, 3, 1, align);

		assert_true(at != 0);
		expect_eq(at % align, 0);
	}
}

static void an_arena_can_be_used_up_to_its_cap(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(1000);

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_non_null(arena_alloc(a, 100, 1, 1));
	assert_null(arena_alloc(a, 1, 1, 1));
}

static void the_cap_bounds_what_many_requests_get(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(100000);
	size_t total = 0;

	(void)state;
	while (arena_alloc(a, 1, 700, 8))
		total += 700;
	assert_in_range(total, 80000, 100000);
}

static void a_request_above_the_cap_fails_and_harms_nothing(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(100);

	(void)state;
	assert_null(arena_alloc(a, 101, 1, 1));
	assert_null(arena_alloc(a, SIZE_MAX, 1, 1));
	assert_null(arena_alloc(a, SIZE_MAX, 1, 64));
	assert_null(arena_alloc(a, SIZE_MAX / 2, 3, 1));
	assert_non_null(arena_alloc(a, 100, 1, 1));
}

static void an_endless_cap_does_not_overflow(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(SIZE_MAX);

	(void)state;
	assert_null(arena_alloc(a, SIZE_MAX - 1, 1, 1));
	assert_null(arena_alloc(a, SIZE_MAX - 1, 1, 4096));
	assert_non_null(arena_alloc(a, 1, 1, 1));
}

static void a_cap_of_zero_gives_nothing(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(0);

	(void)state;
	assert_null(arena_alloc(a, 1, 1, 1));
	assert_null(arena_alloc(a, 0, 1, 1));
	arena_reset(a);
	arena_free(NULL);
}

static void nothing_also_has_an_address(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(100);

	(void)state;
	assert_non_null(arena_alloc(a, 0, 8, 8));
	assert_non_null(arena_alloc(a, 8, 0, 8));
}

static void a_reset_gives_the_whole_cap_back(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(100000);

	(void)state;
	for (int round = 0; round < 3; round++) {
		while (arena_alloc(a, 1, 100, 1))
			;
		arena_reset(a);
		assert_non_null(arena_alloc(a, 100000, 1, 1));
		arena_reset(a);
	}
}

static void strings_are_copied_and_formatted(void **state)
{
	SCOPED(scoped_arena) struct arena *a = arena_new(64);
	char word[] = "idle";
	char *copy = arena_strdup(a, word);

	(void)state;
	word[0] = 'x';
	assert_string_equal(copy, "idle");
	assert_string_equal(arena_strdup(a, ""), "");
	assert_string_equal(arena_printf(a, "cpu%d: %s", 12, copy), "cpu12: idle");
	assert_null(arena_printf(a, "%100d", 1));
	assert_null(
		arena_strdup(a, "a string that is far too long for what is left of this arena"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_even_after_a_reset),
		cmocka_unit_test(objects_do_not_overlap),
		cmocka_unit_test(every_alignment_is_kept),
		cmocka_unit_test(an_arena_can_be_used_up_to_its_cap),
		cmocka_unit_test(the_cap_bounds_what_many_requests_get),
		cmocka_unit_test(a_request_above_the_cap_fails_and_harms_nothing),
		cmocka_unit_test(an_endless_cap_does_not_overflow),
		cmocka_unit_test(a_cap_of_zero_gives_nothing),
		cmocka_unit_test(nothing_also_has_an_address),
		cmocka_unit_test(a_reset_gives_the_whole_cap_back),
		cmocka_unit_test(strings_are_copied_and_formatted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
