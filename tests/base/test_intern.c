#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/intern.h"

static uint32_t id_of(struct intern *in, const char *s)
{
	uint32_t id = UINT32_MAX;

	expect_eq(intern_add(in, s, strlen(s), &id), 0);
	return id;
}

static void the_empty_string_is_always_there_as_zero(void **state)
{
	SCOPED(scoped_intern) struct intern *in = intern_new(0, 0);
	uint32_t id = 77;
	size_t len = 77;

	(void)state;
	assert_non_null(in);
	expect_eq(intern_nr(in), 1);
	assert_true(intern_find(in, "", 0, &id));
	expect_eq(id, INTERN_EMPTY);
	expect_eq(id_of(in, ""), INTERN_EMPTY);
	expect_eq(intern_add(in, NULL, 0, &id), 0);
	assert_string_equal(intern_string(in, 0, &len), "");
	expect_eq(len, 0);
	expect_eq(intern_nr(in), 1);
	intern_free(NULL);
}

static void equal_strings_have_equal_ids(void **state)
{
	SCOPED(scoped_intern) struct intern *in = intern_new(10, 100);
	char word[] = "bash";

	(void)state;
	expect_eq(id_of(in, word), 1);
	word[0] = 'd';
	expect_eq(id_of(in, word), 2);
	expect_eq(id_of(in, "bash"), 1);
	expect_eq(id_of(in, "dash"), 2);
	assert_string_equal(intern_string(in, 1, NULL), "bash");
	expect_eq(intern_nr(in), 3);
}

static void what_was_never_added_is_not_found(void **state)
{
	SCOPED(scoped_intern) struct intern *in = intern_new(10, 100);
	uint32_t id = 77;

	(void)state;
	id_of(in, "bash");
	assert_false(intern_find(in, "bas", 3, &id));
	assert_false(intern_find(in, "bash\0", 5, &id));
	expect_eq(id, 77);
	assert_null(intern_string(in, 2, NULL));
	assert_null(intern_string(in, UINT32_MAX, NULL));
}

static void strings_may_hold_any_bytes(void **state)
{
	SCOPED(scoped_intern) struct intern *in = intern_new(10, 100);
	uint32_t one, two;
	size_t len = 0;

	(void)state;
	expect_eq(intern_add(in, "a\0b", 3, &one), 0);
	expect_eq(intern_add(in, "a\0c", 3, &two), 0);
	assert_true(one != two);
	assert_memory_equal(intern_string(in, two, &len), "a\0c", 4);
	expect_eq(len, 3);
	expect_eq(intern_add(in, "\0", 1, &one), 0);
	assert_true(one != INTERN_EMPTY);
}

static void many_strings_stay_where_they_are(void **state)
{
	enum { NR = 20000 };
	static const char *at[NR];
	SCOPED(scoped_intern) struct intern *in = intern_new(NR, 1 << 20);
	char name[32];
	uint32_t id;

	(void)state;
	for (uint32_t i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "kworker/%u", i);
		expect_eq(id_of(in, name), i + 1);
		at[i] = intern_string(in, i + 1, NULL);
	}
	expect_eq(intern_nr(in), NR + 1);
	for (uint32_t i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "kworker/%u", i);
		assert_true(intern_find(in, name, strlen(name), &id));
		expect_eq(id, i + 1);
		assert_ptr_equal(intern_string(in, id, NULL), at[i]);
		assert_string_equal(at[i], name);
	}
}

static void the_number_of_strings_is_capped(void **state)
{
	SCOPED(scoped_intern) struct intern *in = intern_new(2, 100);
	uint32_t id = 77;

	(void)state;
	expect_eq(id_of(in, "a"), 1);
	expect_eq(id_of(in, "b"), 2);
	expect_eq(intern_add(in, "c", 1, &id), -E2BIG);
	expect_eq(id, 77);
	expect_eq(intern_nr(in), 3);
	assert_false(intern_find(in, "c", 1, &id));
	expect_eq(id_of(in, "a"), 1); /* known ones need no room */
}

static void their_bytes_are_capped(void **state)
{
	SCOPED(scoped_intern) struct intern *in = intern_new(100, 6);
	uint32_t id = 77;

	(void)state;
	expect_eq(id_of(in, "abcd"), 1);
	expect_eq(intern_add(in, "efg", 3, &id), -E2BIG);
	expect_eq(id_of(in, "ef"), 2);
	expect_eq(intern_add(in, "g", 1, &id), -E2BIG);
	expect_eq(id, 77);
}

static void a_removed_string_makes_room_and_copies_keep_it(void **state)
{
	SCOPED(scoped_intern) struct intern *in = intern_new(2, 100);
	SCOPED(scoped_intern) struct intern *copy = NULL;
	uint32_t id;

	(void)state;
	expect_eq(id_of(in, "a"), 1);
	expect_eq(id_of(in, "b"), 2);
	copy = intern_copy(in);
	assert_non_null(copy);
	intern_remove(in, 1);
	intern_remove(in, 1);
	intern_remove(in, 0);
	intern_remove(in, 77);
	assert_false(intern_find(in, "a", 1, &id));
	assert_null(intern_string(in, 1, NULL));
	expect_eq(id_of(in, "b"), 2);
	expect_eq(id_of(in, "c"), 1);
	expect_eq(intern_add(in, "d", 1, &id), -E2BIG);
	assert_string_equal(intern_string(copy, 1, NULL), "a");
	assert_true(intern_find(copy, "a", 1, &id));
	expect_eq(intern_add(copy, "e", 1, &id), -E2BIG);
	intern_remove(copy, 1);
	expect_eq(intern_add(copy, "e", 1, &id), -E2BIG); /* nor in its place */
	assert_string_equal(intern_string(in, 1, NULL), "c");
}

/* Against a plain table of what there should be; strings are long enough for them to be moved together many times. */
static void strings_come_and_go(void **state)
{
	enum { NR = 3000, STEPS = 200000 };
	static uint32_t ids[NR];
	SCOPED(scoped_intern) struct intern *in = intern_new(NR, 1 << 20);
	unsigned int seed = 7;
	char name[80];

	(void)state;
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t at = (uint32_t)rand_r(&seed) % NR, id;
		int len = snprintf(name, sizeof(name), "%040u", at);

		expect_eq(intern_find(in, name, (size_t)len, &id), ids[at] != 0);
		if (ids[at]) {
			expect_eq(id, ids[at]);
			assert_string_equal(intern_string(in, id, NULL), name);
			if (rand_r(&seed) % 2) {
				intern_remove(in, id);
				ids[at] = 0;
			}
		} else {
			expect_eq(intern_add(in, name, (size_t)len, &ids[at]), 0);
		}
	}
	assert_true(intern_nr(in) <= NR + 1);
	for (uint32_t at = 0; at < NR; at++) {
		snprintf(name, sizeof(name), "%040u", at);
		if (ids[at])
			assert_string_equal(intern_string(in, ids[at], NULL), name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_empty_string_is_always_there_as_zero),
		cmocka_unit_test(equal_strings_have_equal_ids),
		cmocka_unit_test(what_was_never_added_is_not_found),
		cmocka_unit_test(strings_may_hold_any_bytes),
		cmocka_unit_test(many_strings_stay_where_they_are),
		cmocka_unit_test(the_number_of_strings_is_capped),
		cmocka_unit_test(their_bytes_are_capped),
		cmocka_unit_test(a_removed_string_makes_room_and_copies_keep_it),
		cmocka_unit_test(strings_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
