/* The screen of `stat`: what is on it, in which order, and that it fits. */
#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "../stat/stat_fixture.h"
#include "base/text.h"
#include "golden.h"
#include "render/in_place.h"
#include "render/stat/stat_screen.h"

static struct stat_fixture f;

static int teardown(void **state)
{
	(void)state;
	stat_fixture_done(&f);
	return 0;
}

static char *draw_as(size_t width, size_t height, bool is_utf8, const char *next)
{
	struct stat_screen_cfg cfg = {
		.next = next,
		.width = width,
		.height = height,
		.is_utf8 = is_utf8,
		.machine = { .nr_cpus = 4, .busy = 0.834, .steal = 0.002, .pressure = 0.5 },
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	expect_eq(stat_screen_print(&f.report, &cfg, out), 0);
	fclose(out);
	return text;
}

static char *draw(size_t width, size_t height, bool is_utf8)
{
	return draw_as(width, height, is_utf8, NULL);
}

static void make(enum tally_by display)
{
	fixture_machine(&f, display, STAT_GROUP_LATENCY);
	f.in.top = STAT_TOP_ALL;
	fixture_build(&f);
}

static void one_screen(void **state)
{
	char *text;

	(void)state;
	make(TALLY_BY_COMM);
	text = draw(80, 24, true);
	golden_compare("stat-screen-80.txt", text);
	free(text);
}

static void processes_and_threads_have_their_ids(void **state)
{
	char *text;

	(void)state;
	make(TALLY_BY_TGID);
	text = draw(80, 24, true);
	assert_non_null(strstr(text, "\nencoder/"));
	free(text);
}

static void a_quota_that_throttles_is_named(void **state)
{
	struct stat_screen_cfg cfg = {
		.width = 80,
		.height = 24,
		.is_filtered = true,
		.machine = { .nr_cpus = 4,
		             .busy = 1,
		             .steal = 0,
		             .pressure = 0.964,
		             .throttled = "/shop.slice",
		             .nr_periods = 10,
		             .nr_throttled = 9 },
	};
	char *text = NULL, *rest;
	size_t size = 0;
	FILE *out;

	(void)state;
	make(TALLY_BY_COMM);
	out = open_memstream(&text, &size);
	assert_non_null(out);
	expect_eq(stat_screen_print(&f.report, &cfg, out), 0);
	fclose(out);
	rest = text;
	/* Too long with decimals. */
	assert_string_equal(
		strsep(&rest, "\n"),
		"4 CPUs  busy 100%  chosen waiting 0.01 per CPU  steal 0%  pressure 96%  lost 3");
	assert_non_null(strstr(strsep(&rest, "\n"), ", mostly preempted or throttled"));
	assert_string_equal(strsep(&rest, "\n"),
	                    "quota: cgroup /shop.slice was throttled in 9 of 10 periods");
	free(text);
}

static void it_fits_every_terminal(void **state)
{
	static const size_t sizes[][2] = { { 80, 24 }, { 120, 40 }, { 200, 60 }, { 40, 8 },
		                           { 80, 3 },  { 20, 5 },   { 1, 1 } };

	(void)state;
	make(TALLY_BY_TID);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *text = draw(sizes[i][0], sizes[i][1], i % 2), *rest = text, *line;
		size_t nr = 0;

		while ((line = strsep(&rest, "\n"))) {
			assert_true(text_width(line) <= sizes[i][0]);
			nr++;
		}
		assert_in_range(nr, 1, sizes[i][1]);
		free(text);
	}
}

static void what_does_not_fit_is_counted(void **state)
{
	char *text, *last;

	(void)state;
	make(TALLY_BY_TID);
	text = draw(80, 6, false);
	last = strrchr(text, '\n');
	assert_non_null(last);
	expect_eq(strncmp(last, "\nand ", 5), 0);
	free(text);
}

static void the_next_command_is_last_and_fits(void **state)
{
	static const char next[] = "\nnext: schedscope stat --blame";

	(void)state;
	make(TALLY_BY_TID);
	for (size_t height = 7; height < 12; height++) {
		char *text = draw_as(80, height, true, "schedscope stat --blame"),
		     *last = strrchr(text, '\n');
		size_t nr = 1;

		for (const char *c = text; *c; c++)
			nr += *c == '\n';
		assert_non_null(last);
		assert_string_equal(last, next);
		assert_true(nr <= height);
		free(text);
	}
}

static char *over(const char *lines, bool is_first)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	in_place_print(lines, strlen(lines), is_first, out);
	fclose(out);
	return text;
}

/* A line is erased before it is written: behind one that fills it, erasing takes its last cell. */
static void a_screen_is_drawn_over_the_last_one(void **state)
{
	char *text = over("one\ntwo", true);

	(void)state;
	assert_string_equal(text, "\033[H\033[2J\033[Kone\n\033[Jtwo");
	free(text);
	text = over("one\ntwo\n", false);
	assert_string_equal(text, "\033[H\033[Kone\n\033[Ktwo\n\033[J");
	free(text);
}

static void nothing_to_show_is_said(void **state)
{
	char *text;

	(void)state;
	stat_fixture_init(&f, TALLY_BY_COMM, STAT_GROUP_LATENCY);
	fixture_build(&f);
	text = draw(80, 24, true);
	assert_non_null(strstr(text, ": none"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(one_screen, teardown),
		cmocka_unit_test_teardown(processes_and_threads_have_their_ids, teardown),
		cmocka_unit_test_teardown(it_fits_every_terminal, teardown),
		cmocka_unit_test_teardown(what_does_not_fit_is_counted, teardown),
		cmocka_unit_test_teardown(the_next_command_is_last_and_fits, teardown),
		cmocka_unit_test_teardown(a_quota_that_throttles_is_named, teardown),
		cmocka_unit_test(a_screen_is_drawn_over_the_last_one),
		cmocka_unit_test_teardown(nothing_to_show_is_said, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
