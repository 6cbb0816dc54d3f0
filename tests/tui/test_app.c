#include "../unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/machine_source.h"
#include "tui/app.h"

#define NR_TASKS 40U

struct desk {
	struct config config;
	struct app app;
	struct machine machine;
	struct machine_cpu cpus[2];
	struct machine_task processes[NR_TASKS], threads[NR_TASKS];
	struct grid grid;
	char *text;
};

static int sit_down(void **state)
{
	struct desk *k = calloc(1, sizeof(*k));

	config_init(&k->config);
	app_init(&k->app, &k->config);
	for (uint32_t i = 0; i < NR_TASKS; i++) {
		k->processes[i] = (struct machine_task){ .tid = 100 + i,
			                                 .tgid = 100 + i,
			                                 .nr_threads = 1,
			                                 .comm = "worker",
			                                 .state = 'S',
			                                 .layer = -1,
			                                 .run = 0.9 - 0.01 * i,
			                                 .wait = NAN };
		k->threads[i] = k->processes[i];
	}
	k->cpus[0] = (struct machine_cpu){ .is_online = true, .busy = 0.25, .mhz = NAN, .tid = -1 };
	k->cpus[1] = (struct machine_cpu){
		.cpu = 1, .is_online = true, .busy = 0.75, .mhz = NAN, .tid = -1
	};
	k->machine = (struct machine){ .host = "box",
		                       .release = "6.1",
		                       .source = "synthetic",
		                       .interval_s = 1,
		                       .own_cpu = NAN,
		                       .cpus = k->cpus,
		                       .nr_cpus = 2,
		                       .processes = k->processes,
		                       .nr_processes = NR_TASKS,
		                       .threads = k->threads,
		                       .nr_threads = NR_TASKS };
	assert_int_equal(grid_init(&k->grid, 100, 30), 0);
	*state = k;
	return 0;
}

static int stand_up(void **state)
{
	struct desk *k = *state;

	config_done(&k->config);
	grid_done(&k->grid);
	free(k->text);
	free(k);
	return 0;
}

static const char *drawn_at(struct desk *k, uint16_t width, uint16_t height)
{
	size_t len;
	FILE *out;

	free(k->text);
	k->text = NULL;
	out = open_memstream(&k->text, &len);
	assert_int_equal(grid_reset(&k->grid, width, height), 0);
	app_draw(&k->app, &k->machine, &k->grid);
	grid_print(&k->grid, out);
	fclose(out);
	return k->text;
}

static const char *drawn(struct desk *k)
{
	return drawn_at(k, 100, 30);
}

/* Presses keys by their texts, drawing after each as the loop does. */
static unsigned int press(struct desk *k, const char *key)
{
	unsigned int effects = app_press(&k->app, &k->machine,
	                                 (struct app_input){ .key = key_from_text(key) });

	drawn(k);
	return effects;
}

static const char *state_of(const struct desk *k)
{
	return k->app.view->state;
}

static void the_same_view_again_goes_back(void **state)
{
	struct desk *k = *state;

	assert_string_equal(state_of(k), "Default");
	press(k, "l");
	press(k, "s");
	assert_string_equal(state_of(k), "Scheduler");
	press(k, "s");
	assert_string_equal(state_of(k), "Llc");
	press(k, "l");
	assert_string_equal(state_of(k), "Scheduler");
}

static void help_never_becomes_the_previous_view(void **state)
{
	struct desk *k = *state;

	press(k, "l");
	press(k, "h");
	assert_true(k->app.is_help);
	assert_non_null(strstr(drawn(k), "Views\n"));
	press(k, "s");
	assert_false(k->app.is_help);
	press(k, "s");
	assert_string_equal(state_of(k), "Llc");
	press(k, "?");
	press(k, "l"); /* the view beneath: not away from it */
	assert_string_equal(state_of(k), "Llc");
	assert_false(k->app.is_help);
}

static void quit_in_the_help_closes_the_help(void **state)
{
	struct desk *k = *state;

	press(k, "h");
	expect_eq(press(k, "q"), 0);
	assert_false(k->app.is_help);
	expect_eq(press(k, "q"), APP_QUIT);
}

static void ctrl_c_and_signals_end_it_everywhere(void **state)
{
	struct desk *k = *state;

	press(k, "h");
	expect_eq(press(k, "Ctrl-C"), APP_QUIT);
	press(k, "q");
	press(k, "/");
	expect_eq(press(k, "Ctrl-C"), APP_QUIT);
	expect_eq(app_press(&k->app, NULL, (struct app_input){ .key = KEY_OF_SIGNAL }), APP_QUIT);
}

static void esc_goes_back_and_never_ends_it(void **state)
{
	struct desk *k = *state;

	press(k, "l");
	press(k, "s");
	for (int i = 0; i < 5; i++)
		expect_eq(press(k, "Esc"), 0);
	assert_string_equal(state_of(k), "Llc");
}

