/* How the event that is shown of CPUs is chosen: by keys, settings, and from lists. */
#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "machine/machine_event.h"
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

struct harness {
	struct config config;
	struct app app;
	struct fixture f;
	struct machine_event_list list;
	struct grid grid;
};

static int set_up(void **state)
{
	struct harness *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	config_init(&h->config);
	app_init(&h->app, &h->config);
	fixture_init(&h->f, &fixture_small);
	h->list = (struct machine_event_list){ .names = names, .nr = 5, .source = "tracefs" };
	h->f.m.event_list = &h->list;
	expect_eq(grid_init(&h->grid, 100, 30), 0);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct harness *h = *state;

	config_done(&h->config);
	fixture_done(&h->f);
	grid_done(&h->grid);
	free(h);
	return 0;
}

static unsigned int press(struct harness *h, const char *key)
{
	unsigned int effects = app_press(&h->app, &h->f.m,
	                                 (struct app_input){ .key = key_from_text(key) });

	expect_eq(grid_reset(&h->grid, 100, 30), 0);
	app_draw(&h->app, &h->f.m, &h->grid);
	return effects;
}

static void type(struct harness *h, const char *text)
{
	for (; *text; text++)
		expect_eq(press(h, (const char[]){ *text, '\0' }), 0);
}

static void expect_event(const struct harness *h, const char *word)
{
	assert_string_equal(h->app.screen.event, word);
}

static void expect_view(const struct harness *h, const char *state)
{
	assert_string_equal(h->app.view->state, state);
}

static void expect_request(const struct harness *h, const char *word)
{
	struct machine_request r = app_request(&h->app);

	expect_eq(!!(r.needs & MACHINE_EVENT), word != NULL);
	if (word)
		assert_string_equal(r.event, word);
	else
		assert_null(r.event);
}

/* The peer began to count from the first of the list, wherever it was. */
static void keys_go_through_all_events_from_the_one_that_is_shown(void **state)
{
	struct harness *h = *state;

	expect_event(h, usual[AT_BUSY]);
	for (size_t i = 1; i <= NR_USUAL; i++) {
		press(h, "k");
		expect_event(h, usual[(AT_BUSY + i) % NR_USUAL]);
	}
	for (size_t i = 1; i <= NR_USUAL; i++) {
		press(h, "j");
		expect_event(h, usual[(AT_BUSY + NR_USUAL - i) % NR_USUAL]);
	}
	for (size_t i = 0; i < 2; i++) { /* the same in the other views of CPUs */
		press(h, i ? "n" : "l");
		press(h, "k");
		expect_event(h, usual[AT_BUSY + 1 + i]);
	}
}

static void what_is_shown_is_counted_and_nothing_else(void **state)
{
	struct harness *h = *state;

	expect_request(h, NULL); /* how busy CPUs are is known anyway */
	press(h, "j");
	expect_request(h, "perf:sw:migrations");
	press(h, "p");
	expect_request(h, NULL); /* no CPUs there */
	press(h, "j");           /* and rows to move in */
	expect_event(h, "perf:sw:migrations");
	press(h, "l");
	expect_request(h, "perf:sw:migrations");
}

/* The peer went to the first of its list instead, and ended where that could not be counted. */
static void x_goes_back_to_the_start(void **state)
{
	struct harness *h = *state;

	press(h, "j");
	press(h, "j");
	press(h, "x");
	expect_event(h, EVENT_WORD_BUSY);
	expect_request(h, NULL);
	snprintf(h->config.default_event, sizeof(h->config.default_event),
	         "perf:sched:sched_switch");
	app_init(&h->app, &h->config);
	press(h, "k");
	expect_event(h, usual[0]);
	press(h, "x");
	expect_event(h, "perf:sched:sched_switch");
}

static void events_of_the_settings_come_after_the_usual_ones(void **state)
{
	struct harness *h = *state;
	struct diag d = { 0 };

	expect_eq(config_add_event(&h->config, "l2-misses:0x964:4", &d), 0);
	expect_eq(config_add_event(&h->config, "other:0x1:8", &d), 0);
	app_init(&h->app, &h->config);
	for (size_t i = AT_BUSY; i < NR_USUAL; i++)
		press(h, "k");
	expect_event(h, "raw:l2-misses:0x964:4");
	press(h, "k");
	expect_event(h, "raw:other:0x1:8");
	press(h, "k");
	expect_event(h, usual[0]);
	assert_int_equal(config_add_event(&h->config, "l2-misses:964:4", &d), -EINVAL);
}

static void a_start_that_is_no_event_is_the_usual_one(void **state)
{
	struct harness *h = *state;

	snprintf(h->config.default_event, sizeof(h->config.default_event), "nonsense");
	app_init(&h->app, &h->config);
	expect_event(h, EVENT_WORD_BUSY);
}

