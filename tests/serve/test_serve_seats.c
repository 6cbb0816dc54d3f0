#include "serve/seats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/sums.h"
#include "serve/throttle.h"

#define SECOND_NS 1000000000ULL

/* A step in which cgroups wait so long, in ms. */
struct wait {
	const char *path;
	uint64_t ms;
};

static void step(struct seats *s, const struct wait *waits, size_t nr, uint64_t now_ns)
{
	for (size_t i = 0; i < nr; i++)
		seats_note(s, seats_find(s, waits[i].path), i + 1, waits[i].ms * 1000000);
	seats_choose(s, now_ns);
	for (size_t i = 0; i < nr; i++)
		hist_add(seats_sums(s, seats_known(s, waits[i].path))->delay, waits[i].ms * 1000000,
		         now_ns, 0);
}

static uint64_t sum_ms(struct seats *s, const char *name)
{
	for (uint32_t i = 0; seats_at(s, i); i++)
		if (strcmp(seats_at(s, i)->name, name) == 0)
			return seats_at(s, i)->delay ? seats_at(s, i)->delay->sum_ns / 1000000 : 0;
	return 0;
}

static void those_that_wait_most_have_seats(void **state)
{
	static const struct wait waits[] = { { "/a", 5 }, { "/b", 50 }, { "/c", 20 }, { "/d", 1 } };
	SCOPED(scoped_seats) struct seats *s = NULL;

	(void)state;
	assert_int_equal(seats_new(2, &s), 0);
	step(s, waits, 4, SECOND_NS);
	assert_int_equal(seats_nr_known(s), 4);
	assert_int_equal(seats_nr_seated(s), 2);
	assert_int_equal(sum_ms(s, "/b"), 50);
	assert_int_equal(sum_ms(s, "/c"), 20);
	assert_int_equal(sum_ms(s, "other"), 6);
}

/* Whoever has a seat, no sum goes back, and all of them together are what was measured. */
static void nothing_is_counted_twice_or_lost_when_seats_change(void **state)
{
	SCOPED(scoped_seats) struct seats *s = NULL;
	uint64_t before[8] = { 0 }, total = 0, shown;
	char name[8];

	(void)state;
	srand(20);
	assert_int_equal(seats_new(3, &s), 0);
	for (uint64_t t = 1; t < 400; t++) {
		struct wait waits[8];
		char names[8][8];

		for (int i = 0; i < 8; i++) {
			snprintf(names[i], sizeof(names[i]), "/%d", i);
			waits[i] = (struct wait){ names[i],
				                  (uint64_t)(rand() % 100)
				                          << (t / 50 == (uint64_t)i ? 6 : 0) };
			total += waits[i].ms;
		}
		step(s, waits, 8, t * 60 * SECOND_NS);
		shown = sum_ms(s, "other");
		for (int i = 0; i < 8; i++) {
			snprintf(name, sizeof(name), "/%d", i);
			assert_true(sum_ms(s, name) >= before[i]);
			before[i] = sum_ms(s, name);
			shown += before[i];
		}
		assert_int_equal(shown, total);
		assert_true(seats_nr_seated(s) <= 3);
	}
	for (int i = 0; i < 7; i++) /* each had its time */
		assert_true(before[i] > 0);
}

static void a_little_more_takes_no_seat(void **state)
{
	static const struct wait first[] = { { "/a", 100 }, { "/b", 90 } };
	static const struct wait then[] = { { "/a", 10 }, { "/b", 100 } };
	static const struct wait last[] = { { "/b", 300 } };
	SCOPED(scoped_seats) struct seats *s = NULL;

	(void)state;
	assert_int_equal(seats_new(1, &s), 0);
	step(s, first, 2, SECOND_NS);
	step(s, then, 2, 2 * SECOND_NS);
	assert_int_equal(sum_ms(s, "/a"), 110);
	assert_int_equal(sum_ms(s, "other"), 190);
	step(s, last, 1, 3 * SECOND_NS); /* 490 against 110 */
	assert_int_equal(sum_ms(s, "/b"), 300);
	assert_int_equal(sum_ms(s, "/a"), 110);
}

static void more_cgroups_than_are_remembered_are_other(void **state)
{
	SCOPED(scoped_seats) struct seats *s = NULL;
	uint64_t shown = 0;
	char name[32];

	(void)state;
	assert_int_equal(seats_new(5, &s), 0);
	for (int i = 0; i < 6000; i++) {
		struct wait one = { name, 3 };

		snprintf(name, sizeof(name), "/pod-%d", i);
		step(s, &one, 1, (uint64_t)i * 1000);
	}
	assert_int_equal(seats_nr_known(s), SEATS_KNOWN);
	assert_int_equal(seats_nr_seated(s), 5);
	for (uint32_t i = 0; seats_at(s, i); i++)
		if (seats_at(s, i)->is_seated)
			shown += seats_at(s, i)->delay->sum_ns / 1000000;
	assert_int_equal(shown, 3 * 6000);
	assert_int_equal(seats_nr_forgotten(s), 6000 - SEATS_KNOWN);
}