static void a_filter_takes_every_letter(void **state)
{
	struct desk *k = *state;
	uint32_t tick = k->app.screen.tick_ms;

	press(k, "/");
	for (const char *p = "q-+S \xc3\xa9x"; *p;) {
		char letter[3] = { *p, (unsigned char)*p >= 0xc0 ? p[1] : '\0', '\0' };

		expect_eq(press(k, letter[0] == ' ' ? "Space" : letter), 0);
		p += strlen(letter);
	}
	assert_string_equal(k->app.screen.filter, "q-+S \xc3\xa9x");
	expect_eq(k->app.screen.tick_ms, tick);
	press(k, "Backspace");
	press(k, "Backspace");
	assert_string_equal(k->app.screen.filter, "q-+S ");
	assert_non_null(strstr(drawn(k), "filter q-+S "));
	press(k, "Enter");
	assert_false(k->app.screen.is_typing);
	assert_string_equal(k->app.screen.filter, "q-+S ");
	press(k, "Esc");
	assert_string_equal(k->app.screen.filter, "");
}

static void a_filter_has_an_end(void **state)
{
	struct desk *k = *state;

	press(k, "/");
	for (int i = 0; i < 200; i++)
		press(k, "\xe2\x82\xac");
	assert_true(strlen(k->app.screen.filter) < sizeof(k->app.screen.filter));
	expect_eq(strlen(k->app.screen.filter) % 3, 0);
}

static void a_process_opens_into_its_threads_and_one_of_them(void **state)
{
	struct desk *k = *state;

	press(k, "p");
	press(k, "Down");
	press(k, "Down");
	expect_eq(k->app.screen.selected, 2);
	expect_eq(k->app.screen.selected_tid, 102);
	press(k, "Enter");
	expect_eq(k->app.screen.process, 102);
	press(k, "Enter");
	assert_string_equal(state_of(k), "Task");
	expect_eq(press(k, "q"), 0);
	assert_string_equal(state_of(k), "Process");
	expect_eq(k->app.screen.process, 102);
	expect_eq(press(k, "q"), 0);
	expect_eq(k->app.screen.process, 0);
	expect_eq(k->app.screen.selected_tid, 102);
	expect_eq(press(k, "q"), APP_QUIT);
}

static void arrows_and_vi_keys_stay_within_the_rows(void **state)
{
	struct desk *k = *state;

	press(k, "p");
	press(k, "k");
	expect_eq(k->app.screen.selected, 0);
	press(k, "j");
	press(k, "j");
	press(k, "k");
	expect_eq(k->app.screen.selected, 1);
	press(k, "G");
	expect_eq(k->app.screen.selected, NR_TASKS - 1);
	press(k, "Down");
	press(k, "PageDown");
	expect_eq(k->app.screen.selected, NR_TASKS - 1);
	press(k, "PageUp");
	assert_true(k->app.screen.selected < (int)NR_TASKS - 10);
	press(k, "g");
	expect_eq(k->app.screen.selected, 0);
}

static void the_mouse_selects_and_enters(void **state)
{
	struct desk *k = *state;
	struct app_input in = { .key = KEY_OF_CLICK, .x = 5 };

	press(k, "p");
	assert_true(k->app.selected_y > 0);
	in.y = k->app.selected_y + 3;
	app_press(&k->app, &k->machine, in);
	drawn(k);
	expect_eq(k->app.screen.selected, 3);
	in.key = KEY_OF_WHEEL_DOWN;
	app_press(&k->app, &k->machine, in);
	drawn(k);
	expect_eq(k->app.screen.selected, 6);
	in.key = KEY_OF_CLICK;
	in.y = k->app.selected_y;
	app_press(&k->app, &k->machine, in);
	expect_eq(k->app.screen.process, 106);
	in.y = 1000;
	app_press(&k->app, &k->machine, in);
}

static void ticks_change_as_in_scxtop(void **state)
{
	static const uint32_t down[] = { 150, 75, 37, 18, 10, 10 }, up[] = { 20, 40, 80, 160, 260 };
	struct desk *k = *state;

	expect_eq(k->app.screen.tick_ms, 250);
	for (size_t i = 0; i < 6; i++) {
		press(k, "-");
		expect_eq(k->app.screen.tick_ms, down[i]);
	}
	for (size_t i = 0; i < 5; i++) {
		press(k, "+");
		expect_eq(k->app.screen.tick_ms, up[i]);
	}
	expect_eq(k->config.tick_ms, 260);
	for (int i = 0; i < 1000; i++)
		press(k, "+");
	expect_eq(k->app.screen.tick_ms, CONFIG_TICK_MAX_MS);
}

