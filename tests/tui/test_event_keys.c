/* How the event that is shown of CPUs is chosen: by keys, settings, and from lists. */
#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/machine_event.h"
#include "fixture.h"
#include "tui/app.h"

/* In scxtop's order. */
static const char *const usual[] = {
	"perf:hw:cycles",
	"perf:hw:branches",
	"perf:hw:branch-misses",
	"perf:hw:cache-misses",
	"perf:hw:cache-references",
	"perf:hw:instructions",
	"perf:hw:ref-cycles",
	"perf:hw:stalled-cycles-backend",
	"perf:hw:stalled-cycles-frontend",
	"perf:hw:bus-cycles",
	"perf:hw:L1-dcache-load-misses",
	"perf:sw:cpu-clock",
	"perf:sw:task-clock",
	"perf:sw:context-switches",
	"perf:sw:page-faults",
	"perf:sw:minor-faults",
	"perf:sw:major-faults",
	"perf:sw:migrations",
	"cpu:cpu_total_util_percent",
	"cpu:cpu_user_util_percent",
	"cpu:cpu_system_util_percent",
	"cpu:cpu_frequency_mhz",
};
#define NR_USUAL (sizeof(usual) / sizeof(usual[0]))
#define AT_BUSY  18U

static const char *const names[] = { "sw:cpu-clock", "sched:sched_switch", "sched:sched_waking",
	                             "bad name", "net:net_dev_xmit" };

struct desk {
	struct config config;
	struct app app;
	struct fixture f;
	struct machine_event_list list;
	struct grid grid;
};

static int sit_down(void **state)
{
	struct desk *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	config_init(&k->config);
	app_init(&k->app, &k->config);
	fixture_init(&k->f, &fixture_small);
	k->list = (struct machine_event_list){ .names = names, .nr = 5, .source = "tracefs" };
	k->f.m.event_list = &k->list;
	expect_eq(grid_init(&k->grid, 100, 30), 0);
	*state = k;
	return 0;
}

static int stand_up(void **state)
{
	struct desk *k = *state;

	config_done(&k->config);
	fixture_done(&k->f);
	grid_done(&k->grid);
	free(k);
	return 0;
}

static unsigned int press(struct desk *k, const char *key)
{
	unsigned int effects = app_press(&k->app, &k->f.m,
	                                 (struct app_input){ .key = key_from_text(key) });

	expect_eq(grid_reset(&k->grid, 100, 30), 0);
	app_draw(&k->app, &k->f.m, &k->grid);
	return effects;
}

static void type(struct desk *k, const char *text)
{
	for (; *text; text++)
		expect_eq(press(k, (const char[]){ *text, '\0' }), 0);
}

static void expect_event(const struct desk *k, const char *word)
{
	assert_string_equal(k->app.screen.event, word);
}

static void expect_view(const struct desk *k, const char *state)
{
	assert_string_equal(k->app.view->state, state);
}

static void expect_wish(const struct desk *k, const char *word)
{
	struct machine_wish w = app_wish(&k->app);

	expect_eq(!!(w.needs & MACHINE_EVENT), word != NULL);
	if (word)
		assert_string_equal(w.event, word);
	else
		assert_null(w.event);
}

/* The peer began to count from the first of the list, wherever it was. */
static void keys_go_through_all_events_from_the_one_that_is_shown(void **state)
{
	struct desk *k = *state;

	expect_event(k, usual[AT_BUSY]);
	for (size_t i = 1; i <= NR_USUAL; i++) {
		press(k, "k");
		expect_event(k, usual[(AT_BUSY + i) % NR_USUAL]);
	}
	for (size_t i = 1; i <= NR_USUAL; i++) {
		press(k, "j");
		expect_event(k, usual[(AT_BUSY + NR_USUAL - i) % NR_USUAL]);
	}
	for (size_t i = 0; i < 2; i++) { /* the same in the other views of CPUs */
		press(k, i ? "n" : "l");
		press(k, "k");
		expect_event(k, usual[AT_BUSY + 1 + i]);
	}
}

static void what_is_shown_is_counted_and_nothing_else(void **state)
{
	struct desk *k = *state;

	expect_wish(k, NULL); /* how busy CPUs are is known anyway */
	press(k, "j");
	expect_wish(k, "perf:sw:migrations");
	press(k, "p");
	expect_wish(k, NULL); /* no CPUs there */
	press(k, "j");        /* and rows to move in */
	expect_event(k, "perf:sw:migrations");
	press(k, "l");
	expect_wish(k, "perf:sw:migrations");
}

