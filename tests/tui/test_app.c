#include "../unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_play.h"
#include "machine/machine_source.h"
#include "machine/machine_verdict.h"
#include "tui/app.h"
#include "tui/task_groups.h"

#define NR_TASKS 40U

struct harness {
	struct config config;
	struct app app;
	struct machine machine;
	struct machine_cpu cpus[2];
	struct machine_task processes[NR_TASKS], threads[NR_TASKS];
	struct grid grid;
	char *text;
};

static int set_up(void **state)
{
	struct harness *h = calloc(1, sizeof(*h));

	config_init(&h->config);
	app_init(&h->app, &h->config);
	for (uint32_t i = 0; i < NR_TASKS; i++) {
		h->processes[i] = (struct machine_task){ .tid = 100 + i,
			                                 .tgid = 100 + i,
			                                 .nr_threads = 1,
			                                 .comm = "worker",
			                                 .state = 'S',
			                                 .layer = -1,
			                                 .run = 0.9 - 0.01 * i,
			                                 .wait = NAN };
		h->threads[i] = h->processes[i];
	}
	h->cpus[0] = (struct machine_cpu){ .is_online = true, .busy = 0.25, .mhz = NAN, .tid = -1 };
	h->cpus[1] = (struct machine_cpu){
		.cpu = 1, .is_online = true, .busy = 0.75, .mhz = NAN, .tid = -1
	};
	h->machine = (struct machine){ .host = "box",
		                       .release = "6.1",
		                       .source = "synthetic",
		                       .interval_s = 1,
		                       .own_cpu = NAN,
		                       .cpus = h->cpus,
		                       .nr_cpus = 2,
		                       .processes = h->processes,
		                       .nr_processes = NR_TASKS,
		                       .threads = h->threads,
		                       .nr_threads = NR_TASKS };
	assert_int_equal(grid_init(&h->grid, 100, 30), 0);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct harness *h = *state;

	config_done(&h->config);
	grid_done(&h->grid);
	free(h->text);
	free(h);
	return 0;
}

static const char *drawn_at(struct harness *h, uint16_t width, uint16_t height)
{
	size_t len;
	FILE *out;

	free(h->text);
	h->text = NULL;
	out = open_memstream(&h->text, &len);
	assert_int_equal(grid_reset(&h->grid, width, height), 0);
	app_draw(&h->app, &h->machine, &h->grid);
	grid_print(&h->grid, out);
	fclose(out);
	return h->text;
}

static const char *drawn(struct harness *h)
{
	return drawn_at(h, 100, 30);
}

/* Presses keys by their texts, drawing after each as the loop does. */
static unsigned int press(struct harness *h, const char *key)
{
	unsigned int effects = app_press(&h->app, &h->machine,
	                                 (struct app_input){ .key = key_from_text(key) });

	drawn(h);
	return effects;
}

static const char *state_of(const struct harness *h)
{
	return h->app.view->state;
}

static void processes_are_grouped_and_a_group_is_entered_and_left(void **state)
{
	struct harness *h = *state;

	assert_int_equal(task_groups_new(&h->app.screen.groups), 0);
	h->processes[7].comm = "other";
	press(h, "C");
	assert_non_null(strstr(h->text, "Names 2 of 40 processes"));
	assert_non_null(strstr(h->text, "processes by name"));
	press(h, "Down");
	press(h, "Enter");
	assert_non_null(strstr(h->text, "Processes of other: 1"));
	press(h, "Enter");
	expect_eq(h->app.screen.process, 107);
	press(h, "Esc");
	expect_eq(h->app.screen.process, 0);
	assert_non_null(strstr(h->text, "Processes of other: 1"));
	press(h, "q"); /* a step back, not the end */
	assert_non_null(strstr(h->text, "Names 2 of 40 processes"));
	press(h, "Enter");
	press(h, "y");
	press(h, "y"); /* another view forgets the group */
	assert_non_null(strstr(h->text, "Names 2 of 40 processes"));
	press(h, "C");
	assert_non_null(strstr(h->text, "Cgroups 1 of 40 processes"));
	press(h, "C");
	assert_non_null(strstr(h->text, "Process tree 40"));
	press(h, "Enter");
	expect_eq(h->app.screen.process, 100);
	press(h, "C");
	expect_eq(h->app.screen.by, TASKS_BY_PROCESS);
	assert_non_null(strstr(h->text, "Processes 40"));
	task_groups_free(h->app.screen.groups);
}

