#include "../unit.h"

#include "symbol/frame_cache.h"

static void by_file_and_address(void **state)
{
	struct frame_cache *c = frame_cache_new();
	struct symbol_frame one = { .name = "one" }, two[2] = { { .name = "a" }, { .name = "b" } };
	struct symbol_frame out[SYMBOL_FRAMES_MAX];

	(void)state;
	assert_non_null(c);
	frame_cache_put(c, 1, 0x1000, &one, 1);
	frame_cache_put(c, 2, 0x1000, two, 2);
	expect_eq(frame_cache_get(c, 1, 0x1000, out), 1);
	assert_string_equal(out[0].name, "one");
	expect_eq(frame_cache_get(c, 2, 0x1000, out), 2);
	assert_string_equal(out[1].name, "b");
	expect_eq(frame_cache_get(c, 3, 0x1000, out), 0);
	expect_eq(frame_cache_get(c, 1, 0x1001, out), 0);
	expect_eq(frame_cache_get(c, FRAME_CACHE_KERNEL, 0x1000, out), 0);
	frame_cache_free(c);
}

static void a_full_one_starts_anew(void **state)
{
	struct frame_cache *c = frame_cache_new();
	struct symbol_frame f = { .name = "f" }, out[SYMBOL_FRAMES_MAX];

	(void)state;
	assert_non_null(c);
	for (uint64_t i = 0; i <= FRAME_CACHE_MAX; i++)
		frame_cache_put(c, 1, i, &f, 1);
	expect_eq(frame_cache_get(c, 1, 0, out), 0);
	expect_eq(frame_cache_get(c, 1, FRAME_CACHE_MAX, out), 1);
	frame_cache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_file_and_address),
		cmocka_unit_test(a_full_one_starts_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
