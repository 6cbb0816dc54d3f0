#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app.h"

#define SECOND 1000000000ULL

/* A recording of four seconds that a screen plays: what looks are asked for is done here by hand. */
struct desk {
	struct config config;
	struct app app;
	struct machine machine;
	struct machine_play play;
	struct machine_cpu cpu;
	struct grid grid;
	struct machine_wish asked; /* by the last look */
	char *text;
};

static int sit_down(void **state)
{
	struct desk *k = calloc(1, sizeof(*k));

	config_init(&k->config);
	app_init(&k->app, &k->config);
	k->cpu = (struct machine_cpu){ .is_online = true, .busy = 0.5, .mhz = NAN, .tid = -1 };
	k->play = (struct machine_play){ .name = "a.pftrace",
		                         .start_ns = 100 * SECOND,
		                         .end_ns = 104 * SECOND,
		                         .position_ns = 101 * SECOND,
		                         .interval_ns = SECOND / 4,
		                         .unix_ns = 1700000000ULL * SECOND,
		                         .speed = 1,
		                         .absent = MACHINE_MEMORY | MACHINE_NET | MACHINE_BPF };
	k->machine = (struct machine){ .source = "trace",
		                       .interval_s = 0.25,
		                       .own_cpu = NAN,
		                       .load = { NAN, NAN, NAN },
		                       .cpus = &k->cpu,
		                       .nr_cpus = 1,
		                       .play = &k->play };
	assert_int_equal(grid_init(&k->grid, 120, 30), 0);
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
	return drawn_at(k, 120, 30);
}

static void press(struct desk *k, const char *key)
{
	expect_eq(app_press(&k->app, &k->machine, (struct app_input){ .key = key_from_text(key) }),
	          0);
	drawn(k);
}

/* As the loop does; is_turn: a tick has passed. */
static const struct machine_play_wish *look(struct desk *k, bool is_turn)
{
	k->asked = app_wish(&k->app);
	player_take(&k->app.player, k->app.screen.tick_ms, k->app.screen.is_frozen, is_turn,
	            &k->asked.play);
	app_looked(&k->app, &k->asked, &k->machine);
	return &k->asked.play;
}

static void it_plays_one_interval_per_tick(void **state)
{
	struct desk *k = *state;

	expect_eq(look(k, true)->steps, 1);
	expect_eq(k->asked.play.interval_ns, SECOND / 4);
	expect_eq(look(k, false)->steps, 0); /* another view is looked at meanwhile */
	press(k, "Space");
	expect_eq(look(k, true)->steps, 0);
	assert_true(k->asked.play.is_paused);
	press(k, "Space");
	expect_eq(look(k, true)->steps, 1);
}

static void keys_seek_once(void **state)
{
	static const struct {
		const char *key;
		int64_t steps;
	} keys[] = { { "Left", -1 }, { "Right", 1 }, { ",", -1 },        { ".", 1 },
		     { "(", -10 },   { ")", 10 },    { "^", INT64_MIN }, { "$", INT64_MAX } };
	struct desk *k = *state;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		enum view_sort sort = k->app.screen.sort;

		press(k, keys[i].key);
		assert_true(look(k, false)->steps == keys[i].steps);
		expect_eq(look(k, false)->steps, 0);
		expect_eq(k->app.screen.sort, sort);
	}
	press(k, "(");
	press(k, ".");
	assert_true(look(k, true)->steps == -9);
	press(k, "$");
	press(k, ")"); /* not beyond */
	assert_true(look(k, true)->steps == INT64_MAX);
}

static void speed_changes_the_interval(void **state)
{
	struct desk *k = *state;

	press(k, "}");
	press(k, "}");
	expect_eq(look(k, true)->interval_ns, SECOND);
	assert_true(k->asked.play.speed == 4);
	for (int i = 0; i < 3; i++)
		press(k, "{");
	expect_eq(look(k, true)->interval_ns, SECOND / 8);
	assert_true(k->asked.play.speed == 0.5);
	for (int i = 0; i < 100; i++)
		press(k, "{");
	expect_eq(look(k, true)->interval_ns, SECOND / 4 / 1024);
	for (int i = 0; i < 100; i++)
		press(k, "}");
	expect_eq(look(k, true)->interval_ns, SECOND / 4 * 1024);
	press(k, "-"); /* a shorter tick is a shorter interval */
	expect_eq(look(k, true)->interval_ns, 1024 * 150 * (SECOND / 1000));
}