static void choices_go_round(void **state)
{
	struct desk *k = *state;

	for (int i = 1; i <= SHAPES; i++) {
		press(k, "v");
		expect_eq(k->app.screen.shape, i % SHAPES);
	}
	for (int i = 1; i <= GROUPS; i++) {
		press(k, "c");
		expect_eq(k->app.screen.group, i % GROUPS);
	}
	for (size_t i = 1; i <= nr_themes; i++) {
		press(k, "t");
		assert_ptr_equal(k->config.theme, &themes[i % nr_themes]);
	}
}

/* Where a title stands in the line of titles; -1 = it does not. */
static int place_of(struct desk *k, const char *title, int *y)
{
	const char *text = drawn(k), *line = strstr(text, "NAME"), *at;
	int x = 0;

	*y = 0;
	assert_non_null(line);
	for (; text < line; text++)
		*y += *text == '\n';
	while (line > k->text && line[-1] != '\n')
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
	struct desk *k = *state;
	uint64_t seen = 0;
	int y, nr = 0;

	press(k, "p");
	expect_eq(k->app.screen.sort, SORT_RUN);
	do {
		press(k, ">");
		assert_false(seen & 1ULL << k->app.screen.sort);
		seen |= 1ULL << k->app.screen.sort;
		nr++;
	} while (k->app.screen.sort != SORT_RUN);
	/* All but the tid of threads, LLC, NODE, LAYER and DSQ, which this machine does not have. */
	expect_eq(nr, SORTS - 4);
	assert_false(seen & (1ULL << SORT_LLC | 1ULL << SORT_NODE | 1ULL << SORT_LAYER));
	assert_true(seen & 1ULL << SORT_THREADS);
	/* A column that had no room has it when rows are sorted by it, and a mark. */
	press(k, "<");
	expect_eq(k->app.screen.sort, SORT_CPU);
	while (k->app.screen.sort != SORT_COMMAND)
		press(k, "<");
	assert_true(place_of(k, "COMMAND", &y) >= 0);
	assert_true(k->app.screen.is_ascending);
	assert_non_null(strstr(drawn(k), "COMMAND\xe2\x96\xb2")); /* a triangle that points up */
	press(k, "r");
	assert_non_null(strstr(drawn(k), "COMMAND\xe2\x96\xbc"));
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		assert_true(place_of(k, titles[i], &y) >= 0);
	/* Threads have no count of threads. */
	press(k, "y");
	for (int i = 0; i < SORTS; i++) {
		press(k, ">");
		assert_false(k->app.screen.sort == SORT_THREADS);
	}
}

static void a_click_on_a_title_sorts_and_again_reverses(void **state)
{
	struct desk *k = *state;
	struct app_input in = { .key = KEY_OF_CLICK };

	press(k, "p");
	in.x = place_of(k, "NAME", &in.y) + 1;
	app_press(&k->app, &k->machine, in);
	expect_eq(k->app.screen.sort, SORT_NAME);
	assert_true(k->app.screen.is_ascending);
	in.x = place_of(k, "P99", &in.y);
	app_press(&k->app, &k->machine, in);
	expect_eq(k->app.screen.sort, SORT_P99);
	assert_false(k->app.screen.is_ascending);
	drawn(k);
	app_press(&k->app, &k->machine, in);
	expect_eq(k->app.screen.sort, SORT_P99);
	assert_true(k->app.screen.is_ascending);
	expect_eq(k->app.screen.process, 0);
	/* Beside titles nothing happens. */
	in.x = 99;
	app_press(&k->app, &k->machine, in);
	expect_eq(k->app.screen.sort, SORT_P99);
}

static void where_nothing_is_sorted_that_is_said(void **state)
{
	struct desk *k = *state;

	press(k, "h");
	press(k, ">");
	expect_eq(k->app.screen.sort, SORT_RUN);
	assert_non_null(strstr(drawn(k), "nothing here to sort"));
}

static void the_wheel_scrolls_whatever_scrolls(void **state)
{
	struct desk *k = *state;
	struct app_input in = { .key = KEY_OF_WHEEL_DOWN, .x = 3, .y = 8 };
	struct machine_dsq dsqs[30] = { 0 };
	static const char *const keys[] = { "", "p", "y", "s" };

	for (uint64_t i = 0; i < 30; i++)
		dsqs[i].id = i;
	k->machine.scheduler = "simple";
	k->machine.dsqs = dsqs;
	k->machine.nr_dsqs = 30;
	for (size_t i = 0; i < 4; i++) {
		if (i)
			press(k, keys[i]);
		drawn(k);
		in.key = KEY_OF_WHEEL_DOWN;
		app_press(&k->app, &k->machine, in);
		drawn(k);
		expect_eq(k->app.screen.selected, 3);
		in.key = KEY_OF_WHEEL_UP;
		app_press(&k->app, &k->machine, in);
		drawn(k);
		expect_eq(k->app.screen.selected, 0);
	}
	press(k, "h");
	in.key = KEY_OF_WHEEL_DOWN;
	app_press(&k->app, &k->machine, in);
	expect_eq(k->app.help_scroll, 3);
	in.key = KEY_OF_WHEEL_UP;
	app_press(&k->app, &k->machine, in);
	app_press(&k->app, &k->machine, in);
	expect_eq(k->app.help_scroll, 0);
}

