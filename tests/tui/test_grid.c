#include "../unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/grid.h"

static struct grid g;

static int setup(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	return grid_init(&g, 12, 3);
}

static int teardown(void **state)
{
	(void)state;
	grid_done(&g);
	return 0;
}

static void expect_text(const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	grid_print(&g, out);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void text_is_cut_at_its_room_and_at_the_edge(void **state)
{
	(void)state;
	expect_eq(grid_text(&g, 0, 0, 3, STYLE_TEXT, "abcdef"), 3);
	grid_text(&g, 10, 1, 20, STYLE_TEXT, "xyz");
	grid_text(&g, -2, 2, 20, STYLE_TEXT, "left");
	grid_text(&g, 0, 7, 20, STYLE_TEXT, "below");
	expect_text("abc\n          xy\nft\n");
}

static void what_a_terminal_would_obey_becomes_a_question_mark(void **state)
{
	(void)state;
	grid_text(&g, 0, 0, 12, STYLE_TEXT, "\x1b[2J\a\n\t\x7f");
	grid_text(&g, 0, 1, 12, STYLE_TEXT, "\xc2\x9b\xff\xc3(");
	grid_text(&g, 0, 2, 12, STYLE_TEXT,
	          "a\xe2\x80\xae"
	          "b\xcc\x81");
	expect_text("?[2J????\n??\?(\nab\n");
}

static void every_byte_is_harmless(void **state)
{
	(void)state;
	for (unsigned int first = 1; first < 256; first++) {
		for (unsigned int second = 0; second < 256; second++) {
			char text[3] = { (char)first, (char)second, '\0' };

			expect_eq(grid_reset(&g, 12, 3), 0);
			grid_text(&g, 0, 0, 12, STYLE_TEXT, text);
			for (int x = 0; x < 12; x++) {
				uint32_t code = g.cells[x].code;

				assert_true(code == 0 || (code >= 0x20 && code < 0x7f) ||
				            code >= 0xa0);
			}
		}
	}
}

static void wide_characters_take_two_cells_and_are_never_halved(void **state)
{
	static const char wide[] = "\xe5\xb7\xa5\xe4\xbd\x9c"; /* two of two cells */

	(void)state;
	expect_eq(grid_cells(wide), 4);
	expect_eq(grid_text(&g, 0, 0, 3, STYLE_TEXT, wide), 2);
	expect_eq(g.cells[1].code, 0);
	/* At the edge of the grid. */
	expect_eq(grid_text(&g, 11, 1, 9, STYLE_TEXT, wide), 0);
	/* What is drawn over one half takes the other away. */
	grid_text(&g, 1, 0, 1, STYLE_TEXT, "x");
	grid_text(&g, 0, 2, 4, STYLE_TEXT, wide);
	grid_text(&g, 2, 2, 1, STYLE_TEXT, "y");
	expect_text(" x\n\n\xe5\xb7\xa5y\n");
}

static void right_ends_at_the_last_cell(void **state)
{
	(void)state;
	grid_right(&g, 2, 0, 6, STYLE_TEXT, "42");
	grid_right(&g, 0, 1, 3, STYLE_TEXT, "12345");
	expect_text("      42\n123\n\n");
}

static void bars_have_eighths(void **state)
{
	(void)state;
	grid_bar(&g, 0, 0, 8, 0.5, STYLE_TEXT);
	grid_bar(&g, 0, 1, 8, 1.0 / 64, STYLE_TEXT);
	grid_bar(&g, 0, 2, 1, 7.0 / 8, STYLE_USER);
	expect_text("\u2588\u2588\u2588\u2588\n\u258f\n\u2589\n");
	expect_eq(g.cells[0].style, STYLE_MIDDLE);
	expect_eq(g.cells[24].style, STYLE_USER);
}

static void bars_of_impossible_values_stay_inside(void **state)
{
	static const double values[] = { NAN, -1, -INFINITY, INFINITY, 1e300, 1e-300 };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		expect_eq(grid_reset(&g, 12, 3), 0);
		grid_bar(&g, 1, 0, 3, values[i], STYLE_TEXT);
		grid_spark(&g, 1, 1, 3, (struct grid_series){ &values[i], 1, 1 }, STYLE_TEXT);
		expect_eq(g.cells[0].code, ' ');
		expect_eq(g.cells[4].code, ' ');
		/* Something is never shown as nothing, and nothing never as something. */
		expect_eq(g.cells[1].code != ' ', values[i] > 0);
		expect_eq(g.cells[15].code != ' ', values[i] > 0);
	}
	grid_bar(&g, 0, 2, 0, 1, STYLE_TEXT);
	grid_bar(&g, 0, 2, -5, 1, STYLE_TEXT);
	expect_eq(g.cells[24].code, ' ');
}