static void the_same_view_again_goes_back(void **state)
{
	struct harness *h = *state;

	assert_string_equal(state_of(h), "Default");
	press(h, "l");
	press(h, "s");
	assert_string_equal(state_of(h), "Scheduler");
	press(h, "s");
	assert_string_equal(state_of(h), "Llc");
	press(h, "l");
	assert_string_equal(state_of(h), "Scheduler");
}

static void help_never_becomes_the_previous_view(void **state)
{
	struct harness *h = *state;

	press(h, "l");
	press(h, "h");
	assert_true(h->app.is_help);
	assert_non_null(strstr(drawn(h), "Views\n"));
	press(h, "s");
	assert_false(h->app.is_help);
	press(h, "s");
	assert_string_equal(state_of(h), "Llc");
	press(h, "?");
	press(h, "l"); /* the view beneath: not away from it */
	assert_string_equal(state_of(h), "Llc");
	assert_false(h->app.is_help);
}

static void quit_in_the_help_closes_the_help(void **state)
{
	struct harness *h = *state;

	press(h, "h");
	expect_eq(press(h, "q"), 0);
	assert_false(h->app.is_help);
	expect_eq(press(h, "q"), APP_QUIT);
}

static void ctrl_c_and_signals_end_it_everywhere(void **state)
{
	struct harness *h = *state;

	press(h, "h");
	expect_eq(press(h, "Ctrl-C"), APP_QUIT);
	press(h, "q");
	press(h, "/");
	expect_eq(press(h, "Ctrl-C"), APP_QUIT);
	expect_eq(app_press(&h->app, NULL, (struct app_input){ .key = KEY_OF_SIGNAL }), APP_QUIT);
}

static void esc_goes_back_and_never_ends_it(void **state)
{
	struct harness *h = *state;

	press(h, "l");
	press(h, "s");
	for (int i = 0; i < 5; i++)
		expect_eq(press(h, "Esc"), 0);
	assert_string_equal(state_of(h), "Llc");
}

static void a_filter_takes_every_letter(void **state)
{
	struct harness *h = *state;
	uint32_t tick = h->app.screen.tick_ms;

	press(h, "/");
	for (const char *p = "q-+S \xc3\xa9x"; *p;) {
		char letter[3] = { *p, (unsigned char)*p >= 0xc0 ? p[1] : '\0', '\0' };

		expect_eq(press(h, letter[0] == ' ' ? "Space" : letter), 0);
		p += strlen(letter);
	}
	assert_string_equal(h->app.screen.filter, "q-+S \xc3\xa9x");
	expect_eq(h->app.screen.tick_ms, tick);
	press(h, "Backspace");
	press(h, "Backspace");
	assert_string_equal(h->app.screen.filter, "q-+S ");
	assert_non_null(strstr(drawn(h), "filter q-+S "));
	press(h, "Enter");
	assert_false(h->app.screen.is_typing);
	assert_string_equal(h->app.screen.filter, "q-+S ");
	press(h, "Esc");
	assert_string_equal(h->app.screen.filter, "");
}

static void a_filter_has_an_end(void **state)
{
	struct harness *h = *state;

	press(h, "/");
	for (int i = 0; i < 200; i++)
		press(h, "\xe2\x82\xac");
	assert_true(strlen(h->app.screen.filter) < sizeof(h->app.screen.filter));
	expect_eq(strlen(h->app.screen.filter) % 3, 0);
}

static void a_process_opens_into_its_threads_and_one_of_them(void **state)
{
	struct harness *h = *state;

	press(h, "p");
	press(h, "Down");
	press(h, "Down");
	expect_eq(h->app.screen.selected, 2);
	expect_eq(h->app.screen.selected_tid, 102);
	press(h, "Enter");
	expect_eq(h->app.screen.process, 102);
	press(h, "Enter");
	assert_string_equal(state_of(h), "Task");
	expect_eq(press(h, "q"), 0);
	assert_string_equal(state_of(h), "Process");
	expect_eq(h->app.screen.process, 102);
	expect_eq(press(h, "q"), 0);
	expect_eq(h->app.screen.process, 0);
	expect_eq(h->app.screen.selected_tid, 102);
	expect_eq(press(h, "q"), APP_QUIT);
}

