#include "../unit.h"

#include <stdio.h>
#include <string.h>

#include "symbol/proc_maps.h"

static bool parse(const char *text, struct proc_maps_line *out)
{
	struct scan s = { text, text + strlen(text) };

	return proc_maps_next(&s, out);
}

static void all_fields_of_a_line(void **state)
{
	struct proc_maps_line l;

	(void)state;
	assert_true(parse("aaaadf320000-aaaadf329000 r-xp 0001f000 fe:0a 97615      /usr/bin/a b\n",
	                  &l));
	expect_eq(l.start, 0xaaaadf320000);
	expect_eq(l.end, 0xaaaadf329000);
	expect_eq(l.offset, 0x1f000);
	expect_eq(l.dev_major, 0xfe);
	expect_eq(l.dev_minor, 0x0a);
	expect_eq(l.inode, 97615);
	assert_true(l.is_executable);
	assert_false(l.is_deleted);
	assert_string_equal(l.path, "/usr/bin/a b");
}

static void without_a_path(void **state)
{
	struct proc_maps_line l;

	(void)state;
	assert_true(parse("1000-2000 rw-p 00000000 00:00 0 \n", &l));
	assert_string_equal(l.path, "");
	assert_false(l.is_executable);
	assert_true(parse("1000-2000 r-xp 00000000 00:00 0       [vdso]", &l));
	assert_string_equal(l.path, "[vdso]");
}

static void deleted_files_and_newlines_in_paths(void **state)
{
	struct proc_maps_line l;

	(void)state;
	assert_true(parse("1000-2000 r-xp 0 1:2 3 /a\\012b\\0 (deleted)\n", &l));
	assert_true(l.is_deleted);
	assert_string_equal(l.path, "/a\nb\\0");
	assert_true(parse("1000-2000 r-xp 0 1:2 3  (deleted)\n", &l)); /* that is its name */
	assert_string_equal(l.path, "(deleted)");
}

static void what_is_no_mapping_is_skipped(void **state)
{
	static const char text[] = "\n1000-2000\n2000-1000 r-xp 0 0:0 0\nx-y r-xp 0 0:0 0\n"
				   "1000-2000 rwx 0 0:0 0\n1000-2000 r-xp 0 fffffffff:0 0\n"
				   "11111111111111111-2 r-xp 0 0:0 0\n3000-4000 r-xp 0 0:0 0 last";
	struct scan s = { text, text + strlen(text) };
	struct proc_maps_line l;

	(void)state;
	assert_true(proc_maps_next(&s, &l));
	expect_eq(l.start, 0x3000);
	assert_false(proc_maps_next(&s, &l));
}

static void long_paths_are_cut(void **state)
{
	static char text[PROC_MAPS_PATH_MAX * 2];
	struct proc_maps_line l;
	int len = snprintf(text, sizeof(text), "1000-2000 r-xp 0 0:0 1 /");

	(void)state;
	memset(text + len, 'a', sizeof(text) - (size_t)len - 1);
	assert_true(parse(text, &l));
	expect_eq(strlen(l.path), PROC_MAPS_PATH_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_of_a_line),
		cmocka_unit_test(without_a_path),
		cmocka_unit_test(deleted_files_and_newlines_in_paths),
		cmocka_unit_test(what_is_no_mapping_is_skipped),
		cmocka_unit_test(long_paths_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
