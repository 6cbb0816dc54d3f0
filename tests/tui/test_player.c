#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app.h"

#define SECOND 1000000000ULL

/* A recording of four seconds that a screen plays: what looks are asked for is done here by hand. */
struct harness {
	struct config config;
	struct app app;
	struct machine machine;
	struct machine_play play;
	struct machine_cpu cpu;
	struct grid grid;
	struct machine_request asked; /* by the last look */
	char *text;
};

static int set_up(void **state)
{
	struct harness *h = calloc(1, sizeof(*h));

	config_init(&h->config);
	app_init(&h->app, &h->config);
	h->cpu = (struct machine_cpu){ .is_online = true, .busy = 0.5, .mhz = NAN, .tid = -1 };
	h->play = (struct machine_play){ .name = "a.pftrace",
		                         .start_ns = 100 * SECOND,
		                         .end_ns = 104 * SECOND,
		                         .position_ns = 101 * SECOND,
		                         .interval_ns = SECOND / 4,
		                         .unix_ns = 1700000000ULL * SECOND,
		                         .speed = 1,
		                         .absent = MACHINE_MEMORY | MACHINE_NET | MACHINE_BPF };
	h->machine = (struct machine){ .source = "trace",
		                       .interval_s = 0.25,
		                       .own_cpu = NAN,
		                       .load = { NAN, NAN, NAN },
		                       .cpus = &h->cpu,
		                       .nr_cpus = 1,
		                       .play = &h->play };
	assert_int_equal(grid_init(&h->grid, 120, 30), 0);
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
	return drawn_at(h, 120, 30);
}

static void press(struct harness *h, const char *key)
{
	expect_eq(app_press(&h->app, &h->machine, (struct app_input){ .key = key_from_text(key) }),
	          0);
	drawn(h);
}

/* As the loop does; is_turn: a tick has passed. */
static const struct machine_play_request *refresh(struct harness *h, bool is_turn)
{
	h->asked = app_request(&h->app);
	player_take(&h->app.player, h->app.screen.tick_ms, h->app.screen.is_frozen, is_turn,
	            &h->asked.play);
	app_refreshed(&h->app, &h->asked, &h->machine);
	return &h->asked.play;
}

static void it_plays_one_interval_per_tick(void **state)
{
	struct harness *h = *state;

	expect_eq(refresh(h, true)->steps, 1);
	expect_eq(h->asked.play.interval_ns, SECOND / 4);
	expect_eq(refresh(h, false)->steps, 0); /* another view is looked at meanwhile */
	press(h, "Space");
	expect_eq(refresh(h, true)->steps, 0);
	assert_true(h->asked.play.is_paused);
	press(h, "Space");
	expect_eq(refresh(h, true)->steps, 1);
}

static void keys_seek_once(void **state)
{
	static const struct {
		const char *key;
		int64_t steps;
	} keys[] = { { "Left", -1 }, { "Right", 1 }, { ",", -1 },        { ".", 1 },
		     { "(", -10 },   { ")", 10 },    { "^", INT64_MIN }, { "$", INT64_MAX } };
	struct harness *h = *state;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		enum view_sort sort = h->app.screen.sort;

		press(h, keys[i].key);
		assert_true(refresh(h, false)->steps == keys[i].steps);
		expect_eq(refresh(h, false)->steps, 0);
		expect_eq(h->app.screen.sort, sort);
	}
	press(h, "(");
	press(h, ".");
	assert_true(refresh(h, true)->steps == -9);
	press(h, "$");
	press(h, ")"); /* not beyond */
	assert_true(refresh(h, true)->steps == INT64_MAX);
}

static uint64_t period_ns(const struct harness *h)
{
	return player_period_ns(&h->app.player, h->app.screen.tick_ms);
}

static void speed_and_step_are_chosen_apart(void **state)
{
	struct harness *h = *state;

	press(h, "}");
	press(h, "}");
	expect_eq(refresh(h, true)->interval_ns, SECOND / 4);
	assert_true(h->asked.play.speed == 4 && h->asked.play.steps == 1);
	expect_eq(period_ns(h), SECOND / 16);
	for (int i = 0; i < 3; i++)
		press(h, "{");
	expect_eq(refresh(h, true)->interval_ns, SECOND / 4);
	assert_true(h->asked.play.speed == 0.5);
	expect_eq(period_ns(h), SECOND / 2);
	press(h, "-");
	expect_eq(refresh(h, true)->interval_ns, SECOND / 8);
	assert_true(h->asked.play.speed == 0.5);
	expect_eq(period_ns(h), SECOND / 4);
	expect_eq(h->app.screen.tick_ms, 250); /* that of a live screen */
	for (int i = 0; i < 100; i++)
		press(h, "-");
	expect_eq(refresh(h, true)->interval_ns, SECOND / 4 / 1024);
	for (int i = 0; i < 100; i++)
		press(h, "+");
	expect_eq(refresh(h, true)->interval_ns, SECOND / 4 * 1024);
}

/* Of 32 seconds in one of the clock, at a step of a quarter: 128 steps, 20 times a second at most. */
static void a_fast_one_takes_several_steps_at_once(void **state)
{
	struct harness *h = *state;

	for (int i = 0; i < 5; i++)
		press(h, "}");
	expect_eq(refresh(h, true)->steps, 6);
	expect_eq(period_ns(h), PLAYER_MIN_MS * (SECOND / 1000));
	expect_eq(h->asked.play.interval_ns, SECOND / 4);
}

