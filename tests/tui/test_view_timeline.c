#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_lanes.h"
#include "screen.h"

#define MS      1000000ULL
#define S_NS    (1000 * MS)
#define COLUMNS 200

static struct fixture f;
static struct machine_lane_column cells[8][COLUMNS];
static struct machine_lane lanes_of[8];

static const struct machine_lane_name names[] = {
	{ "compress", 3000 * MS },
	{ "web\033[31m", 1500 * MS },
	{ "sh", 20 * MS },
};

static const struct machine_lane_wait waits[] = {
	{ .comm = "web", .tid = 77, .cpu = 1, .wait_ns = 800 * MS, .end_ns = 9 * S_NS },
	{ .comm = "sh", .tid = 5, .cpu = 0, .wait_ns = 9 * MS, .end_ns = 6 * S_NS, .is_open = true },
};

/* CPU 0: compress, then web, then idle, a tick of sh, others, unknown; the CPUs after it are idle. */
static struct machine_lanes make(size_t nr)
{
	for (size_t cpu = 0; cpu < nr; cpu++) {
		lanes_of[cpu] = (struct machine_lane){ .cpu = (uint32_t)cpu,
			                               .columns = cells[cpu],
			                               .waiting = cpu ? 0 : 0.5 };
		for (int i = 0; i < COLUMNS; i++)
			cells[cpu][i] = (struct machine_lane_column){ .what = MACHINE_LANE_IDLE };
	}
	for (int i = 0; i < COLUMNS; i++)
		cells[0][i] = (struct machine_lane_column){
			.what = i < 80    ? 0
			        : i < 120 ? 1
			        : i < 150 ? MACHINE_LANE_IDLE
			        : i < 152 ? 2
			        : i < 180 ? MACHINE_LANE_OTHERS
			                  : MACHINE_LANE_UNKNOWN,
			.busy = 1,
			.waiting = i < 40 ? 2 : 0,
		};
	return (struct machine_lanes){ .lanes = lanes_of,
		                       .nr = nr,
		                       .nr_columns = COLUMNS,
		                       .names = names,
		                       .nr_names = 3,
		                       .others_ns = 7 * MS,
		                       .waits = waits,
		                       .nr_waits = 2,
		                       .waiting_max = 2,
		                       .from_ns = 5 * S_NS,
		                       .to_ns = 10 * S_NS,
		                       .is_live = true };
}

static char *shown(const struct machine_lanes *l, struct screen *s, uint16_t width, uint16_t height)
{
	char *text;

	f.m.lanes = l;
	text = screen_draw("timeline", &f.m, s, width, height);
	f.m.lanes = NULL;
	return text;
}

static void what_ran_waited_and_when(void **state)
{
	const struct machine_lanes l = make(2);
	struct screen s = { 0 };
	char *text = shown(&l, &s, 120, 30), *line;

	(void)state;
	assert_true(screen_has(
		text,
		"Timeline: 5.00s, 2 CPUs, 0.50 tasks waiting on average, at most 2.0 for a CPU"));
	assert_null(strchr(text, '\033'));
	line = screen_find(text, "CPU 0");
	assert_true(screen_has(line, "compress"));
	assert_true(screen_has(line, "web?[31m"));
	assert_true(screen_has(line, "c ++++"));
	assert_true(screen_has(line, "????"));
	free(line);
	line = screen_find(text, "now");
	assert_true(screen_has(line, "-5.00s"));
	assert_true(screen_has(line, "-2.50s"));
	free(line);
	line = screen_find(text, "a compress 3.00s");
	assert_true(screen_has(line, "c sh 20.0ms"));
	assert_true(screen_has(line, "+ others 7.00ms"));
	free(line);
	line = screen_find(text, "800ms");
	assert_true(screen_has(line, "77"));
	assert_true(screen_has(line, "1.00s ago"));
	free(line);
	line = screen_find(text, "not over");
	assert_true(screen_has(line, "9.00ms"));
	free(line);
	free(text);
}

