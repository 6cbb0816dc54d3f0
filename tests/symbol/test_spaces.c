#include "../unit.h"

#include <errno.h>

#include "base/cleanup.h"
#include "symbol/spaces.h"

#define NOTHING UINT32_MAX

static const struct spaces_cfg DEFAULTS = { 0 };

static void map(struct spaces *s, uint32_t tgid, uint64_t ts_ns, uint64_t start, uint64_t end,
                uint32_t file)
{
	const struct space_mapping m = { .start = start, .end = end, .file = file };

	expect_eq(spaces_map(s, tgid, ts_ns, &m), 0);
}

static uint32_t file_at(struct spaces *s, uint32_t tgid, uint64_t ts_ns, uint64_t address)
{
	struct space_mapping m;

	return spaces_find(s, tgid, ts_ns, address, &m) ? m.file : NOTHING;
}

static void the_newest_at_that_time_counts(void **state)
{
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&DEFAULTS);

	(void)state;
	map(s, 1, 10, 0x1000, 0x9000, 1);
	map(s, 1, 20, 0x3000, 0x4000, 2);
	expect_eq(file_at(s, 1, 9, 0x3000), NOTHING);
	expect_eq(file_at(s, 1, 10, 0x3000), 1);
	expect_eq(file_at(s, 1, 20, 0x3000), 2);
	expect_eq(file_at(s, 1, 99, 0x4000),
	          1); /* what was mapped over ends, what is around it not */
	expect_eq(file_at(s, 1, 99, 0x8fff), 1);
	expect_eq(file_at(s, 1, 99, 0x9000), NOTHING);
	expect_eq(file_at(s, 2, 99, 0x3000), NOTHING);
}

static void exec_ends_all_and_begins_anew(void **state)
{
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&DEFAULTS);
	struct space_life life;

	(void)state;
	map(s, 1, 10, 0x1000, 0x2000, 1);
	assert_true(spaces_life(s, 1, 10, &life));
	assert_false(life.is_whole);
	expect_eq(spaces_exec(s, 1, 50), 0);
	map(s, 1, 51, 0x1000, 0x2000, 2);
	expect_eq(file_at(s, 1, 49, 0x1000), 1);
	expect_eq(file_at(s, 1, 50, 0x1000), NOTHING);
	expect_eq(file_at(s, 1, 51, 0x1000), 2);
	assert_true(spaces_life(s, 1, 60, &life));
	assert_true(life.is_whole);
}

static void a_child_has_what_its_parent_had(void **state)
{
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&DEFAULTS);

	(void)state;
	map(s, 1, 10, 0x1000, 0x2000, 1);
	map(s, 1, 15, 0x1000, 0x2000, 2);
	expect_eq(spaces_fork(s, 1, 7, 20), 0);
	map(s, 1, 30, 0x1000, 0x2000, 3);
	map(s, 7, 40, 0x5000, 0x6000, 4);
	expect_eq(file_at(s, 7, 25, 0x1000), 2);
	expect_eq(file_at(s, 7, 99, 0x1000), 2);
	expect_eq(file_at(s, 1, 99, 0x1000), 3);
	expect_eq(file_at(s, 1, 99, 0x5000), NOTHING);
	expect_eq(file_at(s, 7, 19, 0x1000), NOTHING);
}

static void a_number_given_again_is_another_life(void **state)
{
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&DEFAULTS);
	struct space_life first, second;

	(void)state;
	map(s, 1, 10, 0x1000, 0x2000, 1);
	spaces_exit(s, 1, 50);
	expect_eq(file_at(s, 1, 60, 0x1000), 1); /* exit loses nothing */
	map(s, 1, 70, 0x1000, 0x2000, 2);
	expect_eq(file_at(s, 1, 60, 0x1000), 1);
	expect_eq(file_at(s, 1, 70, 0x1000), 2);
	assert_true(spaces_life(s, 1, 60, &first));
	assert_true(spaces_life(s, 1, 80, &second));
	assert_true(first.serial != second.serial);
	assert_true(first.has_exited && !second.has_exited);
}

static void what_was_read_from_proc_holds_for_before(void **state)
{
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&DEFAULTS);
	const struct space_process now = { .start_ns = 5, .uid = 42 };
	const struct space_process other = { .start_ns = 300, .uid = 43 };
	const struct space_process gone = { 0 };
	struct space_life life;
	uint64_t since = 99;

	(void)state;
	expect_eq(spaces_read(s, 1, &now, 100, &since), 0);
	map(s, 1, since, 0x1000, 0x2000, 1);
	expect_eq(file_at(s, 1, 50, 0x1000), 1);
	/* Read again: what is new came after the first time. */
	expect_eq(spaces_read(s, 1, &now, 200, &since), 0);
	expect_eq(since, 100);
	map(s, 1, since, 0x5000, 0x6000, 2);
	expect_eq(file_at(s, 1, 99, 0x5000), NOTHING);
	expect_eq(file_at(s, 1, 150, 0x5000), 2);
	/* Another process under this number. */
	expect_eq(spaces_read(s, 1, &other, 400, &since), 0);
	expect_eq(file_at(s, 1, 250, 0x1000), 1);
	expect_eq(file_at(s, 1, 350, 0x1000), NOTHING);
	assert_true(spaces_life(s, 1, 350, &life));
	expect_eq(life.uid, 43);
	/* And that one is gone, too. */
	expect_eq(spaces_read(s, 1, &gone, 500, &since), 0);
	assert_true(spaces_life(s, 1, 350, &life));
	assert_true(life.has_exited);
	expect_eq(life.tried_ns, 500);
}

