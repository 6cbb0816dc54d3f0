#include "../unit.h"

#include <errno.h>

#include "sys/bpf_prog_code.h"

/* Two functions, the second one lower in memory; line 7 in two places. */
static struct bpf_prog_code *make(void)
{
	static const struct bpf_prog_range ranges[] = { { 0x9000, 0x100, "main" },
		                                        { 0x4000, 0x80, "helper" } };
	static const struct bpf_prog_line lines[] = {
		{ 0x4000, "/src/a.bpf.c", "x++;", 7 },    { 0x4020, "/src/a.bpf.c", "y++;", 8 },
		{ 0x4040, "/src/a.bpf.c", "x++;", 7 },    { 0x9010, "/src/b.bpf.c", "call();", 7 },
		{ 0x9050, "/src/b.bpf.c", "return;", 9 },
	};
	struct bpf_prog_code *c = NULL;

	assert_int_equal(bpf_prog_code_make(ranges, 2, lines, 5, &c), 0);
	return c;
}

static void addresses_have_their_lines(void **state)
{
	struct bpf_prog_code *c = make();
	struct bpf_prog_place at, other;

	(void)state;
	assert_true(bpf_prog_code_has_lines(c));
	assert_true(bpf_prog_code_find(c, 0x4000, &at));
	expect_eq(at.line, 7);
	assert_string_equal(at.function, "helper");
	assert_string_equal(at.text, "x++;");
	assert_true(bpf_prog_code_find(c, 0x403f, &at));
	expect_eq(at.line, 8);
	assert_true(bpf_prog_code_find(c, 0x407f, &at));
	expect_eq(at.line, 7);
	assert_true(bpf_prog_code_find(c, 0x4001, &other));
	expect_eq(at.number, other.number); /* one line in two places */
	assert_true(bpf_prog_code_find(c, 0x9020, &other));
	expect_eq(other.line, 7);
	assert_string_equal(other.file, "/src/b.bpf.c");
	assert_true(at.number != other.number);
	assert_true(bpf_prog_code_find(c, 0x90ff, &at));
	expect_eq(at.line, 9);
	bpf_prog_code_free(c);
}

static void outside_there_is_nothing(void **state)
{
	static const uint64_t others[] = { 0, 0x3fff, 0x4080, 0x8fff, 0x9100, UINT64_MAX };
	struct bpf_prog_code *c = make();
	struct bpf_prog_place at;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(bpf_prog_code_find(c, others[i], &at));
	bpf_prog_code_free(c);
	bpf_prog_code_free(NULL);
}

/* Before its first line a function does not borrow one of the function below it. */
static void code_without_a_line_belongs_to_its_function(void **state)
{
	struct bpf_prog_code *c = make();
	struct bpf_prog_place at;

	(void)state;
	assert_true(bpf_prog_code_find(c, 0x9004, &at));
	assert_string_equal(at.function, "main");
	assert_null(at.file);
	expect_eq(at.line, 0);
	assert_true(at.number < bpf_prog_code_nr(c));
	bpf_prog_code_free(c);
}

static void a_program_without_lines_has_functions(void **state)
{
	static const struct bpf_prog_range ranges[] = { { 0x100, 0x10, NULL },
		                                        { 0x200, 0x10, "f" } };
	struct bpf_prog_code *c = NULL;
	struct bpf_prog_place a, b;

	(void)state;
	assert_int_equal(bpf_prog_code_make(ranges, 2, NULL, 0, &c), 0);
	assert_false(bpf_prog_code_has_lines(c));
	assert_true(bpf_prog_code_find(c, 0x10f, &a));
	assert_true(bpf_prog_code_find(c, 0x200, &b));
	assert_null(a.function);
	assert_true(a.number != b.number);
	assert_true(a.number < bpf_prog_code_nr(c) && b.number < bpf_prog_code_nr(c));
	bpf_prog_code_free(c);
}

static void a_program_that_is_not_there_is_told(void **state)
{
	struct bpf_prog_code *c = NULL;
	struct diag d = { 0 };

	(void)state;
	assert_true(bpf_prog_code_read(UINT32_MAX, &d, &c) < 0); /* -ENOENT, or no rights */
	assert_null(c);
	assert_true(d.what[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_have_their_lines),
		cmocka_unit_test(outside_there_is_nothing),
		cmocka_unit_test(code_without_a_line_belongs_to_its_function),
		cmocka_unit_test(a_program_without_lines_has_functions),
		cmocka_unit_test(a_program_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
