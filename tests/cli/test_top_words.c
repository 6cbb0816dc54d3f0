/* Words as scxtop's users write them. */
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "cli/top_words.h"

/* Both are words separated by blanks. */
static void expect_words(const char *given, const char *want)
{
	char copy[256], got[256] = "", *argv[32], *rest = NULL;
	char **words = NULL;
	int argc = 0, nr = 0;

	strcpy(copy, given);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	expect_eq(top_words(argc, argv, &words, &nr), 0);
	for (int i = 0; i < nr; i++) {
		strcat(got, i ? " " : "");
		strcat(got, words[i]);
	}
	assert_string_equal(got, want);
	free(words);
}

static void plain_words_stay_as_they_are(void **state)
{
	(void)state;
	expect_words("", "");
	expect_words("top", "top");
	expect_words("top --tick-rate-ms 100 --theme Nord", "top --tick-rate-ms 100 --theme Nord");
	expect_words("top true", "top true");
}

static void a_switch_may_stand_alone_or_have_a_value(void **state)
{
	(void)state;
	expect_words("top -d", "top --debug=true");
	expect_words("top --debug", "top --debug=true");
	expect_words("top -d true", "top --debug=true");
	expect_words("top -d false -e", "top --debug=false --exclude-bpf=true");
	expect_words("top -e false", "top --exclude-bpf=false");
	/* What follows is no value, unless it says so. */
	expect_words("top -e --theme Nord", "top --exclude-bpf=true --theme Nord");
	expect_words("top -d maybe", "top --debug=true maybe");
}

static void each_event_of_a_list_gets_its_own_option(void **state)
{
	(void)state;
	expect_words("top --perf-events a", "top --perf-events a");
	expect_words("top --perf-events a b c",
	             "top --perf-events a --perf-events b --perf-events c");
	expect_words("top --perf-events a b --theme Nord x",
	             "top --perf-events a --perf-events b --theme Nord x");
	expect_words("top --perf-events a -d b", "top --perf-events a --debug=true b");
	expect_words("top --perf-events", "top --perf-events");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_words_stay_as_they_are),
		cmocka_unit_test(a_switch_may_stand_alone_or_have_a_value),
		cmocka_unit_test(each_event_of_a_list_gets_its_own_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
