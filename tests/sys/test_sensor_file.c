#include "../unit.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "sys/sensors/sensor_file.h"
#include "tree.h"

static void numbers_are_whole_numbers(void **state)
{
	struct sensor_files f = { 0 };
	struct tree t;
	uint64_t u = 7;
	int64_t i = 7;

	(void)state;
	tree_init(&t);
	f.root = t.root;
	tree_write(&t, "a", "12\njunk");
	tree_write(&t, "b", "-12 ");
	tree_write(&t, "c", "12x");
	tree_write(&t, "d", "");
	expect_eq(sensor_u64(&f, &u, "/%s", "a"), 0);
	expect_eq(u, 12);
	expect_eq(sensor_i64(&f, &i, "/b"), 0);
	assert_int_equal(i, -12);
	assert_int_equal(sensor_u64(&f, &u, "/b"), -EINVAL);
	assert_int_equal(sensor_u64(&f, &u, "/c"), -EINVAL);
	assert_int_equal(sensor_u64(&f, &u, "/d"), -ENODATA);
	assert_int_equal(sensor_i64(&f, &i, "/e"), -ENOENT);
	assert_int_equal(sensor_u64(&f, &u, "/%0300d", 1), -ENAMETOOLONG);
	expect_eq(u, 12);
	assert_int_equal(sensor_number("Core 12", "Core "), 12);
	assert_int_equal(sensor_number("Core ", "Core "), -1);
	assert_int_equal(sensor_number("Core 99999999999", "Core "), -1);
	tree_done(&t);
}

static bool not_b(void *ctx, const char *path)
{
	(*(int *)ctx)++;
	return strcmp(path, "/b") != 0;
}

static void what_may_not_be_read_is_left_out(void **state)
{
	struct sensor_files f = { .may_read = not_b };
	char text[SENSOR_TEXT];
	struct tree t;
	int asked = 0;

	(void)state;
	tree_init(&t);
	f.root = t.root;
	f.ctx = &asked;
	tree_write(&t, "a", "yes");
	tree_write(&t, "b", "no");
	expect_eq(sensor_text(&f, text, "/a"), 0);
	assert_string_equal(text, "yes");
	assert_int_equal(sensor_text(&f, text, "/b"), -ETIMEDOUT);
	expect_eq(asked, 2);
	tree_done(&t);
}

static void folders_are_listed_by_number(void **state)
{
	struct sensor_names n;
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_mkdir(&t, "dir/x10");
	tree_mkdir(&t, "dir/x2");
	tree_mkdir(&t, "dir/y1");
	sensor_list(&(struct sensor_files){ .root = t.root }, "/dir", "x", &n);
	expect_eq(n.nr, 2);
	assert_string_equal(n.names[0], "x2");
	assert_string_equal(n.names[1], "x10");
	scoped_sensor_names(&n);
	sensor_list(&(struct sensor_files){ .root = t.root }, "/none", "x", &n);
	expect_eq(n.nr, 0);
	scoped_sensor_names(&n);
	tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_whole_numbers),
		cmocka_unit_test(what_may_not_be_read_is_left_out),
		cmocka_unit_test(folders_are_listed_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