static void typing_searches_and_enter_chooses(void **state)
{
	struct harness *h = *state;

	press(h, "l");
	press(h, "e");
	expect_view(h, "PerfEvent");
	expect_eq(app_request(&h->app).needs & MACHINE_TRACEPOINTS, MACHINE_TRACEPOINTS);
	type(h, "qjkx/ -+?"); /* letters that are keys elsewhere */
	assert_string_equal(h->app.screen.search, "qjkx/ -+?");
	for (int i = 0; i < 12; i++)
		press(h, "Backspace");
	expect_view(h, "PerfEvent");
	type(h, "wakin");
	press(h, "Enter");
	expect_view(h, "Llc");
	expect_event(h, "perf:sched:sched_waking");
	expect_request(h, "perf:sched:sched_waking");
	press(h, "k"); /* behind the usual ones, once */
	expect_event(h, usual[0]);
	press(h, "j");
	expect_event(h, "perf:sched:sched_waking");
	press(h, "e");
	assert_string_equal(h->app.screen.search, "");
	press(h, "Down");
	press(h, "Enter");
	expect_event(h, "perf:sched:sched_switch");
	press(h, "j");
	expect_event(h, "perf:sched:sched_waking");
}

static void functions_are_chosen_from_their_own_list(void **state)
{
	struct harness *h = *state;

	h->list.names = (const char *const[]){ "tcp_sendmsg", "do_sys_open" };
	h->list.nr = 2;
	press(h, "K");
	expect_view(h, "KprobeEvent");
	expect_eq(app_request(&h->app).needs & MACHINE_FUNCTIONS, MACHINE_FUNCTIONS);
	type(h, "open");
	press(h, "Enter");
	expect_view(h, "Default");
	expect_event(h, "kprobe:do_sys_open");
}

static void esc_leaves_the_list_and_nothing_else_changes(void **state)
{
	struct harness *h = *state;

	press(h, "/");
	type(h, "post");
	press(h, "Enter");
	press(h, "e");
	type(h, "swit");
	press(h, "Esc");
	expect_view(h, "Default");
	expect_event(h, EVENT_WORD_BUSY);
	assert_string_equal(h->app.screen.filter, "post"); /* of the processes */
	assert_string_equal(h->app.screen.search, "");
}

static void a_list_is_never_the_view_that_one_goes_back_to(void **state)
{
	struct harness *h = *state;

	press(h, "p");
	press(h, "e");
	press(h, "Esc");
	expect_view(h, "Process");
	press(h, "p");
	assert_true(strcmp(h->app.view->state, "PerfEvent") != 0);
	press(h, "d");
	press(h, "K");
	type(h, "a");
	press(h, "Esc");
	press(h, "Esc");
	press(h, "Esc");
	assert_true(!h->app.view->is_search && !h->app.previous->is_search);
}

static void what_cannot_be_chosen_is_reported(void **state)
{
	struct harness *h = *state;

	press(h, "e");
	type(h, "zzzzz");
	press(h, "Enter");
	expect_view(h, "PerfEvent");
	assert_non_null(
		strstr(h->app.log[(h->app.nr_log - 1) % APP_LOG_LINES], "nothing to choose"));
	for (int i = 0; i < 5; i++)
		press(h, "Backspace");
	type(h, "bad");
	press(h, "Enter");
	expect_view(h, "PerfEvent");
	expect_event(h, EVENT_WORD_BUSY);
	assert_non_null(
		strstr(h->app.log[(h->app.nr_log - 1) % APP_LOG_LINES], "cannot be counted"));
	h->list = (struct machine_event_list){ .is_loading = true };
	press(h, "Enter");
	expect_view(h, "PerfEvent");
	assert_non_null(
		strstr(h->app.log[(h->app.nr_log - 1) % APP_LOG_LINES], "still being read"));
	h->f.m.event_list = NULL;
	press(h, "Enter");
	press(h, "End");
	expect_view(h, "PerfEvent");
}

static void a_click_on_the_selected_row_chooses_it(void **state)
{
	struct harness *h = *state;

	press(h, "e");
	press(h, "Down");
	assert_true(h->app.selected_y > 0);
	app_press(&h->app, &h->f.m,
	          (struct app_input){ .key = KEY_OF_CLICK, .x = 3, .y = h->app.selected_y });
	expect_event(h, "perf:sched:sched_switch");
	expect_view(h, "Default");
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
			keys_go_through_all_events_from_the_one_that_is_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_shown_is_counted_and_nothing_else, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(x_goes_back_to_the_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(events_of_the_settings_come_after_the_usual_ones,
		                                set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_start_that_is_no_event_is_the_usual_one, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(typing_searches_and_enter_chooses, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(functions_are_chosen_from_their_own_list, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(esc_leaves_the_list_and_nothing_else_changes,
		                                set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_list_is_never_the_view_that_one_goes_back_to,
		                                set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_chosen_is_reported, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_click_on_the_selected_row_chooses_it, set_up,
		                                tear_down),
		cmocka_unit_test(many_choices_keep_the_newest_and_the_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