/* All wait in one step, those last that wait longest: these are remembered, and have the seats. */
static void of_too_many_at_once_the_last_noted_are_remembered(void **state)
{
	SCOPED(scoped_seats) struct seats *s = NULL;
	char name[32];

	(void)state;
	assert_int_equal(seats_new(3, &s), 0);
	for (uint64_t t = 1; t < 4; t++) {
		for (uint64_t i = 0; i < 2ULL * SEATS_KNOWN; i++) {
			snprintf(name, sizeof(name), "/pod-%u", (unsigned)i);
			seats_note(s, seats_find(s, name), i, i);
		}
		seats_choose(s, t * SECOND_NS);
		assert_int_equal(seats_nr_known(s), SEATS_KNOWN);
		assert_int_equal(seats_known(s, "/pod-0"), SEAT_OTHER);
		for (unsigned i = 2 * SEATS_KNOWN - 3; i < 2 * SEATS_KNOWN; i++) {
			snprintf(name, sizeof(name), "/pod-%u", i);
			assert_true(seats_at(s, seats_known(s, name))->is_seated);
		}
	}
	assert_int_equal(seats_known(s, "/never"), SEAT_OTHER);
	assert_int_equal(seats_nr_known(s), SEATS_KNOWN);
}

/* The quietest goes, whatever the order in which they came. */
static void the_one_that_was_quiet_for_longest_is_forgotten(void **state)
{
	SCOPED(scoped_seats) struct seats *s = NULL;
	uint32_t second;
	char name[32];

	(void)state;
	assert_int_equal(seats_new(1, &s), 0);
	for (unsigned i = 0; i < SEATS_KNOWN; i++) {
		snprintf(name, sizeof(name), "/%u", i);
		seats_note(s, seats_find(s, name), i, i == 1); /* /1 gets the seat */
	}
	seats_choose(s, SECOND_NS);
	second = seats_known(s, "/2");
	(void)seats_find(s, "/0"); /* not the oldest any more */
	assert_int_equal(seats_replaced(s), SEAT_NONE);
	assert_int_equal(seats_find(s, "/new"), second);
	assert_int_equal(seats_replaced(s), second);
	assert_int_not_equal(seats_known(s, "/0"), SEAT_OTHER);
	assert_int_not_equal(seats_known(s, "/1"), SEAT_OTHER);
	assert_int_equal(seats_known(s, "/2"), SEAT_OTHER);
}

static void no_seats_and_odd_names_are_other(void **state)
{
	SCOPED(scoped_seats) struct seats *none = NULL;
	SCOPED(scoped_seats) struct seats *s = NULL;
	char name[2000];

	(void)state;
	assert_int_equal(seats_new(0, &none), 0);
	assert_int_equal(seats_find(none, "/a"), SEAT_OTHER);
	assert_int_equal(seats_new(5, &s), 0);
	assert_int_equal(seats_find(s, NULL), SEAT_OTHER);
	assert_int_equal(seats_find(s, ""), SEAT_OTHER);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_not_equal(seats_find(s, name), SEAT_OTHER);
	name[1990] = 'y'; /* the same as far as it is kept */
	assert_int_equal(seats_nr_known(s), 1);
	assert_int_equal(seats_find(s, name), 1);
	assert_int_not_equal(seats_find(s, "/a\n\x01\xff\"b"), SEAT_OTHER);
	assert_string_equal(seats_at(s, 2)->name, "/a???\"b");
}

static void cpu_stat_of_both_versions_is_read(void **state)
{
	struct seat_throttle t = { 0 };

	(void)state;
	assert_true(throttle_parse(
		"usage_usec 9\nnr_periods 40\nnr_throttled 12\nthrottled_usec 3456\n", &t));
	assert_int_equal(t.periods, 12);
	assert_int_equal(t.usec, 3456);
	assert_true(throttle_parse("nr_periods 1\nnr_throttled 2\nthrottled_time 5000000\n", &t));
	assert_int_equal(t.usec, 5000);
	assert_false(throttle_parse("usage_usec 9\nuser_usec 4\n", &t));
	assert_false(throttle_parse("", &t));
	assert_false(throttle_parse("xnr_throttled 12\nthrottled_usec 3\n", &t));
}

static void throttling_counts_from_when_it_is_first_seen(void **state)
{
	struct seat seat = { 0 };

	(void)state;
	seat_take_throttle(&seat, &(struct seat_throttle){ 7, 5000, 5 });
	assert_int_equal(seat.throttled_us, 0);
	seat_take_throttle(&seat, &(struct seat_throttle){ 7, 5900, 6 });
	assert_int_equal(seat.throttled_us, 900);
	assert_int_equal(seat.throttled_periods, 1);
	seat_take_throttle(&seat,
	                   &(struct seat_throttle){ 8, 30, 2 }); /* the cgroup was made anew */
	assert_int_equal(seat.throttled_us, 930);
	assert_int_equal(seat.throttled_periods, 3);
}