static void arrows_and_vi_keys_stay_within_the_rows(void **state)
{
	struct harness *h = *state;

	press(h, "p");
	press(h, "k");
	expect_eq(h->app.screen.selected, 0);
	press(h, "j");
	press(h, "j");
	press(h, "k");
	expect_eq(h->app.screen.selected, 1);
	press(h, "G");
	expect_eq(h->app.screen.selected, NR_TASKS - 1);
	press(h, "Down");
	press(h, "PageDown");
	expect_eq(h->app.screen.selected, NR_TASKS - 1);
	press(h, "PageUp");
	assert_true(h->app.screen.selected < (int)NR_TASKS - 10);
	press(h, "g");
	expect_eq(h->app.screen.selected, 0);
}

static void the_mouse_selects_and_enters(void **state)
{
	struct harness *h = *state;
	struct app_input in = { .key = KEY_OF_CLICK, .x = 5 };

	press(h, "p");
	assert_true(h->app.selected_y > 0);
	in.y = h->app.selected_y + 3;
	app_press(&h->app, &h->machine, in);
	drawn(h);
	expect_eq(h->app.screen.selected, 3);
	in.key = KEY_OF_WHEEL_DOWN;
	app_press(&h->app, &h->machine, in);
	drawn(h);
	expect_eq(h->app.screen.selected, 6);
	in.key = KEY_OF_CLICK;
	in.y = h->app.selected_y;
	app_press(&h->app, &h->machine, in);
	expect_eq(h->app.screen.process, 106);
	in.y = 1000;
	app_press(&h->app, &h->machine, in);
}

static void ticks_change_as_in_scxtop(void **state)
{
	static const uint32_t down[] = { 150, 75, 37, 18, 10, 10 }, up[] = { 20, 40, 80, 160, 260 };
	struct harness *h = *state;

	expect_eq(h->app.screen.tick_ms, 250);
	for (size_t i = 0; i < 6; i++) {
		press(h, "-");
		expect_eq(h->app.screen.tick_ms, down[i]);
	}
	for (size_t i = 0; i < 5; i++) {
		press(h, "+");
		expect_eq(h->app.screen.tick_ms, up[i]);
	}
	expect_eq(h->config.tick_ms, 260);
	for (int i = 0; i < 1000; i++)
		press(h, "+");
	expect_eq(h->app.screen.tick_ms, CONFIG_TICK_MAX_MS);
}

static void choices_go_round(void **state)
{
	struct harness *h = *state;

	for (int i = 1; i <= SHAPES; i++) {
		press(h, "v");
		expect_eq(h->app.screen.shape, i % SHAPES);
	}
	for (int i = 1; i <= GROUPS; i++) {
		press(h, "c");
		expect_eq(h->app.screen.group, i % GROUPS);
	}
	for (size_t i = 1; i <= nr_themes; i++) {
		press(h, "t");
		assert_ptr_equal(h->config.theme, &themes[i % nr_themes]);
	}
}

/* Where a title stands in the line of titles; -1 = it does not. */
static int place_of(struct harness *h, const char *title, int *y)
{
	const char *text = drawn(h), *line = strstr(text, "NAME"), *at;
	int x = 0;

	*y = 0;
	assert_non_null(line);
	for (; text < line; text++)
		*y += *text == '\n';
	while (line > h->text && line[-1] != '\n')
		line--;
	at = strstr(line, title);
	if (!at || at > strchr(line, '\n'))
		return -1;
	for (; line < at; line++)
		x += ((unsigned char)*line & 0xc0) != 0x80;
	return x;
}