static void keys_go_through_the_longest_waits(void **state)
{
	static const struct machine_play_wait waits[] = {
		{ 100 * SECOND + SECOND / 10, 5000000, 7, "first" },
		{ 102 * SECOND, 45000000, 8,
		  "second" }, /* belongs to the interval that begins then */
		{ 103 * SECOND + 1, 1900000000, 9, "third\x1b" },
	};
	struct harness *h = *state;

	press(h, ";");
	assert_non_null(strstr(h->text, "this recording has no waits"));
	h->play.waits = waits;
	h->play.nr_waits = 3;
	press(h, ";");
	assert_non_null(strstr(h->text, "wait 2 of the 3 longest: second [8] waited 45"));
	assert_true(h->app.screen.is_frozen);
	expect_eq(refresh(h, false)->steps, 5); /* from the fourth interval to the ninth */
	h->play.position_ns = 102 * SECOND + SECOND / 4;
	press(h, ";");
	assert_non_null(strstr(h->text, "wait 3 of the 3 longest: third? [9] waited 1.9"));
	expect_eq(refresh(h, false)->steps, 4);
	press(h, ":");
	assert_non_null(strstr(h->text, "wait 1 of the 3 longest: first [7] waited 5"));
	expect_eq(refresh(h, false)->steps, -8);
	press(h, ";");
	press(h, ";"); /* two of them before the recording moves */
	press(h, ";"); /* and around */
	assert_non_null(strstr(h->text, "wait 2 of the 3 longest"));
	/* Each has a mark in the bar. */
	expect_eq(refresh(h, false)->steps, 0);
	assert_non_null(strstr(strstr(h->text, "\u25c6") + 1, "\u25c6"));
}

static void at_the_end_it_pauses_and_then_begins_again(void **state)
{
	struct harness *h = *state;

	refresh(h, true);
	assert_false(h->app.screen.is_frozen);
	h->play.position_ns = h->play.end_ns;
	refresh(h, true);
	assert_true(h->app.screen.is_frozen);
	assert_non_null(strstr(drawn(h), "the end of the recording"));
	press(h, "Space");
	assert_false(h->app.screen.is_frozen);
	assert_true(refresh(h, false)->steps == INT64_MIN);
}

static void a_line_says_where_one_is(void **state)
{
	struct harness *h = *state;

	assert_non_null(strstr(drawn(h), "playing "));
	assert_non_null(
		strstr(h->text, "1.000 of 4.000 s  x1  250ms/step  2023-11-14 22:13:20.000 UTC"));
	assert_null(strstr(h->text, "nan"));
	press(h, "Space");
	assert_non_null(strstr(h->text, "paused "));
	assert_non_null(strstr(h->text, "PAUSED"));
	h->play.speed = 0.125;
	assert_non_null(strstr(drawn_at(h, 80, 24), "1.000 of 4.000 s  1/8"));
	assert_non_null(strstr(drawn_at(h, 20, 5), "paused "));
	for (uint16_t width = 1; width < 200; width += 7)
		for (uint16_t height = 1; height < 40; height += 3)
			drawn_at(h, width, height);
	h->play.end_ns = h->play.start_ns = h->play.position_ns;
	h->play.unix_ns = 0;
	assert_non_null(strstr(drawn(h), "0.000 of 0.000 s"));
}

static void what_a_recording_has_not_is_said(void **state)
{
	static const char *const keys[] = { "b", "M", "N", "P", "a", "w" };
	struct harness *h = *state;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		press(h, keys[i]);
		assert_non_null(strstr(h->text, "not available: "));
		assert_string_equal(h->app.view->state, "Default");
	}
	assert_false(h->app.screen.has_memory);
	press(h, "i");
	assert_string_equal(h->app.view->state, "Heat");
}

static void a_live_machine_has_no_time_to_move_in(void **state)
{
	static const char *const keys[] = { ",", ".", "(", ")", "^", "$", "{", "}", ";", ":" };
	struct harness *h = *state;

	h->machine.play = NULL;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		press(h, keys[i]);
		assert_non_null(strstr(h->text, "not available: this is not a recording"));
		press(h, "f");
	}
	press(h, "Right");
	expect_eq(h->app.screen.sort, SORT_WAIT);
	press(h, "Left");
	expect_eq(h->app.screen.sort, SORT_RUN);
	expect_eq(h->app.player.steps, 0);
	assert_null(strstr(drawn(h), "playing "));
}

static void what_was_not_measured_before_freezing_is_said(void **state)
{
	static const char said[] = "No data: this view was not open when you froze";
	struct harness *h = *state;

	h->machine.play = NULL;
	h->machine.memory.total_kib = 1000;
	refresh(h, true);
	press(h, "b"); /* what is shown until its first look is as ever */
	assert_null(strstr(h->text, said));
	press(h, "b");
	refresh(h, true);
	press(h, "Space");
	assert_null(strstr(h->text, said));
	press(h, "b");
	assert_non_null(strstr(h->text, said));
	press(h, "l"); /* caches need less than what was measured */
	assert_null(strstr(h->text, said));
	press(h, "s");
	assert_non_null(strstr(h->text, said));
	press(h, "Space");
	assert_null(strstr(h->text, said));
	refresh(h, true);
	press(h, "Space");
	assert_null(strstr(h->text, said));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(it_plays_one_interval_per_tick),
		CASE(keys_seek_once),
		CASE(speed_and_step_are_chosen_apart),
		CASE(a_fast_one_takes_several_steps_at_once),
		CASE(keys_go_through_the_longest_waits),
		CASE(at_the_end_it_pauses_and_then_begins_again),
		CASE(a_line_says_where_one_is),
		CASE(what_a_recording_has_not_is_said),
		CASE(a_live_machine_has_no_time_to_move_in),
		CASE(what_was_not_measured_before_freezing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