static void braille_has_a_bit_per_dot(void **state)
{
	(void)state;
	expect_eq(grid_braille(0, 0), 0x2800);
	expect_eq(grid_braille(1, 0), 0x2840); /* the lowest dots are 7 and 8 */
	expect_eq(grid_braille(0, 1), 0x2880);
	expect_eq(grid_braille(8, 8), 0x2809); /* the highest 1 and 4 */
	expect_eq(grid_braille(15, 15), 0x28ff);
	expect_eq(grid_braille(255, 255), 0x28ff);
}

static void sparks_have_the_newest_at_the_right(void **state)
{
	static const double values[] = { 8, 1, 2, 4 };

	(void)state;
	grid_spark(&g, 0, 0, 3, (struct grid_series){ values, 4, 8 }, STYLE_TEXT);
	grid_spark(&g, 0, 1, 6, (struct grid_series){ values, 4, 0 }, STYLE_TEXT);
	grid_spark(&g, 0, 2, 3, (struct grid_series){ values, 0, 0 }, STYLE_TEXT);
	expect_text("\u2581\u2582\u2584\n  \u2588\u2581\u2582\u2584\n\n");
}

static void without_a_maximum_the_largest_is_full_wherever_it_is(void **state)
{
	static const double values[] = { NAN, 1, 4, 8, 2 };

	(void)state;
	grid_spark(&g, 0, 0, 5, (struct grid_series){ values, 5, 0 }, STYLE_TEXT);
	expect_text(" \u2581\u2584\u2588\u2582\n\n\n");
}

static void frames_have_titles_and_an_inside(void **state)
{
	struct area in = grid_frame(&g, (struct area){ 0, 0, 12, 3 }, " T ", " R ");

	(void)state;
	expect_text("\u250c\u2500 T \u2500\u2500 R \u2500\u2510\n\u2502          \u2502\n"
	            "\u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2518\n");
	assert_true(in.x == 1 && in.y == 1 && in.width == 10 && in.height == 1);
	in = grid_frame(&g, (struct area){ 0, 0, 1, 3 }, "T", "R");
	assert_true(in.width == 0 && in.height == 0);
}

static void bands_begin_at_fifths(void **state)
{
	(void)state;
	expect_eq(grid_band(0.199), STYLE_GOOD);
	expect_eq(grid_band(0.2), STYLE_FAIR);
	expect_eq(grid_band(0.4), STYLE_MIDDLE);
	expect_eq(grid_band(0.6), STYLE_HIGH);
	expect_eq(grid_band(0.8), STYLE_BAD);
}

static void a_reset_blanks_and_resizes(void **state)
{
	(void)state;
	grid_text(&g, 0, 0, 12, STYLE_BAD, "abc");
	expect_eq(grid_reset(&g, 4, 2), 0);
	expect_text("\n\n");
	expect_eq(grid_reset(&g, 0, 0), 0);
	grid_text(&g, 0, 0, 12, STYLE_BAD, "abc");
	expect_text("");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(text_is_cut_at_its_room_and_at_the_edge),
		T(what_a_terminal_would_obey_becomes_a_question_mark),
		T(every_byte_is_harmless),
		T(wide_characters_take_two_cells_and_are_never_halved),
		T(right_ends_at_the_last_cell),
		T(bars_have_eighths),
		T(bars_of_impossible_values_stay_inside),
		T(braille_has_a_bit_per_dot),
		T(sparks_have_the_newest_at_the_right),
		T(without_a_maximum_the_largest_is_full_wherever_it_is),
		T(frames_have_titles_and_an_inside),
		T(bands_begin_at_fifths),
		T(a_reset_blanks_and_resizes),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
