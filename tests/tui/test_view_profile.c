/* The CPU profile (PerfTop): numbers, filter, selection, keys. */
#include "../unit.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../render/golden.h"
#include "screen.h"
#include "tui/app.h"
#include "tui/format.h"

struct harness {
	struct fixture f;
	struct config config;
	struct app app;
	struct grid grid;
};

static int set_up(void **state)
{
	struct harness *h = calloc(1, sizeof(*h));

	if (!h || !setlocale(LC_CTYPE, "C.UTF-8"))
		return -1;
	fixture_init(&h->f, &fixture_small);
	config_init(&h->config);
	app_init(&h->app, &h->config);
	assert_int_equal(grid_init(&h->grid, 120, 40), 0);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct harness *h = *state;

	fixture_done(&h->f);
	config_done(&h->config);
	grid_done(&h->grid);
	free(h);
	return 0;
}

static void press(struct harness *h, const char *key)
{
	expect_eq(app_press(&h->app, &h->f.m, (struct app_input){ .key = key_from_text(key) }), 0);
	assert_int_equal(grid_reset(&h->grid, 120, 40), 0);
	app_draw(&h->app, &h->f.m, &h->grid);
}

static void expect_golden(const struct machine *m, struct screen s, uint16_t width, uint16_t height,
                          const char *name)
{
	char *text = screen_draw("profile", m, &s, width, height);

	golden_compare(name, text);
	free(text);
}

static void the_screens_are_as_they_were(void **state)
{
	struct harness *h = *state;

	expect_golden(&h->f.m, (struct screen){ 0 }, 150, 30, "tui-profile-150.txt");
	expect_golden(&h->f.m, (struct screen){ 0 }, 80, 24, "tui-profile-80.txt");
	expect_golden(&h->f.m, (struct screen){ .shape = SHAPE_TABLE }, 130, 12,
	              "tui-profile-table-130.txt");
	expect_golden(&h->f.m, (struct screen){ 0 }, 20, 5, "tui-profile-20.txt");
}

static void samples_and_shares_are_those_of_the_rows(void **state)
{
	struct harness *h = *state;
	struct screen s = { .shape = SHAPE_TABLE };
	char *text = screen_draw("profile", &h->f.m, &s, 130, 40), *line;
	uint64_t whole = 0;

	for (uint32_t i = 0; i < fixture_small.nr_symbols; i++)
		whole += fixture_samples(i);
	for (uint32_t i = 0; i < fixture_small.nr_symbols; i++) {
		char name[48], numbers[64];

		snprintf(name, sizeof(name), "[%c] %s_%u ", i % 3 ? 'U' : 'K',
		         i % 3 ? "part" : "sys", i);
		line = screen_find(text, name);
		snprintf(numbers, sizeof(numbers), " %" PRIu64 " %6.2f %6.2f ", fixture_samples(i),
		         (double)fixture_samples(i) / (double)whole * 100,
		         (double)fixture_samples(i) * 2 / (double)whole * 100);
		if (!screen_has(line, numbers))
			print_message("# no '%s' in '%s'\n", numbers, line);
		assert_true(screen_has(line, numbers));
		assert_true(screen_has(line, i % 3 ? "libparts.so" : "kernel"));
		free(line);
	}
	snprintf(text, 40, "%" PRIu64 " samples, 30 symbols", whole);
	line = screen_draw("profile", &h->f.m, &s, 130, 40);
	assert_true(screen_has(line, text));
	free(line);
	free(text);
}

static void kernel_and_user_have_their_colours(void **state)
{
	struct harness *h = *state;
	struct screen s = { .selected = 5 };
	struct grid g;
	int seen[STYLES] = { 0 };

	assert_int_equal(grid_init(&g, 80, 30), 0);
	view_find("profile")->draw(&h->f.m, &s, &g, (struct area){ 0, 0, 80, 30 });
	for (size_t i = 0; i + 1 < (size_t)g.width * g.height; i++)
		if (g.cells[i].code == '[')
			seen[g.cells[i].style] |= g.cells[i + 1].code == 'K'   ? 1
			                          : g.cells[i + 1].code == 'U' ? 2
			                                                       : 0;
	expect_eq(seen[STYLE_KERNEL], 1);
	expect_eq(seen[STYLE_USER], 2);
	grid_done(&g);
}

