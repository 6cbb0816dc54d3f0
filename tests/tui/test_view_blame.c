#include "../unit.h"

#include <stdlib.h>
#include <string.h>

#include "machine/machine_blame.h"
#include "screen.h"

#define MS 1000000ULL

static struct fixture f;

static const struct machine_blame_row rows[] = {
	{ .victim = "web\033[31m",
	  .blames = "backup 71%, make 29%",
	  .waits = 12,
	  .wait_ns = 1500 * MS,
	  .max_ns = 80 * MS,
	  .task_ns = 1500 * MS },
	{ .victim = "build", .blames = "", .waits = 1, .wait_ns = 70 * MS, .throttled_ns = 70 * MS },
};

static char *shown(const struct machine_blame *b, uint16_t width, uint16_t height)
{
	struct screen s = { 0 };
	char *text;

	f.m.blame = b;
	text = screen_draw("blame", &f.m, &s, width, height);
	f.m.blame = NULL;
	return text;
}

static void victims_and_what_they_wait_for(void **state)
{
	const struct machine_blame b = { .rows = rows,
		                         .nr = 2,
		                         .nr_victims = 2,
		                         .wait_ns = 1570 * MS,
		                         .task_ns = 1500 * MS,
		                         .seconds = 5 };
	char *text = shown(&b, 80, 24), *line;

	(void)state;
	assert_non_null(strstr(text, "Blame: 1.57s waited in 5.0 s, 1.50s behind tasks"));
	assert_non_null(strstr(text, "THROTTLED"));
	assert_null(strstr(text, "STOLEN")); /* nobody has any */
	assert_null(strchr(text, '\033'));
	line = screen_find(text, "web");
	assert_non_null(strstr(line, "1.50s backup 71%, make 29%"));
	free(line);
	line = screen_find(text, "build");
	assert_non_null(strstr(line, "70.0ms"));
	free(line);
	free(text);
}

static void the_title_says_what_a_row_adds_up(void **state)
{
	const struct machine_blame b = {
		.rows = rows, .nr = 2, .wait_ns = 1570 * MS, .seconds = 5, .by = "cgroup"
	};
	char *text = shown(&b, 80, 24);

	(void)state;
	assert_non_null(strstr(text, "Blame by cgroup: 1.57s waited"));
	free(text);
}

static void why_there_is_nothing_is_said(void **state)
{
	struct machine_blame b = { .note = "the kernel refused" };
	char *text = shown(&b, 80, 24);

	(void)state;
	assert_non_null(strstr(text, "the kernel refused"));
	free(text);
	b = (struct machine_blame){ .seconds = 1, .lost = 7 };
	text = shown(&b, 80, 24);
	assert_non_null(strstr(text, "no task waited"));
	assert_non_null(strstr(text, "7 events lost"));
	free(text);
	text = shown(NULL, 80, 24);
	assert_non_null(strstr(text, "nothing measured yet"));
	free(text);
}

static void it_fits_any_screen(void **state)
{
	const struct machine_blame b = { .rows = rows, .nr = 2, .seconds = 5 };

	(void)state;
	for (uint16_t width = 1; width < 120; width = (uint16_t)(width + 7))
		for (uint16_t height = 1; height < 30; height = (uint16_t)(height + 3))
			free(shown(&b, width, height));
}

static int setup(void **state)
{
	(void)state;
	fixture_init(&f, &fixture_small);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_done(&f);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(victims_and_what_they_wait_for),
		cmocka_unit_test(the_title_says_what_a_row_adds_up),
		cmocka_unit_test(why_there_is_nothing_is_said),
		cmocka_unit_test(it_fits_any_screen),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