static void memory_goes_beside_the_cpus_then_alone_then_away(void **state)
{
	struct desk *k = *state;

	press(k, "M");
	assert_true(k->app.screen.has_memory);
	assert_string_equal(state_of(k), "Default");
	press(k, "M");
	assert_string_equal(state_of(k), "Memory");
	press(k, "M");
	assert_string_equal(state_of(k), "Default");
	assert_false(k->app.screen.has_memory);
}

static void what_is_missing_is_said(void **state)
{
	struct desk *k = *state;

	expect_eq(keymap_set(&k->config.keys, 'z', action_find("AppStateTracing")), 0);
	press(k, "z");
	assert_non_null(strstr(drawn(k), "not available: "));
	press(k, "f"); /* any key takes the line away */
	assert_null(strstr(drawn(k), "not available: "));
	press(k, "O");
	assert_non_null(strstr(drawn(k), "not available: "));
}

static void losses_and_freezing_stand_in_the_header(void **state)
{
	struct desk *k = *state;

	assert_null(strstr(drawn_at(k, 20, 5), "LOST"));
	assert_non_null(strstr(k->text, "50%"));
	k->machine.lost = 7;
	assert_non_null(strstr(drawn_at(k, 20, 5), "LOST 7"));
	press(k, "Space");
	assert_non_null(strstr(drawn_at(k, 40, 5), "FROZEN"));
	press(k, "O");
	assert_non_null(strstr(drawn(k), "events lost since the start: 7"));
}

static void messages_cannot_reach_the_terminal(void **state)
{
	struct desk *k = *state;

	app_tell(&k->app, "evil \x1b[2J %s", "\x07");
	assert_non_null(strstr(drawn(k), "evil ?[2J ?"));
	for (size_t i = 0; i < 3 * APP_LOG_LINES; i++)
		app_tell(&k->app, "line %zu", i);
	press(k, "O");
	assert_non_null(strstr(drawn(k), "line 383"));
	assert_null(strstr(drawn(k), "line 0\n"));
}

static void only_what_is_seen_is_asked_for(void **state)
{
	struct desk *k = *state;

	press(k, "M");
	press(k, "M");
	assert_true(app_wish(&k->app).needs & MACHINE_MEMORY);
	assert_true(app_wish(&k->app).needs & MACHINE_CPUS);
	assert_false(app_wish(&k->app).needs & MACHINE_BPF);
}

/* Keys in any order at any size, also without a machine. */
static void nothing_breaks_at_any_size(void **state)
{
	static const uint16_t sizes[][2] = { { 1, 1 },   { 3, 2 },    { 20, 5 },
		                             { 80, 24 }, { 240, 70 }, { 1000, 3 } };
	struct desk *k = *state;
	uint32_t random = 1;

	for (int i = 0; i < 6000; i++) {
		const uint16_t *size = sizes[i % 6];
		const struct machine *m = i % 50 ? &k->machine : NULL;
		struct app_input in;

		random = random * 1664525U + 1013904223U;
		in = (struct app_input){ .x = (int)(random >> 8 & 0xff),
			                 .y = (int)(random >> 16 & 0x7f) };
		in.key = i % 7 ? k->config.keys.entries[(random >> 10) % k->config.keys.nr].key
		               : KEY_OF_CLICK + (uint32_t)i % 3;
		app_press(&k->app, m, in);
		assert_int_equal(grid_reset(&k->grid, size[0], size[1]), 0);
		app_draw(&k->app, m, &k->grid);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, sit_down, stand_up)
	const struct CMUnitTest tests[] = {
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
		CASE(ticks_change_as_in_scxtop),
		CASE(choices_go_round),
		CASE(sorting_goes_through_the_columns_that_are_there),
		CASE(a_click_on_a_title_sorts_and_again_reverses),
		CASE(where_nothing_is_sorted_that_is_said),
		CASE(the_wheel_scrolls_whatever_scrolls),
		CASE(memory_goes_beside_the_cpus_then_alone_then_away),
		CASE(what_is_missing_is_said),
		CASE(losses_and_freezing_stand_in_the_header),
		CASE(messages_cannot_reach_the_terminal),
		CASE(only_what_is_seen_is_asked_for),
		CASE(nothing_breaks_at_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