/* scxtop's pane shows the row that would be selected without the filter. */
static void with_a_filter_the_pane_shows_the_selected_row(void **state)
{
	struct harness *h = *state;
	struct screen s = { .selected = 2 };
	char *text;

	/* Of a module, in another case. By samples: part_1, part_2, part_4. */
	strcpy(s.filter, "LIBPARTS");
	expect_eq(view_find("profile")->rows(&h->f.m, &s), 20);
	text = screen_draw("profile", &h->f.m, &s, 150, 30);
	assert_true(screen_has(text, "─ part_4 ─"));
	assert_true(screen_has(text, "symbol    part_4 "));
	assert_true(screen_has(text, "samples   240, "));
	assert_true(screen_has(text, "20 of 30 symbols"));
	free(text);
	strcpy(s.filter, "SYS_2"); /* sys_21, sys_24, sys_27 */
	s.selected = 1;
	s.selected_tid = 0;
	text = screen_draw("profile", &h->f.m, &s, 150, 30);
	assert_true(screen_has(text, "symbol    sys_24 "));
	expect_eq(view_find("profile")->rows(&h->f.m, &s), 3);
	free(text);
	strcpy(s.filter, "nothing like it");
	text = screen_draw("profile", &h->f.m, &s, 150, 30);
	assert_true(screen_has(text, "nothing matches"));
	free(text);
}

static void the_pane_shows_places_processes_and_ways(void **state)
{
	struct harness *h = *state;
	struct screen s = { .selected = 1 };
	char *text = screen_draw("profile", &h->f.m, &s, 150, 30);

	assert_true(screen_has(text, "where     work.c:11  0xffff000000000001"));
	assert_true(screen_has(text, "process   parts [1000] and 1 other "));
	assert_true(screen_has(text, "66.7% via, 400 samples"));
	assert_true(screen_has(text, "#1: round_of_parts (round.c:7)"));
	assert_true(screen_has(text, "33.3% via, 200 samples"));
	assert_true(screen_has(text, "layer     1 "));
	free(text);
}

static void the_selection_follows_its_symbol(void **state)
{
	struct harness *h = *state;
	struct screen s = { .selected = 4 };
	struct machine_profile_row row = h->f.hot->rows[4];
	char *text = screen_draw("profile", &h->f.m, &s, 80, 24);

	free(text);
	expect_eq(s.selected_tid, 5004);
	/* It gets more samples than all others, and comes to the top. */
	memmove(&h->f.hot->rows[1], &h->f.hot->rows[0], 4 * sizeof(row));
	row.samples = 5000;
	h->f.hot->rows[0] = row;
	free(screen_draw("profile", &h->f.m, &s, 80, 24));
	expect_eq(s.selected, 0);
	expect_eq(s.selected_tid, 5004);
}

static void losses_and_slowing_down_come_first(void **state)
{
	struct harness *h = *state;
	struct screen s = { 0 };
	char *text;

	h->f.hot->profile.lost = 12;
	h->f.hot->profile.throttled = 3;
	text = screen_draw("profile", &h->f.m, &s, 60, 24);
	assert_true(screen_has(text, "LOST 12 SLOWED DOWN 3x cpu-clock 199 Hz"));
	free(text);
}

static void stacks_that_are_not_whole_are_a_share_with_their_reason(void **state)
{
	struct harness *h = *state;
	struct screen s = { 0 };
	char *text;

	h->f.hot->profile.broken = h->f.hot->profile.samples / 4;
	h->f.hot->profile.why_broken = "without a table";
	text = screen_draw("profile", &h->f.m, &s, 80, 24);
	assert_true(screen_has(text, "25% OF STACKS NOT WHOLE: without a table cpu-clock"));
	free(text);
	h->f.hot->profile.broken = 1; /* not worth a word */
	text = screen_draw("profile", &h->f.m, &s, 80, 24);
	assert_false(screen_has(text, "NOT WHOLE"));
	free(text);
}

static void what_cannot_be_sampled_is_reported(void **state)
{
	struct harness *h = *state;
	struct screen s = { 0 };
	char *text;

	h->f.hot->profile.refusal = "sampling needs BPF: run as root";
	text = screen_draw("profile", &h->f.m, &s, 80, 24);
	assert_true(screen_has(text, "sampling needs BPF: run as root"));
	assert_false(screen_has(text, "part_1"));
	free(text);
	h->f.hot->profile.refusal = NULL;
	h->f.hot->profile.is_starting = true;
	text = screen_draw("profile", &h->f.m, &s, 80, 24);
	assert_true(screen_has(text, "starting to sample"));
	free(text);
	h->f.hot->profile.is_starting = false;
	h->f.hot->profile.nr_rows = 0;
	text = screen_draw("profile", &h->f.m, &s, 80, 24);
	assert_true(screen_has(text, "no samples yet"));
	free(text);
}