static void whole_screens(void **state)
{
	const struct machine_lanes l = make(2);
	struct machine m = { .lanes = &l };

	(void)state;
	screen_golden("timeline", &m, (struct screen){ 0 }, 120, 30, "tui-timeline-120.txt");
	screen_golden("timeline", &m, (struct screen){ 0 }, 80, 22, "tui-timeline-80.txt");
}

static void a_recording_has_its_own_time(void **state)
{
	struct machine_lanes l = make(1);
	struct screen s = { 0 };
	char *text, *line;

	(void)state;
	l.is_live = false;
	l.start_ns = 4 * S_NS;
	text = shown(&l, &s, 120, 30);
	line = screen_find(text, "6.0000s");
	assert_true(screen_has(line, "1.0000s"));
	free(line);
	line = screen_find(text, "at 5.0000s");
	assert_true(screen_has(line, "800ms"));
	free(line);
	free(text);
}

static void it_asks_for_as_many_columns_as_it_shows(void **state)
{
	const struct machine_lanes l = make(2);
	struct machine_request r = { 0 };
	struct screen s = { 0 };

	(void)state;
	free(shown(&l, &s, 120, 30));
	view_find("timeline")->request(&s, &r);
	expect_eq(r.nr_columns, 120 - 4 - 8);
	free(shown(&l, &s, 58, 30));
	view_find("timeline")->request(&s, &r);
	expect_eq(r.nr_columns, 58 - 4 - 4);
}

static void the_selected_wait_can_be_entered(void **state)
{
	const struct machine_lanes l = make(2);
	struct screen s = { .selected = 1 };

	(void)state;
	free(shown(&l, &s, 120, 30));
	expect_eq(s.selected_tid, 5);
	assert_string_equal(view_find("timeline")->into, "Task");
	s.selected = 99;
	free(shown(&l, &s, 120, 30));
	expect_eq(s.selected, 1);
}

static void cpus_without_room_are_counted(void **state)
{
	const struct machine_lanes l = make(8);
	struct screen s = { 0 };
	char *text = shown(&l, &s, 80, 10);

	(void)state;
	assert_true(screen_has(text, "6 of 8 CPUs"));
	free(text);
	text = shown(&l, &s, 80, 40);
	assert_true(screen_has(text, " 8 CPUs"));
	assert_true(screen_has(text, "CPU 7"));
	free(text);
}

static void why_there_is_nothing_is_said(void **state)
{
	struct machine_lanes l = { .note = "the kernel refused" };
	struct screen s = { 0 };
	char *text = shown(&l, &s, 80, 24);

	(void)state;
	assert_true(screen_has(text, "the kernel refused"));
	free(text);
	text = shown(NULL, &s, 80, 24);
	assert_true(screen_has(text, "nothing measured yet"));
	free(text);
	l = make(1);
	l.lost = 7;
	text = shown(&l, &s, 100, 24);
	assert_true(screen_has(text, "7 events lost"));
	free(text);
}

static void it_fits_any_screen(void **state)
{
	const struct machine_lanes l = make(8);
	struct screen s = { 0 };

	(void)state;
	for (uint16_t width = 1; width < 250; width = (uint16_t)(width + 7))
		for (uint16_t height = 1; height < 50; height = (uint16_t)(height + 3))
			free(shown(&l, &s, width, height));
}

static int setup(void **state)
{
	(void)state;
	return screen_begin(&f);
}

static int teardown(void **state)
{
	(void)state;
	return screen_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ran_waited_and_when),
		cmocka_unit_test(whole_screens),
		cmocka_unit_test(a_recording_has_its_own_time),
		cmocka_unit_test(it_asks_for_as_many_columns_as_it_shows),
		cmocka_unit_test(the_selected_wait_can_be_entered),
		cmocka_unit_test(cpus_without_room_are_counted),
		cmocka_unit_test(why_there_is_nothing_is_said),
		cmocka_unit_test(it_fits_any_screen),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