static void sorting_goes_through_the_columns_that_are_there(void **state)
{
	static const char *const titles[] = { "PID",  "NAME",  "S",   "CLASS", "CPU",
		                              "RUN%", "WAIT%", "P50", "P99" };
	struct harness *h = *state;
	uint64_t seen = 0;
	int y, nr = 0;

	press(h, "p");
	expect_eq(h->app.screen.sort, SORT_RUN);
	do {
		press(h, ">");
		assert_false(seen & 1ULL << h->app.screen.sort);
		seen |= 1ULL << h->app.screen.sort;
		nr++;
	} while (h->app.screen.sort != SORT_RUN);
	/* All but the tid of threads, LLC, NODE, LAYER and DSQ, which this machine does not have; NI, RUN:WAIT, WAITED and MEM are more. */
	expect_eq(nr, SORTS - 4 + 4);
	assert_false(seen & (1ULL << SORT_LLC | 1ULL << SORT_NODE | 1ULL << SORT_LAYER));
	assert_true(seen & 1ULL << SORT_THREADS);
	/* A column that had no room has it when rows are sorted by it, and a mark. */
	press(h, "<");
	expect_eq(h->app.screen.sort, SORT_CPU);
	while (h->app.screen.sort != SORT_COMMAND)
		press(h, "<");
	assert_true(place_of(h, "COMMAND", &y) >= 0);
	assert_true(h->app.screen.is_ascending);
	assert_non_null(strstr(drawn(h), "COMMAND\xe2\x96\xb2")); /* a triangle that points up */
	press(h, "r");
	assert_non_null(strstr(drawn(h), "COMMAND\xe2\x96\xbc"));
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		assert_true(place_of(h, titles[i], &y) >= 0);
	/* Threads have no count of threads. */
	press(h, "y");
	for (int i = 0; i < SORTS; i++) {
		press(h, ">");
		assert_false(h->app.screen.sort == SORT_THREADS);
	}
}

static void a_click_on_a_title_sorts_and_again_reverses(void **state)
{
	struct harness *h = *state;
	struct app_input in = { .key = KEY_OF_CLICK };

	press(h, "p");
	in.x = place_of(h, "NAME", &in.y) + 1;
	app_press(&h->app, &h->machine, in);
	expect_eq(h->app.screen.sort, SORT_NAME);
	assert_true(h->app.screen.is_ascending);
	in.x = place_of(h, "P99", &in.y);
	app_press(&h->app, &h->machine, in);
	expect_eq(h->app.screen.sort, SORT_P99);
	assert_false(h->app.screen.is_ascending);
	drawn(h);
	app_press(&h->app, &h->machine, in);
	expect_eq(h->app.screen.sort, SORT_P99);
	assert_true(h->app.screen.is_ascending);
	expect_eq(h->app.screen.process, 0);
	/* Beside titles nothing happens. */
	in.x = 99;
	app_press(&h->app, &h->machine, in);
	expect_eq(h->app.screen.sort, SORT_P99);
}

static void where_nothing_is_sorted_that_is_said(void **state)
{
	struct harness *h = *state;

	press(h, "h");
	press(h, ">");
	expect_eq(h->app.screen.sort, SORT_RUN);
	assert_non_null(strstr(drawn(h), "nothing here to sort"));
}

static void the_wheel_scrolls_whatever_scrolls(void **state)
{
	struct harness *h = *state;
	struct app_input in = { .key = KEY_OF_WHEEL_DOWN, .x = 3, .y = 8 };
	struct machine_dsq dsqs[30] = { 0 };
	static const char *const keys[] = { "", "p", "y", "s" };

	for (uint64_t i = 0; i < 30; i++)
		dsqs[i].id = i;
	h->machine.scheduler = "simple";
	h->machine.dsqs = dsqs;
	h->machine.nr_dsqs = 30;
	for (size_t i = 0; i < 4; i++) {
		if (i)
			press(h, keys[i]);
		drawn(h);
		in.key = KEY_OF_WHEEL_DOWN;
		app_press(&h->app, &h->machine, in);
		drawn(h);
		expect_eq(h->app.screen.selected, 3);
		in.key = KEY_OF_WHEEL_UP;
		app_press(&h->app, &h->machine, in);
		drawn(h);
		expect_eq(h->app.screen.selected, 0);
	}
	press(h, "h");
	in.key = KEY_OF_WHEEL_DOWN;
	app_press(&h->app, &h->machine, in);
	expect_eq(h->app.help_scroll, 3);
	in.key = KEY_OF_WHEEL_UP;
	app_press(&h->app, &h->machine, in);
	app_press(&h->app, &h->machine, in);
	expect_eq(h->app.help_scroll, 0);
}