static void after_exec_nothing_older_is_read(void **state)
{
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&DEFAULTS);
	const struct space_process now = { .start_ns = 5 };
	uint64_t since = 0;

	(void)state;
	expect_eq(spaces_exec(s, 1, 50), 0);
	expect_eq(spaces_read(s, 1, &now, 100, &since), 0);
	expect_eq(since, 50);
}

static void reports_of_what_is_there_add_nothing(void **state)
{
	const struct spaces_cfg two = { .max_per_life = 2 };
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&two);

	(void)state;
	map(s, 1, 10, 0x1000, 0x2000, 1);
	for (uint64_t i = 0; i < 100; i++)
		map(s, 1, 20 + i, 0x3000, 0x4000, 2);
	expect_eq(file_at(s, 1, 200, 0x1000), 1);
	map(s, 1, 300, 0x5000, 0x6000, 3); /* a third one: the oldest goes */
	expect_eq(file_at(s, 1, 300, 0x1000), NOTHING);
	expect_eq(file_at(s, 1, 300, 0x3000), 2);
	expect_eq(file_at(s, 1, 300, 0x5000), 3);
}

static void those_that_ended_first_are_forgotten_first(void **state)
{
	const struct spaces_cfg three = { .max_lives = 3 };
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&three);

	(void)state;
	for (uint32_t tgid = 1; tgid <= 3; tgid++)
		map(s, tgid, tgid, 0x1000, 0x2000, tgid);
	map(s, 4, 10, 0x1000, 0x2000, 4); /* all live: no room */
	expect_eq(spaces_unkept(s), 1);
	expect_eq(file_at(s, 4, 10, 0x1000), NOTHING);
	spaces_exit(s, 2, 20);
	spaces_exit(s, 1, 30);
	map(s, 5, 40, 0x1000, 0x2000, 5);
	expect_eq(file_at(s, 2, 40, 0x1000), NOTHING);
	expect_eq(file_at(s, 1, 40, 0x1000), 1);
	expect_eq(file_at(s, 5, 40, 0x1000), 5);
	map(s, 1, 50, 0x1000, 0x2000, 6); /* its number again, and room only for one of both */
	expect_eq(file_at(s, 1, 50, 0x1000), 6);
	expect_eq(spaces_nr(s), 3);
}

static void all_mappings_together_are_bounded(void **state)
{
	const struct spaces_cfg ten = { .max_mappings = 10 };
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&ten);

	(void)state;
	for (uint64_t i = 1; i <= 8; i++)
		map(s, 1, i, i * 0x1000, i * 0x1000 + 1, (uint32_t)i);
	spaces_exit(s, 1, 10);
	for (uint64_t i = 1; i <= 12; i++)
		map(s, 2, i, i * 0x1000, i * 0x1000 + 1, (uint32_t)i);
	expect_eq(file_at(s, 1, 20, 0x1000), NOTHING);
	expect_eq(file_at(s, 2, 20, 0xa000), 10);
	expect_eq(file_at(s, 2, 20, 0xb000), NOTHING);
	expect_eq(spaces_unkept(s), 2);
}

/* Forks, execs and ends without order: the counts must fit, and sanitizers be content. */
static void a_busy_machine_stays_within_its_bounds(void **state)
{
	const struct spaces_cfg small = { .max_lives = 20, .max_mappings = 60, .max_per_life = 8 };
	SCOPED(scoped_spaces) struct spaces *s = spaces_new(&small);
	uint32_t seed = 7;

	(void)state;
	for (uint64_t ts = 1; ts < 20000; ts++) {
		uint32_t a = (seed = seed * 1664525 + 1013904223) >> 16;
		uint32_t tgid = 1 + a % 40, other = 1 + a / 40 % 40;

		switch (a / 1600 % 5) {
		case 0:
			expect_eq(spaces_fork(s, tgid, other, ts), 0);
			break;
		case 1:
			expect_eq(spaces_exec(s, tgid, ts), 0);
			break;
		case 2:
			spaces_exit(s, tgid, ts);
			break;
		default:
			map(s, tgid, ts, 0x1000ULL * (a % 30 + 1), 0x1000ULL * (a % 30 + 3), a);
			break;
		}
		(void)file_at(s, tgid, ts - ts % 7, 0x1000ULL * (a % 30 + 1));
		assert_true(spaces_nr(s) <= 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_at_that_time_counts),
		cmocka_unit_test(exec_ends_all_and_begins_anew),
		cmocka_unit_test(a_child_has_what_its_parent_had),
		cmocka_unit_test(a_number_given_again_is_another_life),
		cmocka_unit_test(what_was_read_from_proc_holds_for_before),
		cmocka_unit_test(after_exec_nothing_older_is_read),
		cmocka_unit_test(reports_of_what_is_there_add_nothing),
		cmocka_unit_test(those_that_ended_first_are_forgotten_first),
		cmocka_unit_test(all_mappings_together_are_bounded),
		cmocka_unit_test(a_busy_machine_stays_within_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