/* scxtop stays detached. */
static void through_the_help_and_back_it_goes_on(void **state)
{
	struct harness *h = *state;

	press(h, "T");
	assert_string_equal(h->app.view->state, "PerfTop");
	assert_true(app_request(&h->app).needs & MACHINE_PROFILE);
	press(h, "h");
	assert_true(app_request(&h->app).needs & MACHINE_PROFILE);
	press(h, "T");
	assert_string_equal(h->app.view->state, "PerfTop");
	assert_true(app_request(&h->app).needs & MACHINE_PROFILE);
	press(h, "p");
	assert_false(app_request(&h->app).needs & MACHINE_PROFILE);
	press(h, "T");
	press(h, "h");
	press(h, "Esc");
	assert_true(app_request(&h->app).needs & MACHINE_PROFILE);
	press(h, "Esc");
	assert_false(app_request(&h->app).needs & MACHINE_PROFILE);
}

static void keys_change_the_rate_within_bounds(void **state)
{
	struct harness *h = *state;

	press(h, "[");
	expect_eq(app_request(&h->app).sample_hz, 0); /* elsewhere nothing is sampled */
	press(h, "T");
	expect_eq(app_request(&h->app).sample_hz, 0); /* the usual */
	press(h, "]");
	assert_float_equal(app_request(&h->app).sample_hz, 2 * MACHINE_PROFILE_HZ, 1e-9);
	for (int i = 0; i < 40; i++)
		press(h, "]");
	assert_float_equal(app_request(&h->app).sample_hz, MACHINE_PROFILE_HZ_MAX, 1e-9);
	for (int i = 0; i < 40; i++)
		press(h, "[");
	assert_float_equal(app_request(&h->app).sample_hz, MACHINE_PROFILE_HZ_MIN, 1e-9);
	assert_true(app_request(&h->app).sample_hz >= 1);
}

static void x_clears_the_samples(void **state)
{
	struct harness *h = *state;
	uint32_t before;

	press(h, "T");
	before = app_request(&h->app).nr_clears;
	press(h, "x");
	expect_eq(app_request(&h->app).nr_clears, before + 1);
	press(h, "p");
	press(h, "x"); /* there it means something else */
	press(h, "T");
	expect_eq(app_request(&h->app).nr_clears, before + 1);
}

static void rows_can_be_sorted_otherwise(void **state)
{
	struct harness *h = *state;

	press(h, "T");
	press(h, ">");
	expect_eq(h->app.screen.sort, SORT_MAX);
	press(h, ">");
	press(h, ">");
	expect_eq(h->app.screen.sort, SORT_NAME);
	expect_eq(h->app.screen.selected_tid, 5001); /* part_1 */
	press(h, ">");
	expect_eq(h->app.screen.sort, SORT_RUN);
	press(h, "<");
	expect_eq(h->app.screen.sort, SORT_NAME);
}

static void enter_stays(void **state)
{
	struct harness *h = *state;

	press(h, "T");
	press(h, "Down");
	press(h, "Enter");
	assert_string_equal(h->app.view->state, "PerfTop");
	expect_eq(h->app.screen.process, 0);
	expect_eq(h->app.screen.selected, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		CASE(the_screens_are_as_they_were),
		CASE(samples_and_shares_are_those_of_the_rows),
		CASE(kernel_and_user_have_their_colours),
		CASE(with_a_filter_the_pane_shows_the_selected_row),
		CASE(the_pane_shows_places_processes_and_ways),
		CASE(the_selection_follows_its_symbol),
		CASE(losses_and_slowing_down_come_first),
		CASE(stacks_that_are_not_whole_are_a_share_with_their_reason),
		CASE(what_cannot_be_sampled_is_reported),
		CASE(through_the_help_and_back_it_goes_on),
		CASE(keys_change_the_rate_within_bounds),
		CASE(x_clears_the_samples),
		CASE(rows_can_be_sorted_otherwise),
		CASE(enter_stays),
#undef CASE
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