static void memory_goes_beside_the_cpus_then_alone_then_away(void **state)
{
	struct harness *h = *state;

	press(h, "M");
	assert_true(h->app.screen.has_memory);
	assert_string_equal(state_of(h), "Default");
	press(h, "M");
	assert_string_equal(state_of(h), "Memory");
	press(h, "M");
	assert_string_equal(state_of(h), "Default");
	assert_false(h->app.screen.has_memory);
}

static void what_is_missing_is_said(void **state)
{
	struct harness *h = *state;

	expect_eq(keymap_set(&h->config.keys, 'z', action_find("AppStateTracing")), 0);
	press(h, "z");
	assert_non_null(strstr(drawn(h), "not available: "));
	press(h, "f"); /* any key takes the line away */
	assert_null(strstr(drawn(h), "not available: "));
	press(h, "O");
	assert_non_null(strstr(drawn(h), "not available: "));
}

static void losses_and_freezing_stand_in_the_header(void **state)
{
	struct harness *h = *state;

	assert_null(strstr(drawn_at(h, 20, 5), "LOST"));
	assert_non_null(strstr(h->text, "50%"));
	h->machine.lost = 7;
	assert_non_null(strstr(drawn_at(h, 20, 5), "LOST 7"));
	press(h, "Space");
	assert_non_null(strstr(drawn_at(h, 40, 5), "FROZEN"));
	press(h, "O");
	assert_non_null(strstr(drawn(h), "events lost since the start: 7"));
}

static void an_armed_recorder_and_its_cost_stand_in_the_header(void **state)
{
	struct harness *h = *state;

	expect_eq(press(h, "R"), APP_ARM);
	assert_null(strstr(drawn(h), "REC"));
	h->app.recorder = (struct app_recorder){ .kept_s = 2.5, .cpu = NAN };
	assert_non_null(strstr(drawn(h), "REC 2.5s CPU 50%"));
	h->app.recorder.cpu = 0.013;
	assert_non_null(strstr(drawn(h), "REC 2.5s 1.3%"));
}

static void messages_cannot_reach_the_terminal(void **state)
{
	struct harness *h = *state;

	app_notify(&h->app, "evil \x1b[2J %s", "\x07");
	assert_non_null(strstr(drawn(h), "evil ?[2J ?"));
	for (size_t i = 0; i < 3 * APP_LOG_LINES; i++)
		app_notify(&h->app, "line %zu", i);
	press(h, "O");
	assert_non_null(strstr(drawn(h), "line 383"));
	assert_null(strstr(drawn(h), "line 0\n"));
}

static void only_what_is_seen_is_asked_for(void **state)
{
	struct harness *h = *state;

	press(h, "M");
	press(h, "M");
	assert_true(app_request(&h->app).needs & MACHINE_MEMORY);
	assert_true(app_request(&h->app).needs & MACHINE_CPUS);
	assert_false(app_request(&h->app).needs & MACHINE_BPF);
}

/* Keys in any order at any size, also without a machine. */
static void nothing_breaks_at_any_size(void **state)
{
	static const uint16_t sizes[][2] = { { 1, 1 },   { 3, 2 },    { 20, 5 },
		                             { 80, 24 }, { 240, 70 }, { 1000, 3 } };
	struct harness *h = *state;
	uint32_t random = 1;

	for (int i = 0; i < 6000; i++) {
		const uint16_t *size = sizes[i % 6];
		const struct machine *m = i % 50 ? &h->machine : NULL;
		struct app_input in;

		random = random * 1664525U + 1013904223U;
		in = (struct app_input){ .x = (int)(random >> 8 & 0xff),
			                 .y = (int)(random >> 16 & 0x7f) };
		in.key = i % 7 ? h->config.keys.entries[(random >> 10) % h->config.keys.nr].key
		               : KEY_OF_CLICK + (uint32_t)i % 3;
		app_press(&h->app, m, in);
		assert_int_equal(grid_reset(&h->grid, size[0], size[1]), 0);
		app_draw(&h->app, m, &h->grid);
	}
}

