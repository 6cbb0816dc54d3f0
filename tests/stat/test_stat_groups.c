#include "../unit.h"

#include <errno.h>
#include <string.h>

#include "stat/stat_groups.h"

/* A machine whose PMU knows two events. */
static bool knows(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "l2-miss") == 0 || strcmp(name, "branch-misses") == 0;
}

static int parse(const char *list, struct stat_groups *g, struct diag *d)
{
	memset(g, 0, sizeof(*g));
	memset(d, 0, sizeof(*d));
	return stat_groups_parse(&list, list ? 1 : 0, knows, NULL, d, g);
}

static void nothing_given_means_latency(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse(NULL, &g, &d), 0);
	expect_eq(g.asked, STAT_GROUP_LATENCY);
	expect_eq(g.implied, 0);
	assert_false(g.has_ipc);
}

static void groups_add_up_and_replace_the_default(void **state)
{
	const char *lists[] = { "slice,sleep", "migration" };
	struct stat_groups g;
	struct diag d = { 0 };

	(void)state;
	expect_eq(stat_groups_parse(lists, 2, knows, NULL, &d, &g), 0);
	expect_eq(g.asked, STAT_GROUP_SLICE | STAT_GROUP_SLEEP | STAT_GROUP_MIGRATION);
}

static void most_is_everything_but_waking_and_dsq_and_only_implied(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("most", &g, &d), 0);
	expect_eq(g.asked, 0);
	expect_eq(g.implied, 0x3f);
	assert_true(g.has_ipc && g.is_ipc_implied);
	expect_eq(parse("all", &g, &d), 0);
	expect_eq(g.implied, 0xff);
}

static void what_is_named_is_insisted_on(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("schedstat,most", &g, &d), 0);
	expect_eq(g.asked, STAT_GROUP_SCHEDSTAT);
	expect_eq(g.implied & STAT_GROUP_SCHEDSTAT, 0);
}

static void perf_alone_is_instructions_per_cycle(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("perf", &g, &d), 0);
	assert_true(g.has_ipc);
	assert_false(g.is_ipc_implied);
	expect_eq(g.nr_events, 0);
}

static void events_keep_their_order_without_repeats(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("perf=cpu-clock,l2-miss,branch-misses,l2-miss", &g, &d), 0);
	expect_eq(g.nr_events, 3);
	assert_string_equal(g.events[0], "cpu-clock");
	assert_string_equal(g.events[1], "l2-miss");
	assert_string_equal(g.events[2], "branch-misses");
	assert_false(g.has_ipc);
}

static void all_adds_ipc_only_if_no_event_came_before(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("l2-miss,all", &g, &d), 0);
	assert_false(g.has_ipc);
	expect_eq(parse("all,l2-miss", &g, &d), 0);
	assert_true(g.has_ipc);
	expect_eq(g.nr_events, 1);
}

static void terms_of_an_event_may_hold_commas(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("perf=cpu/event=0x64,umask=0x9/,slice", &g, &d), 0);
	assert_string_equal(g.events[0], "cpu/event=0x64,umask=0x9/");
	assert_true(g.asked & STAT_GROUP_SLICE);
}

static void a_typo_is_shown_with_the_nearest_name(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("latancy", &g, &d), -EINVAL);
	assert_non_null(strstr(d.what, "'latancy'"));
	assert_non_null(strstr(d.hint, "latency"));
	expect_eq(parse("slice,,sleep", &g, &d), -EINVAL);
	expect_eq(parse("perf=", &g, &d), -EINVAL);
}

/* rsched took `-g race` for the raw event 0xace. */
static void a_raw_code_needs_perf(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("race", &g, &d), -EINVAL);
	assert_non_null(strstr(d.hint, "perf=race"));
	expect_eq(parse("perf=race", &g, &d), 0);
	assert_string_equal(g.events[0], "race");
}

static void nine_events_are_one_too_many(void **state)
{
	struct stat_groups g;
	struct diag d;

	(void)state;
	expect_eq(parse("perf=a,perf=b,perf=c,perf=d,perf=e,perf=f,perf=g,perf=h", &g, &d), 0);
	expect_eq(g.nr_events, 8);
	expect_eq(parse("perf=a,perf=b,perf=c,perf=d,perf=e,perf=f,perf=g,perf=h,perf=i", &g, &d),
	          -EINVAL);
	assert_non_null(strstr(d.what, "'i'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_given_means_latency),
		cmocka_unit_test(groups_add_up_and_replace_the_default),
		cmocka_unit_test(most_is_everything_but_waking_and_dsq_and_only_implied),
		cmocka_unit_test(what_is_named_is_insisted_on),
		cmocka_unit_test(perf_alone_is_instructions_per_cycle),
		cmocka_unit_test(events_keep_their_order_without_repeats),
		cmocka_unit_test(all_adds_ipc_only_if_no_event_came_before),
		cmocka_unit_test(terms_of_an_event_may_hold_commas),
		cmocka_unit_test(a_typo_is_shown_with_the_nearest_name),
		cmocka_unit_test(a_raw_code_needs_perf),
		cmocka_unit_test(nine_events_are_one_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