static void counters_go_on_when_their_source_is_replaced(void **state)
{
	struct sums_counts c = { 0 };

	(void)state;
	counts_set(&c, "switch", 100);
	counts_set(&c, "switch", 90); /* never back */
	counts_rebase(&c);
	counts_set(&c, "switch", 5);
	assert_int_equal(c.nr, 1);
	assert_int_equal(c.items[0].before + c.items[0].now, 105);
}

static void blame_of_cgroups_without_seats_is_merged(void **state)
{
	static const struct wait waits[] = { { "/a", 50 }, { "/b", 40 }, { "/c", 1 } };
	SCOPED(scoped_sums) struct sums *s = NULL;
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(sums_new(2, &s), 0);
	step(s->cgroups, waits, 3, SECOND_NS);
	a = seats_find(s->cgroups, "/a");
	b = seats_find(s->cgroups, "/b");
	c = seats_find(s->cgroups, "/c");
	sums_blame_add(s, a, b, 10);
	sums_blame_add(s, a, c, 20);
	sums_blame_add(s, c, BLAME_SPECIAL | BLAME_STOLEN, 30);
	sums_blame_add(s, a, b, 1);
	assert_int_equal(s->blame.nr, 4); /* with that of other and other, which is always there */
	assert_int_equal(s->blame.merged_ns, 50);
	assert_int_equal(s->blame.pairs[1].ns, 11);
	sums_blame_forget(s, a);
	assert_int_equal(s->blame.nr, 2);
	assert_int_equal(s->blame.gone_ns, 31);
}

static void blame_of_too_many_pairs_is_merged(void **state)
{
	SCOPED(scoped_sums) struct sums *s = NULL;
	uint64_t shown = 0;
	char name[32];

	(void)state;
	assert_int_equal(sums_new(100, &s), 0);
	for (uint32_t i = 1; i <= 100; i++) {
		snprintf(name, sizeof(name), "/%u", i);
		seats_note(s->cgroups, seats_find(s->cgroups, name), i, i);
	}
	seats_choose(s->cgroups, SECOND_NS);
	for (uint32_t i = 0; i < 10000; i++)
		sums_blame_add(s, 1 + i / 100, 1 + i % 100, 7);
	assert_int_equal(s->blame.nr, SUMS_PAIRS_MAX);
	for (size_t i = 0; i < s->blame.nr; i++)
		shown += s->blame.pairs[i].ns;
	assert_int_equal(shown, 7 * 10000);
	assert_int_equal(s->blame.merged_ns, 7 * (10000 - (SUMS_PAIRS_MAX - 1)));
	assert_int_equal(s->blame.pairs[0].ns, s->blame.merged_ns);
}

static void peaks_are_of_the_last_minutes(void **state)
{
	SCOPED(scoped_sums) struct sums *s = NULL;
	const struct dist *d;

	(void)state;
	assert_int_equal(sums_new(2, &s), 0);
	d = &s->dists[DIST_DELAY_WOKEN];
	sums_age(s, 100 * SECOND_NS);
	sums_peak(s, DIST_DELAY_WOKEN, &(struct sums_peak){ .ns = 9, .tid = 1 });
	sums_peak(s, DIST_DELAY_WOKEN, &(struct sums_peak){ .ns = 5, .tid = 2 });
	assert_int_equal(dist_peak(d)->tid, 1);
	sums_age(s, 161 * SECOND_NS);
	sums_peak(s, DIST_DELAY_WOKEN, &(struct sums_peak){ .ns = 5, .tid = 2 });
	assert_int_equal(dist_peak(d)->tid, 1);
	sums_age(s, 222 * SECOND_NS);
	assert_int_equal(dist_peak(d)->tid, 2);
	sums_age(s, 283 * SECOND_NS);
	assert_int_equal(dist_peak(d)->ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_wait_most_have_seats),
		cmocka_unit_test(nothing_is_counted_twice_or_lost_when_seats_change),
		cmocka_unit_test(a_little_more_takes_no_seat),
		cmocka_unit_test(more_cgroups_than_are_remembered_are_other),
		cmocka_unit_test(of_too_many_at_once_the_last_noted_are_remembered),
		cmocka_unit_test(the_one_that_was_quiet_for_longest_is_forgotten),
		cmocka_unit_test(no_seats_and_odd_names_are_other),
		cmocka_unit_test(cpu_stat_of_both_versions_is_read),
		cmocka_unit_test(throttling_counts_from_when_it_is_first_seen),
		cmocka_unit_test(counters_go_on_when_their_source_is_replaced),
		cmocka_unit_test(blame_of_cgroups_without_seats_is_merged),
		cmocka_unit_test(blame_of_too_many_pairs_is_merged),
		cmocka_unit_test(peaks_are_of_the_last_minutes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