/* While a thread is still waiting, the line about it is the first that Enter opens. */
static void the_worst_wait_comes_before_the_rows(void **state)
{
	struct machine_verdict v = { "CPU 1: a [107] has waited 1s", 107, 1000000000, true };
	const struct machine_play play = { .end_ns = 2, .position_ns = 1, .interval_ns = 1 };
	struct harness *h = *state;

	assert_non_null(strstr(drawn(h), "no wait has ended lately"));
	h->machine.verdict = &v;
	assert_non_null(strstr(drawn(h), "CPU 1: a [107] has waited 1s; Enter explains\n"));
	expect_eq(h->app.selected_y, -1);
	press(h, "Enter");
	assert_string_equal(state_of(h), "Task");
	expect_eq(h->app.screen.selected_tid, 107);
	press(h, "Esc");
	assert_string_equal(state_of(h), "Default");
	assert_non_null(strstr(h->text, "Enter explains"));
	press(h, "Down"); /* to the first row */
	assert_null(strstr(h->text, "Enter explains"));
	expect_eq(h->app.screen.selected_tid, 100);
	press(h, "Down");
	expect_eq(h->app.screen.selected_tid, 101);
	press(h, "Up");
	press(h, "Enter");
	expect_eq(h->app.screen.process, 100);
	press(h, "Esc");
	press(h, "Up");
	press(h, "Up");
	assert_non_null(strstr(h->text, "Enter explains"));
	/* A wait that has ended is told, and rows come first; a click opens its thread. */
	v.is_open = false;
	assert_null(strstr(drawn(h), "Enter explains"));
	/* The key is there, however long the sentence is. */
	v.text =
		"CPU 1: a [107] has waited 1s behind something that has a very long name, as things have";
	v.is_open = true;
	assert_non_null(strstr(drawn_at(h, 80, 24), "\xe2\x80\xa6; Enter explains\n"));
	v.is_open = false;
	/* In a recording it stays while that stands. */
	h->machine.play = &play;
	assert_null(strstr(drawn(h), "Enter explains"));
	h->app.screen.is_frozen = true;
	assert_non_null(strstr(drawn(h), "Enter explains"));
	h->app.screen.is_frozen = false;
	h->machine.play = NULL;
	app_press(&h->app, &h->machine, (struct app_input){ .key = KEY_OF_CLICK, .x = 3, .y = 1 });
	assert_string_equal(state_of(h), "Task");
	/* No line where there is little room. */
	press(h, "Esc");
	assert_null(strstr(drawn_at(h, 80, 12), "has waited"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(processes_are_grouped_and_a_group_is_entered_and_left),
		CASE(the_same_view_again_goes_back),
		CASE(help_never_becomes_the_previous_view),
		CASE(quit_in_the_help_closes_the_help),
		CASE(ctrl_c_and_signals_end_it_everywhere),
		CASE(esc_goes_back_and_never_ends_it),
		CASE(a_filter_takes_every_letter),
		CASE(a_filter_has_an_end),
		CASE(a_process_opens_into_its_threads_and_one_of_them),
		CASE(arrows_and_vi_keys_stay_within_the_rows),
		CASE(the_mouse_selects_and_enters),
		CASE(the_worst_wait_comes_before_the_rows),
		CASE(ticks_change_as_in_scxtop),
		CASE(choices_go_round),
		CASE(sorting_goes_through_the_columns_that_are_there),
		CASE(a_click_on_a_title_sorts_and_again_reverses),
		CASE(where_nothing_is_sorted_that_is_said),
		CASE(the_wheel_scrolls_whatever_scrolls),
		CASE(memory_goes_beside_the_cpus_then_alone_then_away),
		CASE(what_is_missing_is_said),
		CASE(losses_and_freezing_stand_in_the_header),
		CASE(an_armed_recorder_and_its_cost_stand_in_the_header),
		CASE(messages_cannot_reach_the_terminal),
		CASE(only_what_is_seen_is_asked_for),
		CASE(nothing_breaks_at_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
