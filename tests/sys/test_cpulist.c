#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/cpulist.h"

/* A list as ranges, as the kernel prints them. */
static const char *again(const char *text)
{
	static char buf[256];
	struct cpulist l = { 0 };
	size_t len = 0;
	int next;

	buf[0] = '\0';
	expect_eq(cpulist_parse(text, &l), 0);
	for (int first = cpulist_next(&l, 0); first >= 0; first = next) {
		int last = first;

		while ((next = cpulist_next(&l, (uint32_t)last + 1)) == last + 1)
			last = next;
		len += (size_t)snprintf(buf + len, sizeof(buf) - len,
		                        first == last ? "%s%d" : "%s%d-%d", len ? "," : "", first,
		                        last);
	}
	cpulist_done(&l);
	return buf;
}

static void lists_are_read_as_the_kernel_prints_them(void **state)
{
	(void)state;
	assert_string_equal(again("0-3,8,10-11\n"), "0-3,8,10-11");
	assert_string_equal(again("0"), "0");
	assert_string_equal(again("63-64"), "63-64");
	assert_string_equal(again(" 5,4,3 "), "3-5");
	assert_string_equal(again("1-4,2-9"), "1-9");
	assert_string_equal(again("65535"), "65535");
}

static void strides_take_the_first_of_each_group(void **state)
{
	(void)state;
	assert_string_equal(again("0-15:2/4"), "0-1,4-5,8-9,12-13");
	assert_string_equal(again("1-7:1/2,20"), "1,3,5,7,20");
	assert_string_equal(again("0-5:3/3"), "0-5");
}

static void nothing_is_the_empty_set(void **state)
{
	struct cpulist l = { 0 };

	(void)state;
	assert_string_equal(again(""), "");
	assert_string_equal(again("\n"), "");
	expect_eq(cpulist_next(&l, 0), -1);
	expect_eq(cpulist_last(&l), -1);
	assert_false(cpulist_has(&l, 0));
}

static void anything_else_is_refused(void **state)
{
	static const char *const bad[] = {
		"x",    ",",     "1,",     ",1",      "1,,2",    "3-1",     "1-",  "-1",    "1 2",
		"0-3:", "0-3:2", "0-3:2/", "0-3:0/2", "0-3:3/2", "0-3:1/0", "0x1", "1-2-3", "1.5"
	};
	struct cpulist l = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_eq(cpulist_parse(bad[i], &l), -EINVAL);
	assert_null(l.words);
}

static void numbers_end_at_the_cap(void **state)
{
	struct cpulist l = { 0 };

	(void)state;
	expect_eq(cpulist_parse("65536", &l), -ERANGE);
	expect_eq(cpulist_parse("0-99999999999999999999", &l), -ERANGE);
	expect_eq(cpulist_add(&l, CPULIST_MAX), -ERANGE);
	expect_eq(cpulist_parse("0-65535", &l), 0);
	expect_eq(l.nr, CPULIST_MAX);
	expect_eq(cpulist_last(&l), CPULIST_MAX - 1);
	expect_eq(cpulist_next(&l, CPULIST_MAX), -1);
	cpulist_done(&l);
}

static void members_are_visited_in_order(void **state)
{
	static const int expected[] = { 3, 64, 200 };
	struct cpulist l = { 0 };
	size_t n = 0;

	(void)state;
	expect_eq(cpulist_parse("200,3,64", &l), 0);
	cpulist_for_each(cpu, &l) expect_eq(cpu, expected[n++]);
	expect_eq(n, 3);
	expect_eq(l.nr, 3);
	expect_eq(cpulist_add(&l, 64), 0);
	expect_eq(l.nr, 3);
	assert_true(cpulist_has(&l, 200));
	assert_false(cpulist_has(&l, 201));
	cpulist_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read_as_the_kernel_prints_them),
		cmocka_unit_test(strides_take_the_first_of_each_group),
		cmocka_unit_test(nothing_is_the_empty_set),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(numbers_end_at_the_cap),
		cmocka_unit_test(members_are_visited_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
