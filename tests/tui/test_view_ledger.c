#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_zoom.h"
#include "machine/machine_ledger.h"
#include "screen.h"

#define MS     1000000ULL
#define THREAD 5U

static struct fixture f;
static struct fixture_zoom z;

static const struct machine_ledger_part parts[] = {
	{ "backup (FIFO 50)", 500 * MS, MACHINE_LEDGER_TASK },
	{ "throttled, cgroup /build", 250 * MS, MACHINE_LEDGER_THROTTLED },
	{ "make", 120 * MS, MACHINE_LEDGER_TASK },
	{ "stolen by the hypervisor", 80 * MS, MACHINE_LEDGER_STOLEN },
	{ "unknown", 40 * MS, MACHINE_LEDGER_UNKNOWN },
	{ "others (7)", 10 * MS, MACHINE_LEDGER_OTHERS },
};

static struct machine_ledger sample(void)
{
	return (struct machine_ledger){
		.tid = FIXTURE_TID + THREAD,
		.seconds = 5,
		.waits = 31,
		.wait_ns = 1000 * MS,
		.parts = parts,
		.nr = sizeof(parts) / sizeof(parts[0]),
		.longest =
			"nginx (1005) was woken by the timer interrupt 1.2s after the start and waited "
			"80ms for CPU 1. It waited all of it behind backup (77, FIFO 50) on CPU 1.",
		.longest_ns = 80 * MS,
		.ago_ns = 1300 * MS,
		.sleeps = "a timer 3.1s 95%, a pipe 150ms 5%",
	};
}

static char *shown(const struct machine_ledger *l, uint16_t width, uint16_t height)
{
	struct screen s = { .selected_tid = FIXTURE_TID + THREAD, .process = FIXTURE_TID };
	char *text;

	f.m.ledger = l;
	text = screen_draw("task", &f.m, &s, width, height);
	f.m.ledger = NULL;
	return text;
}

static void the_screens_are_as_they_were(void **state)
{
	const struct machine_ledger l = sample();
	const struct screen s = { .selected_tid = FIXTURE_TID + THREAD, .process = FIXTURE_TID };

	(void)state;
	f.m.ledger = &l;
	screen_golden("task", &f.m, s, 80, 22, "tui-ledger-80.txt");
	screen_golden("task", &f.m, s, 160, 48, "tui-ledger-160.txt");
	screen_golden("task", &f.m, s, 240, 68, "tui-ledger-240.txt");
	f.m.ledger = NULL;
}

static size_t nr_of(const char *line, const char *what)
{
	size_t nr = 0;

	for (; (line = strstr(line, what)); line += strlen(what))
		nr++;
	return nr;
}

/* The bar is 100 cells wide, and a part has as many as percent. */
static void the_bar_is_divided_as_the_time_is(void **state)
{
	const struct machine_ledger l = sample();
	char *text = shown(&l, 104, 40), *bar = screen_find(text, "A\u2588");

	(void)state;
	expect_eq(nr_of(bar, "A") + nr_of(bar, "\u2588") + nr_of(bar, "?"), 50 + 1 + 3);
	expect_eq(nr_of(bar, "B") + nr_of(bar, "\u2593") + nr_of(bar, "+"), 25 + 1);
	expect_eq(nr_of(bar, "C") + nr_of(bar, "\u2592"), 12);
	expect_eq(nr_of(bar, "D") + nr_of(bar, "\u2591"), 8);
	free(bar);
	free(text);
}

static void the_legend_has_names_times_and_shares(void **state)
{
	const struct machine_ledger l = sample();
	char *text = shown(&l, 160, 48);

	(void)state;
	assert_non_null(strstr(text, "Where its waits went: 1.00s in 5.0 s"));
	assert_non_null(strstr(text, " 31 waits "));
	assert_non_null(
		strstr(text, "A backup (FIFO 50) 500ms 50%  B throttled, cgroup /build 250ms 25%  "
	                     "C make 120ms 12%  D stolen by the hypervisor 80.0ms 8%"));
	assert_non_null(strstr(text, "? unknown 40.0ms 4%"));
	assert_non_null(strstr(text, "+ others (7) 10.0ms 1%"));
	assert_non_null(strstr(text, "Slept for: a timer 3.1s 95%, a pipe 150ms 5%"));
	free(text);
}

