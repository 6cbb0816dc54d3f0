#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "render/table.h"

static struct arena *mem;

static int setup(void **state)
{
	(void)state;
	mem = arena_new(1 << 20);
	return mem ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(mem);
	return 0;
}

static void expect_print(const struct table *t, size_t first, size_t nr, const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	expect_eq(table_print(t, first, nr, "  ", out), 0);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void columns_align_and_lines_do_not_end_in_blanks(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, mem);
	table_col(&t, "NAME", 6);
	table_col_right(&t, "N", 4);
	table_col(&t, "LAST", 10);
	table_cell(&t, "a");
	table_u64(&t, 7);
	table_cell(&t, "x");
	table_cell(&t, "longer name");
	table_u64(&t, 12345);
	table_cell(&t, "%s", "");
	expect_eq(table_nr_rows(&t), 2);
	expect_print(&t, 0, 2,
	             "  NAME            N LAST\n"
	             "  a               7 x\n"
	             "  longer name 12345\n");
	expect_print(&t, 1, 1,
	             "  NAME            N LAST\n"
	             "  longer name 12345\n");
}

static void no_rows_print_the_titles(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, mem);
	table_col(&t, "A", 0);
	table_col(&t, "B", 0);
	expect_print(&t, 0, 0, "  A B\n");
}

static void an_empty_cell_keeps_its_place(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, mem);
	table_col(&t, "A", 3);
	table_col(&t, "B", 3);
	table_col(&t, "C", 3);
	table_cell(&t, "1");
	table_cell(&t, "%s", "");
	table_cell(&t, "3");
	expect_print(&t, 0, 1, "  A   B   C\n  1       3\n");
}

static void width_counts_columns_not_bytes(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, mem);
	table_col(&t, "A", 0);
	table_col(&t, "B", 0);
	table_cell(&t, "μμ");
	table_cell(&t, "1");
	table_cell(&t, "日本");
	table_cell(&t, "2");
	table_cell(&t, "abcd");
	table_cell(&t, "3");
	expect_print(&t, 0, 3, "  A    B\n  μμ   1\n  日本 2\n  abcd 3\n");
}

static void names_cannot_command_the_terminal(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, mem);
	table_col(&t, "A\033[1m", 0);
	table_cell(&t, "%s", "x\033[2J\n\xff");
	expect_print(&t, 0, 1, "  A?[1m\n  x?[2J??\n");
}

static void a_row_that_is_not_full_is_refused(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, mem);
	expect_eq(table_print(&t, 0, 0, "", stdout), -EINVAL);
	table_col(&t, "A", 0);
	table_col(&t, "B", 0);
	table_cell(&t, "1");
	expect_eq(table_print(&t, 0, 0, "", stdout), -EINVAL);
	table_cell(&t, "2");
	expect_eq(table_print(&t, 0, 2, "", stdout), -EINVAL);
	table_col(&t, "too late", 0);
	expect_eq(table_print(&t, 0, 1, "", stdout), -EINVAL);
}

static void too_many_columns_and_too_little_memory_are_errors(void **state)
{
	struct arena *small = arena_new(64);
	struct table t;

	(void)state;
	table_init(&t, mem);
	for (int i = 0; i < TABLE_MAX_COLS + 1; i++)
		table_col(&t, "A", 0);
	expect_eq(table_print(&t, 0, 0, "", stdout), -EINVAL);
	table_init(&t, small);
	table_col(&t, "A", 0);
	for (int i = 0; i < 100; i++)
		table_cell(&t, "some text that fills the arena");
	expect_eq(table_print(&t, 0, 0, "", stdout), -ENOMEM);
	arena_free(small);
}

static void a_stream_that_refuses_is_an_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct table t;

	(void)state;
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	table_init(&t, mem);
	table_col(&t, "A", 0);
	expect_eq(table_print(&t, 0, 0, "", full), -EIO);
	fclose(full);
}

static void many_rows_keep_their_order(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct table t;

	(void)state;
	table_init(&t, mem);
	table_col(&t, "A", 0);
	for (uint64_t i = 0; i < 1000; i++)
		table_u64(&t, i);
	expect_eq(table_nr_rows(&t), 1000);
	expect_eq(table_print(&t, 998, 2, "", out), 0);
	fclose(out);
	assert_string_equal(text, "A\n998\n999\n");
	free(text);
}

static void titles_may_take_lines(void **state)
{
	struct table t;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	table_init(&t, mem);
	t.wraps_titles = true;
	table_col(&t, "name", 0);
	table_col_right(&t, "max wait", 0);
	table_col_right(&t, "a b c d e", 0); /* as many words on a line as fit the cells */
	table_cell(&t, "x");
	table_cell(&t, "1.00us");
	table_cell(&t, "123");
	expect_eq(table_print(&t, 0, 1, "", out), 0);
	expect_eq(table_print_row(&t, 1, "", out), -EINVAL);
	fclose(out);
	assert_string_equal(text, "            a b\n"
	                          "        max c d\n"
	                          "name   wait   e\n"
	                          "x    1.00us 123\n");
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(columns_align_and_lines_do_not_end_in_blanks),
		TEST(no_rows_print_the_titles),
		TEST(an_empty_cell_keeps_its_place),
		TEST(width_counts_columns_not_bytes),
		TEST(names_cannot_command_the_terminal),
		TEST(a_row_that_is_not_full_is_refused),
		TEST(too_many_columns_and_too_little_memory_are_errors),
		TEST(a_stream_that_refuses_is_an_error),
		TEST(many_rows_keep_their_order),
		TEST(titles_may_take_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
