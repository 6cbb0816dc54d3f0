#include "../unit.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "tui/views/cpu_history.h"

#define NR 100

static double busy[2][NR], user[2][NR], kernel[2][NR], irq[2][NR], waiting[2][NR];
static struct machine_cpu cpus[2];
static const struct machine_task none;
static struct machine m;

/* CPU 0: half user time, then a quarter of each kind and of stolen time. CPU 1: idle but for a tick now and then; waits at the end. */
static int setup(void **state)
{
	for (int i = 0; i < NR; i++) {
		bool is_late = i >= NR / 2;

		busy[0][i] = is_late ? 1 : 0.5;
		user[0][i] = is_late ? 0.25 : 0.5;
		kernel[0][i] = is_late ? 0.25 : 0;
		irq[0][i] = is_late ? 0.25 : 0;
		busy[1][i] = user[1][i] = i % 2 ? 0.001 : 0;
		kernel[1][i] = irq[1][i] = 0;
		waiting[0][i] = NAN;
		waiting[1][i] = i < NR - 4 ? 0 : 4;
	}
	for (uint32_t i = 0; i < 2; i++)
		cpus[i] = (struct machine_cpu){ .cpu = i,
			                        .is_online = true,
			                        .busy = busy[i][NR - 1],
			                        .mhz = NAN,
			                        .tid = -1,
			                        .waiting = waiting[i][NR - 1],
			                        .busy_history = { busy[i], NR },
			                        .user_history = { user[i], NR },
			                        .system_history = { kernel[i], NR },
			                        .irq_history = { irq[i], NR },
			                        .waiting_history = { waiting[i], NR } };
	m = (struct machine){ .cpus = cpus, .nr_cpus = 2, .interval_s = 0.25, .processes = &none };
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}

static struct grid drawn(uint16_t width, uint16_t height)
{
	struct grid g;

	assert_int_equal(grid_init(&g, width, height), 0);
	cpu_history_draw(&m, &g, (struct area){ 0, 0, width, height });
	return g;
}

static const struct cell *cell(const struct grid *g, int x, int y)
{
	return &g->cells[y * g->width + x];
}

static void parts_stand_on_each_other_in_their_colours(void **state)
{
	static const enum style wanted[] = { STYLE_MIDDLE, STYLE_BAD, STYLE_KERNEL, STYLE_USER };
	struct grid g = drawn(80, 12); /* four lines of a chart, and one above it */
	int last = 80 - 3;

	(void)state;
	for (int i = 0; i < 4; i++) {
		expect_eq(cell(&g, last, 2 + i)->code, 0x28ff);
		expect_eq(cell(&g, last, 2 + i)->style, wanted[i]);
	}
	/* Half of it, of one kind, 25 cells before. */
	expect_eq(cell(&g, last - 25, 3)->code, ' ');
	expect_eq(cell(&g, last - 25, 4)->code, 0x28ff);
	expect_eq(cell(&g, last - 25, 4)->style, STYLE_USER);
	/* As many as there are, and no more. */
	expect_eq(cell(&g, last - 49, 5)->code, 0x28ff);
	expect_eq(cell(&g, last - 50, 5)->code, ' ');
	grid_done(&g);
}

static void something_is_never_nothing(void **state)
{
	struct grid g = drawn(80, 12);

	(void)state;
	/* Every second interval: the right one of a cell. */
	expect_eq(cell(&g, 80 - 3, 10)->code, grid_braille(0, 1));
	grid_done(&g);
}

static void waiting_tasks_are_above(void **state)
{
	struct grid g = drawn(80, 12);

	(void)state;
	expect_eq(cell(&g, 80 - 3, 6)->code, 0x2588);
	expect_eq(cell(&g, 80 - 3, 6)->style, STYLE_BAD);
	expect_eq(cell(&g, 80 - 5, 6)->code, ' ');
	expect_eq(cell(&g, 80 - 3, 1)->code, ' '); /* of CPU 0 it is unknown */
	grid_done(&g);
}

static void there_are_as_many_lines_as_make_sense(void **state)
{
	struct screen s = { 0 };

	(void)state;
	expect_eq(cpu_history_height(&m, &s, 5, false), 0);
	expect_eq(cpu_history_height(&m, &s, 6, false), 2 * 2 + 2);
	expect_eq(cpu_history_height(&m, &s, 9, false), 2 * 3 + 2);
	expect_eq(cpu_history_height(&m, &s, 100, false), 2 * 5 + 2);
	expect_eq(cpu_history_height(&m, &s, 100, true), 2 * 17 + 2);
	s.group = GROUP_LLC;
	expect_eq(cpu_history_height(&m, &s, 100, false), 0);
	s = (struct screen){ .event = "perf:sw:page-faults" };
	expect_eq(cpu_history_height(&m, &s, 100, false), 0);
}

static void a_recording_knows_busy_alone(void **state)
{
	struct grid g;
	char *text;

	(void)state;
	for (int i = 0; i < 2; i++)
		cpus[i].user_history = cpus[i].system_history = cpus[i].irq_history =
			(struct machine_history){ 0 };
	g = drawn(80, 12);
	expect_eq(cell(&g, 80 - 3, 5)->style, STYLE_MIDDLE);
	expect_eq(cell(&g, 80 - 3, 2)->code, 0x28ff);
	grid_done(&g);
	text = screen_draw("default", &m, &(struct screen){ 0 }, 160, 40);
	assert_true(screen_has(text, "CPUs over time"));
	assert_true(screen_has(text, " busy ; above: waiting tasks, a full block is 4.0"));
	assert_false(screen_has(text, "interrupts"));
	free(text);
	setup(state);
}

static void wide_and_tall_screens_have_it(void **state)
{
	struct screen s = { 0 };
	char *text;

	(void)state;
	text = screen_draw("default", &m, &s, 80, 22);
	assert_false(screen_has(text, "CPUs over time"));
	free(text);
	screen_golden("default", &m, s, 120, 38, "tui-history-120.txt");
	screen_golden("default", &m, s, 200, 58, "tui-history-200.txt");
	for (uint16_t width = 1; width < 250; width = (uint16_t)(width + 9))
		for (uint16_t height = 1; height < 60; height = (uint16_t)(height + 3))
			free(screen_draw("default", &m, &s, width, height));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_stand_on_each_other_in_their_colours),
		cmocka_unit_test(something_is_never_nothing),
		cmocka_unit_test(waiting_tasks_are_above),
		cmocka_unit_test(there_are_as_many_lines_as_make_sense),
		cmocka_unit_test(a_recording_knows_busy_alone),
		cmocka_unit_test(wide_and_tall_screens_have_it),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