static void what_finds_no_room_is_counted(void **state)
{
	const struct machine_ledger l = sample();
	char *text = shown(&l, 60, 22);

	(void)state;
	assert_non_null(strstr(text, "A backup (FIFO 50) 500ms 50%"));
	assert_non_null(strstr(text, " more"));
	assert_null(strstr(text, "others (7)"));
	free(text);
}

static void the_longest_wait_has_an_age_or_lasts(void **state)
{
	struct machine_ledger l = sample();
	char *text = shown(&l, 160, 48);

	(void)state;
	assert_non_null(strstr(text, "Longest, 1.30s ago: nginx (1005) was woken"));
	free(text);
	l.is_open = true;
	text = shown(&l, 160, 48);
	assert_non_null(strstr(text, "Longest, not over: nginx (1005)"));
	assert_null(strstr(text, "STALLED"));
	free(text);
	l.longest_ns = 400 * MS;
	text = shown(&l, 160, 48);
	assert_non_null(strstr(text, "STALLED for 400ms: nginx (1005)"));
	free(text);
}

static void what_is_not_known_is_said(void **state)
{
	struct machine_ledger l = sample();
	char *text;

	(void)state;
	l.sleeps = NULL;
	l.lost = 7;
	text = shown(&l, 160, 48);
	assert_non_null(strstr(text, "Slept for: not recorded"));
	assert_non_null(strstr(text, "7 events lost"));
	free(text);
	l = (struct machine_ledger){ .tid = FIXTURE_TID + THREAD, .seconds = 5, .sleeps = "" };
	text = shown(&l, 80, 22);
	assert_non_null(strstr(text, "it did not wait for a CPU in 5.0 s"));
	assert_non_null(strstr(text, "Slept for: no sleep was seen"));
	free(text);
	l.seconds = 0;
	text = shown(&l, 80, 22);
	assert_non_null(strstr(text, "nothing measured yet"));
	free(text);
	l.note = "the kernel refused";
	text = shown(&l, 80, 22);
	assert_non_null(strstr(text, "the kernel refused"));
	free(text);
}

static void another_threads_waits_are_not_shown(void **state)
{
	struct machine_ledger l = sample();
	char *text;

	(void)state;
	l.tid++;
	text = shown(&l, 160, 48);
	assert_null(strstr(text, "Where its waits went"));
	free(text);
}

static void it_fits_any_screen(void **state)
{
	static const struct machine_ledger_part hostile[] = {
		{ "\033[31m\xff\xfe bad", 900 * MS, MACHINE_LEDGER_TASK },
		{ "", 99 * MS, MACHINE_LEDGER_QUEUE },
		{ "\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587",
		  1 * MS, MACHINE_LEDGER_INTERRUPT },
	};
	struct machine_ledger l = sample();

	(void)state;
	for (int i = 0; i < 2; i++) {
		for (uint16_t width = 1; width < 240; width = (uint16_t)(width + 7))
			for (uint16_t height = 1; height < 70; height = (uint16_t)(height + 3))
				free(shown(&l, width, height));
		l.parts = hostile;
		l.nr = 3;
		l.longest = "\033[31m\xff";
	}
}

static int setup(void **state)
{
	(void)state;
	(void)!screen_begin(&f);
	fixture_zoom_init(&z, &f, THREAD, false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return screen_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_screens_are_as_they_were),
		cmocka_unit_test(the_bar_is_divided_as_the_time_is),
		cmocka_unit_test(the_legend_has_names_times_and_shares),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(the_longest_wait_has_an_age_or_lasts),
		cmocka_unit_test(what_is_not_known_is_said),
		cmocka_unit_test(another_threads_waits_are_not_shown),
		cmocka_unit_test(it_fits_any_screen),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
