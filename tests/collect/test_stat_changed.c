/* Lists that programs write while they are read. */
#include "../unit.h"

#include <stdlib.h>

#include "collect/stat/stat_changed.h"

static uint32_t tids[STAT_CHANGED_ROOM];

static struct stat_changed *list_of(uint32_t nr)
{
	struct stat_changed *list = calloc(1, sizeof(*list));

	assert_non_null(list);
	list->nr = nr;
	for (uint32_t i = 0; i < nr && i < STAT_CHANGED_MAX; i++)
		list->tids[i] = 100 + i;
	return list;
}

static void what_was_taken_is_not_there_any_more(void **state)
{
	struct stat_changed *list = list_of(3);

	(void)state;
	expect_eq(stat_changed_take(list, tids), 3);
	expect_eq(tids[0], 100);
	expect_eq(tids[2], 102);
	expect_eq(stat_changed_take(list, tids), 0);
	free(list);
}

static void what_was_written_late_is_found_the_second_time(void **state)
{
	struct stat_changed *list = list_of(3);

	(void)state;
	list->tids[1] = 0; /* its place is taken, its name is not there yet */
	expect_eq(stat_changed_take(list, tids), 2);
	list->tids[1] = 7;
	list->tids[list->nr++] = 8;
	expect_eq(stat_changed_take(list, tids), 2);
	expect_eq(tids[0], 7);
	expect_eq(tids[1], 8);
	stat_changed_reset(list);
	expect_eq(list->nr, 0);
	free(list);
}

static void a_list_that_overflows_says_so(void **state)
{
	struct stat_changed *list = list_of(STAT_CHANGED_MAX);

	(void)state;
	assert_false(stat_changed_is_full(list));
	list->nr += 5;
	assert_true(stat_changed_is_full(list));
	expect_eq(stat_changed_take(list, tids), STAT_CHANGED_MAX);
	stat_changed_reset(list);
	assert_false(stat_changed_is_full(list));
	free(list);
}

static void an_empty_list_has_no_tid(void **state)
{
	struct stat_changed *list = list_of(0);

	(void)state;
	expect_eq(stat_changed_take(list, tids), 0);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_taken_is_not_there_any_more),
		cmocka_unit_test(what_was_written_late_is_found_the_second_time),
		cmocka_unit_test(a_list_that_overflows_says_so),
		cmocka_unit_test(an_empty_list_has_no_tid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
