#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/match.h"

static struct match *compiled(const char *pattern)
{
	struct match *m = NULL;
	struct diag d = { 0 };

	if (match_new(&pattern, 1, &d, &m) != 0)
		fail_msg("%s", d.what);
	return m;
}

static bool is_match(const char *pattern, const char *s)
{
	SCOPED(scoped_match) struct match *m = compiled(pattern);
	bool answer = match_any(m, s, strlen(s));

	expect_eq(match_nr_aborted(m), 0);
	return answer;
}

static void patterns_are_searched_anywhere(void **state)
{
	(void)state;
	assert_true(is_match("work", "kworker/0:1"));
	assert_true(is_match("", "anything"));
	assert_true(is_match("", ""));
	assert_false(is_match("works", "kworker/0:1"));
	assert_true(is_match("^kworker/\\d+:\\d+$", "kworker/0:1"));
	assert_false(is_match("^worker", "kworker/0:1"));
	assert_true(is_match("(?i)NGINX", "nginx"));
	assert_true(is_match("(a)(b)\\2", "xabb"));
	assert_false(is_match("a$", "a\n"));
	assert_true(is_match("(?=.*\\bfoo\\b)(?!bar)", "a foo b"));
}

static void one_pattern_of_many_is_enough(void **state)
{
	static const char *const patterns[] = { "^java$", "(?i)^NGINX", "sh$" };
	SCOPED(scoped_match) struct match *m = NULL;

	(void)state;
	expect_eq(match_new(patterns, 3, NULL, &m), 0);
	assert_false(match_is_empty(m));
	assert_true(match_any(m, "java", 4));
	assert_true(match_any(m, "nginx: worker", 13));
	assert_true(match_any(m, "bash", 4));
	assert_false(match_any(m, "JAVA", 4)); /* flags of one do not reach the others */
	assert_false(match_any(m, "python", 6));
}

static void no_pattern_matches_nothing(void **state)
{
	SCOPED(scoped_match) struct match *m = NULL;

	(void)state;
	expect_eq(match_new(NULL, 0, NULL, &m), 0);
	assert_true(match_is_empty(m));
	assert_false(match_any(m, "x", 1));
	assert_true(match_is_empty(NULL));
	assert_false(match_any(NULL, "x", 1));
	expect_eq(match_nr_aborted(NULL), 0);
	match_free(NULL);
}

static void any_bytes_are_safe_to_search(void **state)
{
	SCOPED(scoped_match) struct match *m = compiled("^.\\xff.$");
	SCOPED(scoped_match) struct match *word = compiled("(?i)\\w+\xc3\xa9|[^a-z]{3}\\b");
	char bytes[3];

	(void)state;
	assert_true(match_any(m, "\xc3\xff\0", 3));
	assert_false(match_any(m, "\xc3\xff\0", 2));
	for (int i = 0; i < 256; i++) {
		bytes[0] = (char)i;
		bytes[1] = (char)(255 - i);
		bytes[2] = (char)(i * 7);
		match_any(word, bytes, 3);
	}
	expect_eq(match_nr_aborted(word), 0);
	assert_true(match_any(word, "caf\xc3\xa9", 5));
}

static void check_refused(const char *pattern, const char *what)
{
	struct match *m = NULL;
	struct diag d = { 0 };

	expect_eq(match_new(&pattern, 1, &d, &m), -EINVAL);
	assert_null(m);
	expect_eq(d.code, -EINVAL);
	if (!strstr(d.what, what))
		fail_msg("'%s' lacks '%s'", d.what, what);
}

static void a_wrong_pattern_is_shown_with_the_place(void **state)
{
	(void)state;
	check_refused("a(b", "pattern 'a(b' is wrong after 3 bytes: missing closing parenthesis");
	check_refused("*x", "pattern '*x' is wrong after 0 bytes: ");
	check_refused("[z", "pattern '[z' is wrong after 2 bytes: ");
	check_refused("\x1b[31m(", "pattern '?[31m(' is wrong");
	check_refused("(*UTF)a", "UTF is disabled");
	check_refused("(*UCP)a", "UCP is disabled");
}

