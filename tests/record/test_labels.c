#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record/labels.h"

static void words_become_attributes(void **state)
{
	static const char *const words[] = { "role=web", "build.id-1_x=a=b, c", "empty=" };
	struct labels l = { .nr = 0 };
	struct diag d = { 0 };

	(void)state;
	expect_eq(labels_parse(words, 3, &l, &d), 0);
	expect_eq(l.nr, 3);
	assert_string_equal(l.attrs[0].key, "metadata.role");
	assert_string_equal(l.attrs[0].text, "web");
	assert_string_equal(l.attrs[1].key, "metadata.build.id-1_x");
	assert_string_equal(l.attrs[1].text, "a=b, c");
	assert_string_equal(l.attrs[2].text, "");
}

static void none_are_none(void **state)
{
	struct labels l = { .nr = 0 };

	(void)state;
	expect_eq(labels_parse(NULL, 0, &l, NULL), 0);
	expect_eq(l.nr, 0);
}

static void expect_refused(const char *const *words, size_t nr, const char *why)
{
	struct labels l = { .nr = 0 };
	struct diag d = { 0 };

	expect_eq(labels_parse(words, nr, &l, &d), -EINVAL);
	if (!strstr(d.what, why))
		fail_msg("%s: %s", words[nr - 1], d.what);
}

static void other_words_are_refused(void **state)
{
	static const char *const bad[] = { "", "role", "=web", "a b=c", "\303\274=1", "a\n=1" };
	static const char *const twice[] = { "a=1", "b=1", "a=2" };
	static const char *const control[] = { "a=\033[31m" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_refused(&bad[i], 1, "is not KEY=VALUE");
	expect_refused(twice, 3, "a is given twice");
	expect_refused(control, 1, "is not printable text");
}

static void sizes_are_bounded(void **state)
{
	char key[LABEL_KEY_MAX + 4], value[LABEL_VALUE_MAX + 4], names[LABELS_MAX + 1][8];
	const char *words[LABELS_MAX + 1];
	const char *one = key;
	struct labels l = { .nr = 0 };

	(void)state;
	memset(key, 'k', sizeof(key));
	strcpy(key + LABEL_KEY_MAX, "=v");
	expect_eq(labels_parse(&one, 1, &l, NULL), 0);
	strcpy(key + LABEL_KEY_MAX, "k=v");
	expect_refused(&one, 1, "is too long for a key");
	one = value;
	memset(value, 'v', sizeof(value));
	memcpy(value, "k=", 2);
	value[LABEL_VALUE_MAX + 2] = '\0';
	l.nr = 0;
	expect_eq(labels_parse(&one, 1, &l, NULL), 0);
	value[LABEL_VALUE_MAX + 2] = 'v';
	value[LABEL_VALUE_MAX + 3] = '\0';
	expect_refused(&one, 1, "at most 256 bytes");
	for (size_t i = 0; i <= LABELS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "k%zu=v", i);
		words[i] = names[i];
	}
	l.nr = 0;
	expect_eq(labels_parse(words, LABELS_MAX, &l, NULL), 0);
	expect_refused(words, LABELS_MAX + 1, "one too many");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_become_attributes),
		cmocka_unit_test(none_are_none),
		cmocka_unit_test(other_words_are_refused),
		cmocka_unit_test(sizes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
