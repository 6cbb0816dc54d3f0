/* Names as all commands choose them: plain, globs, expressions. */
#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/match.h"
#include "base/name_pattern.h"

static void kinds_are_told_apart(void **state)
{
	(void)state;
	expect_eq(name_pattern_kind("nginx"), NAME_PATTERN_PLAIN);
	expect_eq(name_pattern_kind("foo.bar"), NAME_PATTERN_PLAIN);
	expect_eq(name_pattern_kind("/a/b"), NAME_PATTERN_PLAIN);
	expect_eq(name_pattern_kind("ngin*"), NAME_PATTERN_GLOB);
	expect_eq(name_pattern_kind("w[0-9]?"), NAME_PATTERN_GLOB);
	expect_eq(name_pattern_kind("/ngin(x|y)/"), NAME_PATTERN_REGEX);
	expect_eq(name_pattern_kind("nginx|php"), NAME_PATTERN_BARE_REGEX);
	expect_eq(name_pattern_kind("^kworker"), NAME_PATTERN_BARE_REGEX);
	expect_eq(name_pattern_kind("kworker.*"), NAME_PATTERN_BARE_REGEX);
	expect_eq(name_pattern_kind("w[0-9]"), NAME_PATTERN_BARE_REGEX);
	expect_eq(name_pattern_kind("/"), NAME_PATTERN_PLAIN);
	expect_eq(name_pattern_kind("//"), NAME_PATTERN_PLAIN);
}

static void names_fit(void **state)
{
	(void)state;
	assert_true(name_pattern_fits("nginx", "nginx"));
	assert_false(name_pattern_fits("nginx", "nginx2"));
	assert_true(name_pattern_fits("ngin?*", "nginx2"));
	assert_true(name_pattern_fits("/gin[xy]$/", "nginx"));
	assert_false(name_pattern_fits("/^gin/", "nginx"));
	assert_false(name_pattern_fits("/(/", "("));
}

static void what_does_not_compile_is_refused(void **state)
{
	struct diag d = { 0 };

	(void)state;
	expect_eq(name_pattern_check("/(/", &d), -EINVAL);
	assert_non_null(strstr(d.what, "pattern '(' is wrong"));
	d = (struct diag){ 0 };
	expect_eq(name_pattern_check("(", &d), 0); /* a name */
	expect_eq(name_pattern_check("/ok/", &d), 0);
}

/* A glob and what it becomes choose the same names. */
static void a_glob_as_an_expression(void **state)
{
	static const char *const globs[] = { "*",     "a*",  "?b*",   "[ab]*",
		                             "[!a]*", "*.c", "*[]x]", "[*" };
	static const char *const names[] = { "",    "a",   "ab",   "bb", "cb", "x.c", "xxc",
		                             "a+b", "aab", "a\nb", "a]", "[x", "[",   "b\\" };

	(void)state;
	for (size_t i = 0; i < sizeof(globs) / sizeof(globs[0]); i++) {
		struct match *m = NULL;
		struct diag d = { 0 };
		char *regex = NULL;

		expect_eq(name_pattern_kind(globs[i]), NAME_PATTERN_GLOB);
		expect_eq(name_pattern_regex(globs[i], &regex), 0);
		expect_eq(match_new((const char *const[]){ regex }, 1, &d, &m), 0);
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			expect_eq(match_any(m, names[k], strlen(names[k])),
			          name_pattern_fits(globs[i], names[k]));
		match_free(m);
		free(regex);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_told_apart),
		cmocka_unit_test(names_fit),
		cmocka_unit_test(what_does_not_compile_is_refused),
		cmocka_unit_test(a_glob_as_an_expression),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