static void one_wrong_pattern_spoils_all(void **state)
{
	static const char *const patterns[] = { "good", "b(ad" };
	struct match *m = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(match_new(patterns, 2, &d, &m), -EINVAL);
	assert_null(m);
	assert_non_null(strstr(d.what, "'b(ad'"));
	expect_eq(match_new(patterns, 2, NULL, &m), -EINVAL);
}

static void patterns_are_limited_in_length_number_and_nesting(void **state)
{
	static char pattern[MATCH_MAX_PATTERN_BYTES + 2];
	const char *many[MATCH_MAX_PATTERNS + 1];
	struct match *m = NULL;

	(void)state;
	memset(pattern, 'a', MATCH_MAX_PATTERN_BYTES);
	assert_false(is_match(pattern, "aaa"));
	pattern[MATCH_MAX_PATTERN_BYTES] = 'a';
	check_refused(pattern, "is longer than 4096 bytes");

	for (size_t i = 0; i <= MATCH_MAX_PATTERNS; i++)
		many[i] = "a";
	expect_eq(match_new(many, MATCH_MAX_PATTERNS + 1, NULL, &m), -EINVAL);
	expect_eq(match_new(many, MATCH_MAX_PATTERNS, NULL, &m), 0);
	match_free(m);

	memset(pattern, '(', 1000);
	memset(pattern + 1000, ')', 1000);
	pattern[2000] = '\0';
	check_refused(pattern, "too deep");
	check_refused("((a{1,1000}){1,1000}){1,1000}", "too large");
}

static void a_pattern_that_explodes_is_counted_as_no_match(void **state)
{
	SCOPED(scoped_match) struct match *m = compiled("(*NO_AUTO_POSSESS)^(a+)+$");
	SCOPED(scoped_match) struct match *greedy = compiled("(*LIMIT_MATCH=4000000000)(x+x+)+y");
	char name[64];

	(void)state;
	memset(name, 'a', sizeof(name));
	assert_true(match_any(m, name, sizeof(name)));
	expect_eq(match_nr_aborted(m), 0);
	name[63] = '!';
	assert_false(match_any(m, name, sizeof(name)));
	expect_eq(match_nr_aborted(m), 1);
	assert_true(match_any(m, name, 63)); /* it still works on other input */

	memset(name, 'x', sizeof(name));
	name[62] = 'z';
	name[63] = 'y';
	assert_false(match_any(greedy, name, sizeof(name)));
	expect_eq(match_nr_aborted(greedy), 1);
}

static void a_pattern_that_calls_itself_ends(void **state)
{
	SCOPED(scoped_match) struct match *m = compiled("^((?1)a|b(?1)?)*c");
	SCOPED(scoped_free) char *long_name = malloc(1 << 20);

	(void)state;
	assert_non_null(long_name);
	memset(long_name, 'b', 1 << 20);
	assert_false(match_any(m, long_name, 1 << 20));
	expect_eq(match_nr_aborted(m), 1);
}

static void ordinary_patterns_stay_far_below_the_limits(void **state)
{
	static char path[4096];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(path); i++)
		path[i] = i % 16 ? 'a' : '/';
	assert_true(is_match("^(/[a-z]+)+/?$", path));
	assert_false(is_match("(foo|bar).*\\.service$", path));
	assert_true(is_match(".*/a.*a$", path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_are_searched_anywhere),
		cmocka_unit_test(one_pattern_of_many_is_enough),
		cmocka_unit_test(no_pattern_matches_nothing),
		cmocka_unit_test(any_bytes_are_safe_to_search),
		cmocka_unit_test(a_wrong_pattern_is_shown_with_the_place),
		cmocka_unit_test(one_wrong_pattern_spoils_all),
		cmocka_unit_test(patterns_are_limited_in_length_number_and_nesting),
		cmocka_unit_test(a_pattern_that_explodes_is_counted_as_no_match),
		cmocka_unit_test(a_pattern_that_calls_itself_ends),
		cmocka_unit_test(ordinary_patterns_stay_far_below_the_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