/* The peer went to the first of its list instead, and ended where that could not be counted. */
static void x_goes_back_to_the_start(void **state)
{
	struct desk *k = *state;

	press(k, "j");
	press(k, "j");
	press(k, "x");
	expect_event(k, EVENT_WORD_BUSY);
	expect_wish(k, NULL);
	snprintf(k->config.default_event, sizeof(k->config.default_event),
	         "perf:sched:sched_switch");
	app_init(&k->app, &k->config);
	press(k, "k");
	expect_event(k, usual[0]);
	press(k, "x");
	expect_event(k, "perf:sched:sched_switch");
}

static void events_of_the_settings_come_after_the_usual_ones(void **state)
{
	struct desk *k = *state;
	struct diag d = { 0 };

	expect_eq(config_add_event(&k->config, "l2-misses:0x964:4", &d), 0);
	expect_eq(config_add_event(&k->config, "other:0x1:8", &d), 0);
	app_init(&k->app, &k->config);
	for (size_t i = AT_BUSY; i < NR_USUAL; i++)
		press(k, "k");
	expect_event(k, "raw:l2-misses:0x964:4");
	press(k, "k");
	expect_event(k, "raw:other:0x1:8");
	press(k, "k");
	expect_event(k, usual[0]);
	assert_int_equal(config_add_event(&k->config, "l2-misses:964:4", &d), -EINVAL);
}

static void a_start_that_is_no_event_is_the_usual_one(void **state)
{
	struct desk *k = *state;

	snprintf(k->config.default_event, sizeof(k->config.default_event), "nonsense");
	app_init(&k->app, &k->config);
	expect_event(k, EVENT_WORD_BUSY);
}

static void typing_searches_and_enter_chooses(void **state)
{
	struct desk *k = *state;

	press(k, "l");
	press(k, "e");
	expect_view(k, "PerfEvent");
	expect_eq(app_wish(&k->app).needs & MACHINE_TRACEPOINTS, MACHINE_TRACEPOINTS);
	type(k, "qjkx/ -+?"); /* letters that are keys elsewhere */
	assert_string_equal(k->app.screen.search, "qjkx/ -+?");
	for (int i = 0; i < 12; i++)
		press(k, "Backspace");
	expect_view(k, "PerfEvent");
	type(k, "wakin");
	press(k, "Enter");
	expect_view(k, "Llc");
	expect_event(k, "perf:sched:sched_waking");
	expect_wish(k, "perf:sched:sched_waking");
	press(k, "k"); /* behind the usual ones, once */
	expect_event(k, usual[0]);
	press(k, "j");
	expect_event(k, "perf:sched:sched_waking");
	press(k, "e");
	assert_string_equal(k->app.screen.search, "");
	press(k, "Down");
	press(k, "Enter");
	expect_event(k, "perf:sched:sched_switch");
	press(k, "j");
	expect_event(k, "perf:sched:sched_waking");
}

static void functions_are_chosen_from_their_own_list(void **state)
{
	struct desk *k = *state;

	k->list.names = (const char *const[]){ "tcp_sendmsg", "do_sys_open" };
	k->list.nr = 2;
	press(k, "K");
	expect_view(k, "KprobeEvent");
	expect_eq(app_wish(&k->app).needs & MACHINE_FUNCTIONS, MACHINE_FUNCTIONS);
	type(k, "open");
	press(k, "Enter");
	expect_view(k, "Default");
	expect_event(k, "kprobe:do_sys_open");
}

static void esc_leaves_the_list_and_nothing_else_changes(void **state)
{
	struct desk *k = *state;

	press(k, "/");
	type(k, "post");
	press(k, "Enter");
	press(k, "e");
	type(k, "swit");
	press(k, "Esc");
	expect_view(k, "Default");
	expect_event(k, EVENT_WORD_BUSY);
	assert_string_equal(k->app.screen.filter, "post"); /* of the processes */
	assert_string_equal(k->app.screen.search, "");
}

