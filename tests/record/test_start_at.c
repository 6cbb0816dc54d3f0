#include "../unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/start_at.h"

#define SECOND 1000000000ULL
#define NOW    (1794936603ULL * SECOND + 250000000) /* 2026-11-17 17:30:03.25 UTC */

static uint64_t parsed(const char *word)
{
	struct diag d = { 0 };
	uint64_t at = 0;

	expect_eq(start_at_parse(word, NOW, &d, &at), 0);
	return at;
}

static void expect_refused(const char *word, const char *why)
{
	struct diag d = { 0 };
	uint64_t at = 7;

	expect_eq(start_at_parse(word, NOW, &d, &at), -EINVAL);
	expect_eq(at, 7);
	if (!strstr(d.what, why))
		fail_msg("'%s': %s", word, d.what);
}

static void a_multiple_is_the_next_one(void **state)
{
	(void)state;
	expect_eq(parsed("/10s"), 1794936610 * SECOND);
	expect_eq(parsed("/10"), 1794936610 * SECOND);
	expect_eq(parsed("/250ms"), 1794936603 * SECOND + 500000000); /* not the one that is now */
	expect_eq(parsed("/1h"), (1794936603ULL / 3600 + 1) * 3600 * SECOND);
}

static void a_time_of_day_is_the_next_one(void **state)
{
	(void)state;
	expect_eq(parsed("17:30:05"), 1794936605 * SECOND);
	expect_eq(parsed("17:31"), 1794936660 * SECOND);
	expect_eq(parsed("17:30:03"),
	          (1794936603 + 86400) * SECOND); /* a quarter of a second ago */
	expect_eq(parsed("17:30"), (1794936600 + 86400) * SECOND);
}

static void a_date_is_local_or_of_utc(void **state)
{
	(void)state;
	expect_eq(parsed("2026-11-17T17:30:05Z"), 1794936605 * SECOND);
	expect_eq(parsed("2026-11-17T17:30:05"), 1794936605 * SECOND);
	setenv("TZ", "EST5", 1);
	tzset();
	expect_eq(parsed("2026-11-17T17:30:05Z"), 1794936605 * SECOND);
	expect_eq(parsed("2026-11-17T12:30:05"), 1794936605 * SECOND);
	expect_eq(parsed("12:30:05"), 1794936605 * SECOND);
	setenv("TZ", "UTC", 1);
	tzset();
	expect_eq(parsed("@1794936605"), 1794936605 * SECOND);
	expect_eq(parsed("@1794936605.5"), 1794936605 * SECOND + 500000000);
}

static void what_is_no_time_is_refused(void **state)
{
	static const char *const words[] = {
		"",           "/",         "/x", "//1s", "now",  "25:00", "1",
		"17:30x",     "17:30:05Z", "@",  "@-5",  "@1e9", "@5s",   "2026-13-01T00:00:00",
		"2026-11-17", "/10s "
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		expect_refused(words[i], "is not a time to start at");
	expect_refused("/1ms", "is not between");
	expect_refused("/25h", "is not between");
}

static void the_past_and_the_far_future_are_refused(void **state)
{
	(void)state;
	expect_refused("@1794936603", "is over");
	expect_refused("2026-11-17T17:30:03Z", "is over");
	expect_refused("2026-11-27T17:30:03Z", "more than a week");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_multiple_is_the_next_one),
		cmocka_unit_test(a_time_of_day_is_the_next_one),
		cmocka_unit_test(a_date_is_local_or_of_utc),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(the_past_and_the_far_future_are_refused),
	};
	int failed;

	setenv("TZ", "UTC", 1);
	tzset();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unsetenv("TZ");
	tzset();
	return failed;
}