static void at_the_end_it_pauses_and_then_begins_again(void **state)
{
	struct desk *k = *state;

	look(k, true);
	assert_false(k->app.screen.is_frozen);
	k->play.position_ns = k->play.end_ns;
	look(k, true);
	assert_true(k->app.screen.is_frozen);
	assert_non_null(strstr(drawn(k), "the end of the recording"));
	press(k, "Space");
	assert_false(k->app.screen.is_frozen);
	assert_true(look(k, false)->steps == INT64_MIN);
}

static void a_line_says_where_one_is(void **state)
{
	struct desk *k = *state;

	assert_non_null(strstr(drawn(k), "plays "));
	assert_non_null(
		strstr(k->text, "1.000 of 4.000 s  x1  by 250ms  2023-11-14 22:13:20.000 UTC"));
	assert_null(strstr(k->text, "nan"));
	press(k, "Space");
	assert_non_null(strstr(k->text, "paused "));
	assert_non_null(strstr(k->text, "PAUSED"));
	k->play.speed = 0.125;
	assert_non_null(strstr(drawn_at(k, 80, 24), "1.000 of 4.000 s  1/8"));
	assert_non_null(strstr(drawn_at(k, 20, 5), "paused "));
	for (uint16_t width = 1; width < 200; width += 7)
		for (uint16_t height = 1; height < 40; height += 3)
			drawn_at(k, width, height);
	k->play.end_ns = k->play.start_ns = k->play.position_ns;
	k->play.unix_ns = 0;
	assert_non_null(strstr(drawn(k), "0.000 of 0.000 s"));
}

static void what_a_recording_has_not_is_said(void **state)
{
	static const char *const keys[] = { "b", "M", "N", "P", "a", "w" };
	struct desk *k = *state;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		press(k, keys[i]);
		assert_non_null(strstr(k->text, "not available: "));
		assert_string_equal(k->app.view->state, "Default");
	}
	assert_false(k->app.screen.has_memory);
	press(k, "i");
	assert_string_equal(k->app.view->state, "Heat");
}

static void a_live_machine_has_no_time_to_move_in(void **state)
{
	static const char *const keys[] = { ",", ".", "(", ")", "^", "$", "{", "}" };
	struct desk *k = *state;

	k->machine.play = NULL;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		press(k, keys[i]);
		assert_non_null(strstr(k->text, "not available: this is no recording"));
		press(k, "f");
	}
	press(k, "Right");
	expect_eq(k->app.screen.sort, SORT_WAIT);
	press(k, "Left");
	expect_eq(k->app.screen.sort, SORT_RUN);
	expect_eq(k->app.player.steps, 0);
	assert_null(strstr(drawn(k), "plays "));
}

static void what_was_not_measured_before_freezing_is_said(void **state)
{
	static const char said[] = "not measured before it was frozen";
	struct desk *k = *state;

	k->machine.play = NULL;
	k->machine.memory.total_kib = 1000;
	look(k, true);
	press(k, "b"); /* what is shown until its first look is as ever */
	assert_null(strstr(k->text, said));
	press(k, "b");
	look(k, true);
	press(k, "Space");
	assert_null(strstr(k->text, said));
	press(k, "b");
	assert_non_null(strstr(k->text, said));
	press(k, "l"); /* caches need less than what was measured */
	assert_null(strstr(k->text, said));
	press(k, "s");
	assert_non_null(strstr(k->text, said));
	press(k, "Space");
	assert_null(strstr(k->text, said));
	look(k, true);
	press(k, "Space");
	assert_null(strstr(k->text, said));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, sit_down, stand_up)
	const struct CMUnitTest tests[] = {
		CASE(it_plays_one_interval_per_tick),
		CASE(keys_seek_once),
		CASE(speed_changes_the_interval),
		CASE(at_the_end_it_pauses_and_then_begins_again),
		CASE(a_line_says_where_one_is),
		CASE(what_a_recording_has_not_is_said),
		CASE(a_live_machine_has_no_time_to_move_in),
		CASE(what_was_not_measured_before_freezing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