static void a_list_is_never_the_view_that_one_goes_back_to(void **state)
{
	struct desk *k = *state;

	press(k, "p");
	press(k, "e");
	press(k, "Esc");
	expect_view(k, "Process");
	press(k, "p");
	assert_true(strcmp(k->app.view->state, "PerfEvent") != 0);
	press(k, "d");
	press(k, "K");
	type(k, "a");
	press(k, "Esc");
	press(k, "Esc");
	press(k, "Esc");
	assert_true(!k->app.view->is_search && !k->app.previous->is_search);
}

static void what_cannot_be_chosen_is_told(void **state)
{
	struct desk *k = *state;

	press(k, "e");
	type(k, "zzzzz");
	press(k, "Enter");
	expect_view(k, "PerfEvent");
	assert_non_null(
		strstr(k->app.log[(k->app.nr_log - 1) % APP_LOG_LINES], "nothing to choose"));
	for (int i = 0; i < 5; i++)
		press(k, "Backspace");
	type(k, "bad");
	press(k, "Enter");
	expect_view(k, "PerfEvent");
	expect_event(k, EVENT_WORD_BUSY);
	assert_non_null(
		strstr(k->app.log[(k->app.nr_log - 1) % APP_LOG_LINES], "cannot be counted"));
	k->list = (struct machine_event_list){ .is_loading = true };
	press(k, "Enter");
	expect_view(k, "PerfEvent");
	assert_non_null(
		strstr(k->app.log[(k->app.nr_log - 1) % APP_LOG_LINES], "still being read"));
	k->f.m.event_list = NULL;
	press(k, "Enter");
	press(k, "End");
	expect_view(k, "PerfEvent");
}

static void a_click_on_the_selected_row_chooses_it(void **state)
{
	struct desk *k = *state;

	press(k, "e");
	press(k, "Down");
	assert_true(k->app.selected_y > 0);
	app_press(&k->app, &k->f.m,
	          (struct app_input){ .key = KEY_OF_CLICK, .x = 3, .y = k->app.selected_y });
	expect_event(k, "perf:sched:sched_switch");
	expect_view(k, "Default");
}

static void many_choices_keep_the_newest_and_the_settings(void **state)
{
	static struct event_menu menu;
	static const char raw[1][EVENT_WORD_BYTES] = { "mine:0x1:4" };
	char word[EVENT_WORD_BYTES];

	(void)state;
	event_menu_init(&menu, EVENT_WORD_BUSY, raw, 1);
	for (int i = 0; i < 200; i++) {
		snprintf(word, sizeof(word), "kprobe:function_%d", i);
		event_menu_add(&menu, word);
		event_menu_add(&menu, word);
	}
	expect_eq(menu.nr, EVENT_MENU_MORE);
	assert_string_equal(menu.more[0], "raw:mine:0x1:4");
	assert_string_equal(menu.more[EVENT_MENU_MORE - 1], "kprobe:function_199");
	event_menu_step(&menu, "not in it", true, word);
	assert_string_equal(word, usual[0]);
	event_menu_step(NULL, usual[0], false, word);
	assert_string_equal(word, usual[NR_USUAL - 1]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			keys_go_through_all_events_from_the_one_that_is_shown, sit_down, stand_up),
		cmocka_unit_test_setup_teardown(what_is_shown_is_counted_and_nothing_else, sit_down,
		                                stand_up),
		cmocka_unit_test_setup_teardown(x_goes_back_to_the_start, sit_down, stand_up),
		cmocka_unit_test_setup_teardown(events_of_the_settings_come_after_the_usual_ones,
		                                sit_down, stand_up),
		cmocka_unit_test_setup_teardown(a_start_that_is_no_event_is_the_usual_one, sit_down,
		                                stand_up),
		cmocka_unit_test_setup_teardown(typing_searches_and_enter_chooses, sit_down,
		                                stand_up),
		cmocka_unit_test_setup_teardown(functions_are_chosen_from_their_own_list, sit_down,
		                                stand_up),
		cmocka_unit_test_setup_teardown(esc_leaves_the_list_and_nothing_else_changes,
		                                sit_down, stand_up),
		cmocka_unit_test_setup_teardown(a_list_is_never_the_view_that_one_goes_back_to,
		                                sit_down, stand_up),
		cmocka_unit_test_setup_teardown(what_cannot_be_chosen_is_told, sit_down, stand_up),
		cmocka_unit_test_setup_teardown(a_click_on_the_selected_row_chooses_it, sit_down,
		                                stand_up),
		cmocka_unit_test(many_choices_keep_the_newest_and_the_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
