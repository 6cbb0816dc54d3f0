#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/toml.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct toml *parsed(const char *text)
{
	struct toml *t = NULL;
	struct diag d = { 0 };

	if (toml_parse(text, strlen(text), &d, &t))
		fail_msg("%s", d.what);
	return t;
}

static const char *text_of(const struct toml *t, const char *table, const char *key)
{
	const struct toml_entry *e = toml_find(t, table, key);

	assert_non_null(e);
	return e->text;
}

static void every_kind_of_value_is_read(void **state)
{
	struct toml *t = parsed("a = \"x\\ty\\u00e9\\U0001F600\\\\\" # c\n"
	                        "b = 'no \\ escapes'\n"
	                        "c = 1_000\nd = -7\ne = 0xff\nf = true\ng = false\n"
	                        "h = 1.5\ni = 2026-01-31T00:00:00Z\nj = { x = [1, '}'] }\n"
	                        "k = \"\"\"two\nlines\"\"\"\nl = 99999999999999999999\n");

	(void)state;
	assert_string_equal(text_of(t, "", "a"), "x\ty\xc3\xa9\xf0\x9f\x98\x80\\");
	assert_string_equal(text_of(t, "", "b"), "no \\ escapes");
	assert_int_equal(toml_find(t, "", "c")->integer, 1000);
	assert_int_equal(toml_find(t, "", "d")->integer, -7);
	assert_int_equal(toml_find(t, "", "e")->integer, 255);
	assert_int_equal(toml_find(t, "", "f")->type, TOML_BOOLEAN);
	assert_int_equal(toml_find(t, "", "f")->integer, 1);
	assert_int_equal(toml_find(t, "", "g")->integer, 0);
	for (const char *other = "hijkl"; *other; other++)
		assert_int_equal(toml_find(t, "", (char[]){ *other, 0 })->type, TOML_OTHER);
	expect_eq(toml_find(t, "", "l")->line, 13);
	toml_free(t);
}

static void keys_may_be_anything_in_quotes(void **state)
{
	struct toml *t = parsed("[keymap]\n- = \"Dec\"\n\"?\" = 'Help'\n\"a.b\" = 1\n'\"' = 2\n"
	                        "[ x . \"y z\" ]\nk.l = 3\n");

	(void)state;
	assert_string_equal(text_of(t, "keymap", "-"), "Dec");
	assert_string_equal(text_of(t, "keymap", "?"), "Help");
	assert_int_equal(toml_find(t, "keymap", "a.b")->integer, 1);
	assert_int_equal(toml_find(t, "keymap", "\"")->integer, 2);
	assert_int_equal(toml_find(t, "x.y z.k", "l")->integer, 3);
	assert_null(toml_find(t, "", "keymap"));
	toml_free(t);
}

static void strings_of_an_array_come_one_by_one(void **state)
{
	struct toml *t = parsed(
		"a = [ # list\n \"x:0x1:4\", 'y',\n # more\n \"z\" ]\nb = []\nc = [1]\n");
	char buf[16];
	size_t at = 0;

	(void)state;
	assert_true(toml_array_next(toml_find(t, "", "a"), &at, buf, sizeof(buf)));
	assert_string_equal(buf, "x:0x1:4");
	assert_true(toml_array_next(toml_find(t, "", "a"), &at, buf, sizeof(buf)));
	assert_true(toml_array_next(toml_find(t, "", "a"), &at, buf, sizeof(buf)));
	assert_string_equal(buf, "z");
	assert_false(toml_array_next(toml_find(t, "", "a"), &at, buf, sizeof(buf)));
	at = 0;
	assert_false(toml_array_next(toml_find(t, "", "b"), &at, buf, sizeof(buf)));
	assert_false(toml_array_next(toml_find(t, "", "c"), &at, buf, sizeof(buf)));
	toml_free(t);
}

