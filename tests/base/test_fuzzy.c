#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fuzzy.h"

static const char *const events[] = {
	"alarmtimer:alarmtimer_cancel", "alarmtimer:alarmtimer_fired",
	"sched:sched_switch",           "syscalls:sys_exit_pselect6",
	"syscalls:sys_enter_exit",      "xhci-hcd:xhci_address_ctrl_ctx",
};
#define NR_EVENTS (sizeof(events) / sizeof(events[0]))

static int32_t spread(const char *pattern, const char *name)
{
	return FUZZY_BEST - fuzzy_score(pattern, name);
}

static void letters_between_cost_one_each(void **state)
{
	(void)state;
	assert_int_equal(spread("exit", events[3]), 0);
	assert_int_equal(spread("sysexit", events[3]), 10);
	assert_int_equal(spread("hides", events[5]), 14);
	assert_int_equal(spread("xxx", events[5]), 27);
	assert_int_equal(fuzzy_score("sxh", events[5]), FUZZY_NONE);
	assert_int_equal(fuzzy_score("", events[5]), FUZZY_BEST);
	assert_int_equal(fuzzy_score("x", ""), FUZZY_NONE);
	assert_int_equal(fuzzy_score("SCHED:sched_SWITCH", events[2]), FUZZY_WHOLE);
}

/* The peer's unsigned score went around below 0: what is far apart came first. */
static void what_is_far_apart_comes_last(void **state)
{
	char far[400];
	const char *names[] = { far, "a_b" };
	uint32_t *places = NULL;
	size_t nr = 0;

	(void)state;
	memset(far, '_', sizeof(far));
	far[0] = 'a';
	far[sizeof(far) - 2] = 'b';
	far[sizeof(far) - 1] = '\0';
	assert_int_equal(fuzzy_score("ab", far), FUZZY_BEST - 397);
	assert_int_equal(fuzzy_find("ab", names, 2, &places, &nr), 0);
	assert_int_equal(nr, 2);
	assert_int_equal(places[0], 1);
	assert_int_equal(places[1], 0);
	free(places);
}

static void expect_found(const char *pattern, const uint32_t *want, size_t nr_want)
{
	uint32_t *places = NULL;
	size_t nr = 0;

	assert_int_equal(fuzzy_find(pattern, events, NR_EVENTS, &places, &nr), 0);
	assert_int_equal(nr, nr_want);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(places[i], want[i]);
	free(places);
}

static void the_best_come_first_and_equals_keep_their_order(void **state)
{
	(void)state;
	expect_found("alrMcacEL", (const uint32_t[]){ 0 }, 1);
	expect_found("alarm", (const uint32_t[]){ 0, 1 }, 2);
	expect_found("exit", (const uint32_t[]){ 3, 4 }, 2);
	expect_found("sysexit", (const uint32_t[]){ 3, 4 }, 2); /* 10 apart, 16 apart */
	expect_found("", (const uint32_t[]){ 0, 1, 2, 3, 4, 5 }, 6);
	expect_found("zzz", NULL, 0);
}

static void the_whole_name_comes_before_those_that_contain_it(void **state)
{
	static const char *const names[] = { "__schedule", "schedule_timeout", "schedule" };
	uint32_t *places = NULL;
	size_t nr = 0;

	(void)state;
	assert_int_equal(fuzzy_find("schedule", names, 3, &places, &nr), 0);
	assert_int_equal(nr, 3);
	assert_int_equal(places[0], 2);
	assert_int_equal(places[1], 0);
	assert_int_equal(places[2], 1);
	free(places);
}

static void a_wrong_letter_is_forgiven_if_nothing_else_is_found(void **state)
{
	(void)state;
	assert_int_equal(FUZZY_TYPO - fuzzy_score_typo("exlt", "sys_exit"), 1);
	assert_int_equal(fuzzy_score("exlt", "sys_exit"), FUZZY_NONE);
	assert_int_equal(fuzzy_score_typo("exzzt", events[3]), FUZZY_NONE); /* two are too many */
	assert_int_equal(fuzzy_score_typo("q", events[3]), FUZZY_NONE);
	expect_found("swotch", (const uint32_t[]){ 2 }, 1);
	expect_found("xhcii", (const uint32_t[]){ 5 }, 1);
}

/* Whether a letter can be left out is decided by a short cut: against trying all of them. */
static void the_short_cut_for_typing_errors_is_right(void **state)
{
	char pattern[8], name[16];

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		size_t len = 2 + (size_t)rand() % 5, name_len = (size_t)rand() % 12;
		int32_t best = FUZZY_NONE, got;

		for (size_t i = 0; i < len; i++)
			pattern[i] = (char)('a' + rand() % 3);
		pattern[len] = '\0';
		for (size_t i = 0; i < name_len; i++)
			name[i] = (char)('a' + rand() % 3);
		name[name_len] = '\0';
		for (size_t skip = 0; skip < len; skip++) {
			char less[8];
			int32_t score;

			memcpy(less, pattern, skip);
			memcpy(less + skip, pattern + skip + 1, len - skip);
			score = fuzzy_score(less, name);
			if (score != FUZZY_NONE) {
				score = score > FUZZY_BEST ? FUZZY_BEST : score;
				score += FUZZY_TYPO - FUZZY_BEST;
				best = score > best ? score : best;
			}
		}
		got = fuzzy_score_typo(pattern, name);
		if (got != best)
			print_message("# '%s' in '%s': %d, not %d\n", pattern, name, got, best);
		assert_int_equal(got, best);
	}
}

/* The peer held the number of names in 16 bits. */
static void more_names_than_sixteen_bits_can_count(void **state)
{
	enum { NR = 200000 };
	const char **names = malloc(NR * sizeof(*names));
	char *text = malloc(NR * 16U);
	uint32_t *places = NULL;
	size_t nr = 0;

	(void)state;
	assert_non_null(names);
	assert_non_null(text);
	for (size_t i = 0; i < NR; i++) {
		snprintf(text + i * 16, 16, "function_%06zu", i);
		names[i] = text + i * 16;
	}
	assert_int_equal(fuzzy_find("", names, NR, &places, &nr), 0);
	assert_int_equal(nr, NR);
	assert_int_equal(places[NR - 1], NR - 1);
	free(places);
	assert_int_equal(fuzzy_find("function_199999", names, NR, &places, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(places[0], NR - 1);
	free(places);
	free(text);
	free(names);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_between_cost_one_each),
		cmocka_unit_test(what_is_far_apart_comes_last),
		cmocka_unit_test(the_best_come_first_and_equals_keep_their_order),
		cmocka_unit_test(the_whole_name_comes_before_those_that_contain_it),
		cmocka_unit_test(a_wrong_letter_is_forgiven_if_nothing_else_is_found),
		cmocka_unit_test(the_short_cut_for_typing_errors_is_right),
		cmocka_unit_test(more_names_than_sixteen_bits_can_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
