#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/grow.h"

static void an_empty_array_gets_its_first_places(void **state)
{
	uint64_t *items = NULL;
	uint32_t room = 0;

	(void)state;
	expect_eq(GROW(items, room, 0), 0);
	expect_eq(room, 16);
	items[15] = 1;
	free(items);
}

static void room_doubles_until_the_place_is_there(void **state)
{
	size_t room = 0;
	char *items = NULL;

	(void)state;
	expect_eq(GROW(items, room, 1000), 0);
	expect_eq(room, 1024);
	expect_eq(GROW(items, room, 1023), 0);
	expect_eq(room, 1024);
	expect_eq(GROW(items, room, 1024), 0);
	expect_eq(room, 2048);
	items[1024] = 'x';
	free(items);
}

static void what_was_there_stays(void **state)
{
	uint32_t *items = NULL, nr = 0, room = 0;

	(void)state;
	for (; nr < 100000; nr++) {
		expect_eq(GROW(items, room, nr), 0);
		items[nr] = nr * 7;
	}
	for (uint32_t i = 0; i < nr; i++)
		expect_eq(items[i], i * 7);
	free(items);
}

static void only_new_places_are_zeroed(void **state)
{
	struct {
		uint32_t a[3];
	} *items = NULL;
	size_t room = 0;

	(void)state;
	expect_eq(GROW_ZEROED(items, room, 3), 0);
	for (size_t i = 0; i < room; i++) {
		expect_eq(items[i].a[2], 0);
		items[i].a[0] = items[i].a[2] = 5;
	}
	expect_eq(GROW_ZEROED(items, room, 16), 0);
	expect_eq(room, 32);
	for (size_t i = 0; i < room; i++) {
		expect_eq(items[i].a[0], i < 16 ? 5 : 0);
		expect_eq(items[i].a[2], i < 16 ? 5 : 0);
	}
	free(items);
}

/* Nothing may change when it fails: the caller goes on with what it has. */
static void sizes_that_overflow_are_refused(void **state)
{
	uint64_t *items = NULL, *before;
	size_t room = 0, at = UINT32_MAX;
	uint32_t few = 0;

	(void)state;
	expect_eq(GROW(items, room, 20), 0);
	before = items;
	expect_eq(GROW(items, room, SIZE_MAX), -ENOMEM);
	expect_eq(GROW(items, room, SIZE_MAX / 2), -ENOMEM);
	expect_eq(GROW(items, room, SIZE_MAX / sizeof(*items)), -ENOMEM);
	expect_eq(room, 32);
	assert_ptr_equal(items, before);
	free(items);

	items = NULL;
	for (int i = 0; i < 3; i++, at++)
		expect_eq(GROW(items, few, at), -ENOMEM);
	expect_eq(few, 0);
	assert_null(items);
}

static void without_memory_nothing_changes(void **state)
{
	struct rlimit old, low;
	char *items = NULL;
	size_t room = 0;

	(void)state;
	expect_eq(GROW(items, room, 0), 0);
	items[0] = 'a';
	expect_eq(getrlimit(RLIMIT_DATA, &old), 0);
	low = (struct rlimit){ .rlim_cur = 64 << 20, .rlim_max = old.rlim_max };
	expect_eq(setrlimit(RLIMIT_DATA, &low), 0);
	expect_eq(GROW(items, room, (size_t)1 << 40), -ENOMEM);
	expect_eq(setrlimit(RLIMIT_DATA, &old), 0);
	expect_eq(room, 16);
	expect_eq(items[0], 'a');
	free(items);
}

static void arrays_with_the_same_indices_have_the_same_room(void **state)
{
	uint64_t *wide = NULL;
	size_t room = 0, other;
	char *narrow = NULL;

	(void)state;
	for (size_t i = 0; i < 5000; i += 13) {
		other = room;
		expect_eq(GROW(narrow, other, i), 0);
		expect_eq(GROW(wide, room, i), 0);
		expect_eq(room, other);
	}
	free(wide);
	free(narrow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_array_gets_its_first_places),
		cmocka_unit_test(room_doubles_until_the_place_is_there),
		cmocka_unit_test(what_was_there_stays),
		cmocka_unit_test(only_new_places_are_zeroed),
		cmocka_unit_test(sizes_that_overflow_are_refused),
		unit_test_if(!IS_SANITIZED, without_memory_nothing_changes,
		             "AddressSanitizer ends a program that asks for too much"),
		cmocka_unit_test(arrays_with_the_same_indices_have_the_same_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
