#include "../unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_sets.h"

#define MAX_MEMBERS 64

/* One side: recordings of two names, all tasks and x, whose metrics have one value with a little noise. */
struct side {
	struct diff_names names[MAX_MEMBERS];
	struct diff_name each[MAX_MEMBERS][2];
	struct diff_member members[MAX_MEMBERS];
	uint32_t nr;
};

static void add_named(struct side *s, const char *host, double value, const char *name)
{
	struct diff_name *each = s->each[s->nr];

	for (int k = 0; k < 2; k++) {
		each[k] = (struct diff_name){ .name = (char *)(k ? name : DIFF_ALL), .weight = 1 };
		for (enum diff_metric m = 0; m < DIFF_METRICS; m++) {
			struct diff_value *v = &each[k].values[m];

			v->nr_windows = DIFF_WINDOWS;
			v->mean = value;
			for (int i = 0; i < DIFF_WINDOWS; i++)
				v->values[i] = value * (i % 2 ? 1.001 : 0.999);
		}
	}
	s->names[s->nr] = (struct diff_names){ .at = each, .nr = 2 };
	s->members[s->nr] = (struct diff_member){ &s->names[s->nr], host };
	s->nr++;
}

static void add(struct side *s, const char *host, double value)
{
	add_named(s, host, value, "x");
}

static struct diff_sets compare(struct side *a, struct side *b)
{
	struct diff_recordings sides[2] = { { a->members, a->nr }, { b->members, b->nr } };
	struct diff_sets out;

	expect_eq(diff_sets_compare(sides, &out), 0);
	return out;
}

static int setup(void **state)
{
	*state = calloc(2, sizeof(struct side));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void a_host_counts_once_however_often_it_was_recorded(void **state)
{
	struct side *a = *state, *b = a + 1;
	struct diff_sets s;

	for (int i = 0; i < 8; i++)
		add(a, "busy", 90);
	add(a, "calm", 30);
	add(a, "quiet", 30);
	for (int i = 0; i < 3; i++)
		add(b, (const char *[]){ "d", "e", "f" }[i], 50);
	s = compare(a, b);
	expect_eq(s.unit, DIFF_UNIT_HOST);
	expect_eq(s.nr_units[0], 3);
	expect_eq(s.overall.at[0].a.nr, 3);
	assert_true(fabs(s.overall.at[0].a.mean - 50) < 0.001); /* not 78, as of recordings */
	diff_sets_done(&s);
}

/* Hosts differ by more than what they changed by; each was recorded 20 times, always alike. */
static void fill_unlike_hosts(struct side *a, struct side *b, bool knows_hosts)
{
	static const char *const hosts[] = { "h1", "h2", "h3" };

	for (int i = 0; i < 60; i++) {
		add(a, knows_hosts ? hosts[i % 3] : NULL, 10 + 20 * (i % 3));
		add(b, knows_hosts ? hosts[i % 3] : NULL, 22 + 20 * (i % 3));
	}
}

static void many_recordings_of_few_hosts_prove_nothing_of_hosts(void **state)
{
	struct side *a = *state, *b = a + 1;
	struct diff_sets s;

	fill_unlike_hosts(a, b, true);
	s = compare(a, b);
	expect_eq(s.unit, DIFF_UNIT_HOST);
	expect_eq(s.overall.nr_changes, 0);
	assert_string_equal(s.overall.at[0].verdict, "unclear");
	diff_sets_done(&s);
}

static void the_same_as_single_recordings_would_be_called_a_change(void **state)
{
	struct side *a = *state, *b = a + 1;
	struct diff_sets s;

	fill_unlike_hosts(a, b, false);
	s = compare(a, b);
	expect_eq(s.unit, DIFF_UNIT_RECORDING);
	assert_true(s.overall.nr_changes > 0);
	diff_sets_done(&s);
}

static void what_changed_on_all_hosts_is_found(void **state)
{
	struct side *a = *state, *b = a + 1;
	static const char *const hosts[] = { "h1", "h2", "h3", "h4", "h5", "h6" };
	struct diff_sets s;

	for (int i = 0; i < 6; i++) {
		add(a, hosts[i], 10 + 0.3 * (i % 3));
		add(b, hosts[i], 30 + 0.3 * ((i + 1) % 3));
	}
	s = compare(a, b);
	expect_eq(s.unit, DIFF_UNIT_HOST);
	expect_eq(s.nr_names, 1);
	expect_eq(s.names.nr_changes, DIFF_METRICS);
	assert_string_equal(s.names.at[0].verdict, "worse");
	diff_sets_done(&s);
}

static void one_recording_without_a_host_makes_recordings_the_unit(void **state)
{
	struct side *a = *state, *b = a + 1;
	struct diff_sets s;

	for (int i = 0; i < 3; i++) {
		add(a, (const char *[]){ "a", "b", NULL }[i], 10);
		add(b, "same", 10);
	}
	s = compare(a, b);
	expect_eq(s.unit, DIFF_UNIT_RECORDING);
	expect_eq(s.nr_units[1], 3);
	diff_sets_done(&s);
}

static void fewer_than_three_are_compared_by_parts(void **state)
{
	struct side *a = *state, *b = a + 1;
	struct diff_sets s;

	add(a, "a", 10);
	add(a, "b", 10);
	add(b, "c", 20);
	s = compare(a, b);
	expect_eq(s.unit, DIFF_UNIT_PART);
	expect_eq(s.overall.at[0].a.nr, 2 * DIFF_WINDOWS);
	assert_true(s.overall.nr_changes > 0);
	diff_sets_done(&s);
}

static void names_of_one_side_are_named(void **state)
{
	struct side *a = *state, *b = a + 1;
	struct diff_sets s;

	add_named(a, "a", 10, "old");
	add_named(b, "a", 10, "new");
	s = compare(a, b);
	expect_eq(s.nr_names, 0);
	expect_eq(s.nr_only[0], 1);
	assert_string_equal(s.only[0][0], "old");
	assert_string_equal(s.only[1][0], "new");
	diff_sets_done(&s);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_host_counts_once_however_often_it_was_recorded),
		CASE(many_recordings_of_few_hosts_prove_nothing_of_hosts),
		CASE(the_same_as_single_recordings_would_be_called_a_change),
		CASE(what_changed_on_all_hosts_is_found),
		CASE(one_recording_without_a_host_makes_recordings_the_unit),
		CASE(fewer_than_three_are_compared_by_parts),
		CASE(names_of_one_side_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
