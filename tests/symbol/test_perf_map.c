#include "../unit.h"

#include <string.h>

#include "base/cleanup.h"
#include "symbol/perf_map.h"

static struct symtab *parsed(const char *text)
{
	struct symtab *t = NULL;

	expect_eq(perf_map_parse(text, strlen(text), &t), 0);
	return t;
}

static const char *name_at(const struct symtab *t, uint64_t address)
{
	struct symtab_hit hit;

	return symtab_find(t, address, &hit) ? hit.name : "-";
}

static void names_may_hold_spaces(void **state)
{
	SCOPED(scoped_symtab)
	struct symtab *t = parsed(
		"1000 10 LazyCompile:~a b /x.js:1\r\n0x2000 0x20 hex\n3000 1 no newline");

	(void)state;
	assert_string_equal(name_at(t, 0x100f), "LazyCompile:~a b /x.js:1");
	assert_string_equal(name_at(t, 0x1010), "-");
	assert_string_equal(name_at(t, 0x201f), "hex");
	assert_string_equal(name_at(t, 0x3000), "no newline");
}

static void newer_lines_win(void **state)
{
	SCOPED(scoped_symtab)
	struct symtab *t = parsed("1000 10 a_old\n1000 20 __much_longer_new\n");

	(void)state;
	assert_string_equal(name_at(t, 0x1000), "__much_longer_new");
	assert_string_equal(name_at(t, 0x101f), "__much_longer_new");
}

static void what_is_no_line_is_skipped(void **state)
{
	SCOPED(scoped_symtab)
	struct symtab *t = parsed(
		"\nxyz\n1000\n1000 10\n1000 0 empty\nffffffffffffffff 10 around\n2000 10 good\n");

	(void)state;
	expect_eq(symtab_nr(t), 1);
	assert_string_equal(name_at(t, 0x2000), "good");
	assert_string_equal(name_at(t, 0x1000), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_may_hold_spaces),
		cmocka_unit_test(newer_lines_win),
		cmocka_unit_test(what_is_no_line_is_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