static void errors_name_the_line(void **state)
{
	static const struct {
		const char *text, *what;
	} bad[] = {
		{ "a", "line 1: '='" },
		{ "\n\na = ", "line 3: a value was expected" },
		{ "a = x", "line 1: a value is neither" },
		{ "a = \"b\nc = 1", "line 1: a string has no end" },
		{ "a = \"\\q\"", "line 1: a backslash" },
		{ "a = \"\\ud800\"", "line 1: a backslash" },
		{ "a = \"\\u0000\"", "line 1: a backslash" },
		{ "a = 1 2", "line 1: something follows" },
		{ "# c\n[b", "line 2: ']'" },
		{ "[]", "line 1: a key was expected" },
		{ "a = [1,\n2", "line 2: a bracket is not closed" },
		{ "a = [1}", "line 1: brackets do not fit" },
		{ "a = [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "line 1: too many brackets" },
		{ "= 1", "line 1: a key was expected" },
		{ "a = '''\n\n", "line 3: a string has no end" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct toml *t = NULL;
		struct diag d = { 0 };

		assert_int_equal(toml_parse(bad[i].text, strlen(bad[i].text), &d, &t), -EINVAL);
		assert_null(t);
		if (!strstr(d.what, bad[i].what))
			fail_msg("'%s' says '%s'", bad[i].text, d.what);
	}
}

static void sizes_have_limits(void **state)
{
	char *big = calloc(1, TOML_MAX_BYTES + 2);
	struct toml *t = NULL;
	struct diag d = { 0 };
	size_t at = 0;

	(void)state;
	memset(big, '#', TOML_MAX_BYTES + 1);
	assert_int_equal(toml_parse(big, TOML_MAX_BYTES + 1, &d, &t), -EFBIG);
	for (unsigned int i = 0; i <= TOML_MAX_ENTRIES; i++)
		at += (size_t)snprintf(big + at, TOML_MAX_BYTES - at, "k%u = 1\n", i);
	d = (struct diag){ 0 };
	assert_int_equal(toml_parse(big, at, &d, &t), -EINVAL);
	assert_non_null(strstr(d.what, "too many keys"));
	memset(big, 'k', 300);
	memcpy(big + 300, " = 1", 5);
	d = (struct diag){ 0 };
	assert_int_equal(toml_parse(big, 304, &d, &t), -EINVAL);
	assert_non_null(strstr(d.what, "too long"));
	free(big);
}

static void a_change_keeps_everything_else(void **state)
{
	struct toml *t = parsed(
		"# mine\ntheme = 'Nord'   # nice\r\n\nodd = { a = 1 }\n[keymap]\n# keys\nq = \"Quit\"");
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(toml_set(t, "", "theme", "\"USA\"", &d), 0);
	assert_int_equal(toml_set(t, "", "tick", "7", &d), 0);
	assert_int_equal(toml_set(t, "keymap", "?", "\"Help\"", &d), 0);
	assert_int_equal(toml_set(t, "other", "x", "1", &d), 0);
	assert_string_equal(t->text,
	                    "# mine\ntheme = \"USA\"   # nice\r\n\nodd = { a = 1 }\ntick = 7\n"
	                    "[keymap]\n# keys\nq = \"Quit\"\n\"?\" = \"Help\"\n\n[other]\nx = 1\n");
	toml_free(t);
}

static void an_empty_table_is_not_written_twice(void **state)
{
	struct toml *t = parsed("[keymap]\n");
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(toml_set(t, "keymap", "a", "1", &d), 0);
	assert_string_equal(t->text, "[keymap]\na = 1\n");
	toml_free(t);
}

static void a_wrong_value_changes_nothing(void **state)
{
	struct toml *t = parsed("a = 1\n");
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(toml_set(t, "", "a", "\"", &d), -EINVAL);
	assert_string_equal(t->text, "a = 1\n");
	assert_int_equal(toml_find(t, "", "a")->integer, 1);
	toml_free(t);
}

static void quotes_come_back_as_they_were(void **state)
{
	static const char nasty[] = "a\"b\\c\n\x1b[31m\x7f\xc3\xa9";
	struct toml *t = parsed("");
	struct diag d = { 0 };
	char quoted[64], small[4];

	(void)state;
	assert_int_equal(toml_quote(nasty, quoted, sizeof(quoted)), 0);
	assert_int_equal(toml_set(t, "", nasty, quoted, &d), 0);
	assert_string_equal(text_of(t, "", nasty), nasty);
	assert_int_equal(toml_quote("ab", small, sizeof(small)), -ENOSPC);
	assert_int_equal(toml_quote("a", small, sizeof(small)), 0);
	toml_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_is_read),
		cmocka_unit_test(keys_may_be_anything_in_quotes),
		cmocka_unit_test(strings_of_an_array_come_one_by_one),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(sizes_have_limits),
		cmocka_unit_test(a_change_keeps_everything_else),
		cmocka_unit_test(an_empty_table_is_not_written_twice),
		cmocka_unit_test(a_wrong_value_changes_nothing),
		cmocka_unit_test(quotes_come_back_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
