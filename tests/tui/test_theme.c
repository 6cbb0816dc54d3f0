#include "../unit.h"

#include <math.h>
#include <string.h>

#include "tui/theme.h"

static void the_names_of_scxtop_come_in_its_order(void **state)
{
	static const char *const names[] = { "Default",         "MidnightGreen",
		                             "IAmBlue",         "SolarizedDark",
		                             "Greyscale",       "Nord",
		                             "Dracula",         "Monokai",
		                             "Gruvbox",         "TokyoNight",
		                             "CatppuccinMocha", "OneDark",
		                             "AyuDark",         "USA" };
	const struct theme *t = &themes[0];

	(void)state;
	for (size_t i = 0; i < 14; i++, t = theme_next(t)) {
		assert_string_equal(t->name, names[i]);
		assert_ptr_equal(theme_find(names[i]), t);
	}
	assert_string_equal(t->name, "ColorBlind");
	assert_ptr_equal(theme_next(t), &themes[0]);
	assert_ptr_equal(theme_find("nord"), theme_find("Nord"));
	assert_null(theme_find("Nor"));
	assert_null(theme_find(""));
}

static unsigned int brightness(uint32_t rgb)
{
	return (rgb >> 16 & 0xff) * 30 + (rgb >> 8 & 0xff) * 59 + (rgb & 0xff) * 11;
}

static void every_style_can_be_read_on_black(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_themes; i++)
		for (int style = 0; style < STYLES; style++) {
			struct attrs attrs = theme_attrs(&themes[i], (enum style)style,
			                                 BACKGROUND_DARK);

			assert_true(attrs.colour <= 0xffffff);
			if (style < STYLE_HEAT && brightness(attrs.colour) < 3000)
				fail_msg("style %d of %s is too dark", style, themes[i].name);
		}
}

/* Relative luminance and contrast are those of the Web Content Accessibility Guidelines, 4.5 is their bar for text. */
static double contrast_with_white(uint32_t rgb)
{
	static const double weights[] = { 0.0722, 0.7152, 0.2126 };
	double light = 0;

	for (int i = 0; i < 3; i++)
		light += weights[i] * pow((double)(rgb >> 8 * i & 0xff) / 255, 2.2);
	return 1.05 / (light + 0.05);
}

static void every_style_can_be_read_on_white(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_themes; i++)
		for (int style = 0; style < STYLE_HEAT; style++) {
			struct attrs attrs = theme_attrs(&themes[i], (enum style)style,
			                                 BACKGROUND_LIGHT);

			if (!attrs.is_own && contrast_with_white(attrs.colour) < 4.4)
				fail_msg("style %d of %s is too light: %06x", style, themes[i].name,
				         attrs.colour);
		}
	assert_true(theme_attrs(&themes[5], STYLE_TEXT, BACKGROUND_LIGHT).is_own);
}

static void an_unknown_background_gets_the_terminals_own_colours(void **state)
{
	(void)state;
	for (int style = 0; style < STYLE_HEAT; style++) {
		struct attrs attrs = theme_attrs(&themes[0], (enum style)style, BACKGROUND_UNKNOWN);

		assert_true(attrs.is_own || attrs.is_named);
	}
	/* A theme that was chosen is drawn as it is; text of the usual one is the terminal's on any background. */
	assert_false(theme_attrs(&themes[5], STYLE_TEXT, BACKGROUND_UNKNOWN).is_own);
	for (int on = BACKGROUND_UNKNOWN; on <= BACKGROUND_LIGHT; on++)
		assert_true(theme_attrs(&themes[0], STYLE_TEXT, (enum background)on).is_own);
}

/* Tasks beside each other must not look alike; where there are 8 colours, the first six. */
static void lanes_can_be_told_apart(void **state)
{
	static const enum background on[] = { BACKGROUND_DARK, BACKGROUND_LIGHT };

	(void)state;
	for (size_t i = 0; i < nr_themes; i++)
		for (int a = STYLE_LANE; a < STYLE_LANE_LAST; a++)
			for (int b = a + 1; b <= STYLE_LANE_LAST; b++)
				for (size_t k = 0; k < 2; k++)
					assert_true(theme_attrs(&themes[i], (enum style)a, on[k])
					                    .colour !=
					            theme_attrs(&themes[i], (enum style)b, on[k])
					                    .colour);
	for (int a = STYLE_LANE; a < STYLE_LANE + 6; a++)
		for (int b = a + 1; b < STYLE_LANE + 6; b++)
			assert_true(
				theme_of_8(theme_attrs(&themes[0], (enum style)a, BACKGROUND_DARK)
			                           .colour) !=
				theme_of_8(theme_attrs(&themes[0], (enum style)b, BACKGROUND_DARK)
			                           .colour));
	assert_true(theme_attrs(&themes[0], STYLE_LANE, BACKGROUND_DARK).is_reversed);
}

static void steps_differ(enum background on)
{
	for (size_t i = 0; i < nr_themes; i++) {
		for (int style = STYLE_GOOD; style < STYLE_BAD; style++)
			assert_true(theme_attrs(&themes[i], (enum style)style, on).colour !=
			            theme_attrs(&themes[i], (enum style)(style + 1), on).colour);
		for (int style = STYLE_HEAT; style < STYLE_HEAT_LAST; style++)
			assert_true(theme_attrs(&themes[i], (enum style)style, on).colour !=
			            theme_attrs(&themes[i], (enum style)(style + 1), on).colour);
	}
}

static void bands_and_heat_differ_step_by_step(void **state)
{
	(void)state;
	steps_differ(BACKGROUND_DARK);
	steps_differ(BACKGROUND_LIGHT);
}

/* Without red against green: what is left is blue against yellow, which nearly everyone tells apart. */
static void the_colour_blind_bands_never_rely_on_red_and_green(void **state)
{
	const struct theme *t = theme_find("ColorBlind");

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		int blue = (int)(t->bands[i] & 0xff) - (int)(t->bands[i + 1] & 0xff);
		unsigned int a = brightness(t->bands[i]), b = brightness(t->bands[i + 1]);

		assert_true(blue > 60 || blue < -60 || (a > b ? a - b : b - a) > 2500);
	}
}

static void lesser_terminals_get_the_nearest_colour(void **state)
{
	(void)state;
	expect_eq(theme_of_256(0x000000), 16);
	expect_eq(theme_of_256(0xffffff), 231);
	expect_eq(theme_of_256(0xff0000), 196);
	expect_eq(theme_of_256(0x5f87af), 67);
	expect_eq(theme_of_256(0x808080), 244);
	expect_eq(theme_of_8(0xff2020), 1);
	expect_eq(theme_of_8(0x20d020), 2);
	expect_eq(theme_of_8(0x2040e0), 4);
	expect_eq(theme_of_8(0xffffff), 7);
	assert_true(theme_of_8(0) != 0);
}

/* Yellow, green and cyan of eight colours cannot; the greys are apart from what is red. */
static void eight_colours_can_be_read_on_white(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_themes; i++) {
		for (int style = 0; style < STYLE_HEAT; style++) {
			uint32_t rgb =
				theme_attrs(&themes[i], (enum style)style, BACKGROUND_LIGHT).colour;
			int colour = theme_of_8_on_white(rgb);

			assert_true(colour == -1 || colour == 1 || colour == 4 || colour == 5);
		}
	}
	for (int k = 0; k < 5; k++) {
		static const int wanted[] = { 4, 4, 5, 5, 1 };
		struct attrs a = theme_attrs(&themes[0], (enum style)(STYLE_GOOD + k),
		                             BACKGROUND_LIGHT);

		expect_eq(theme_of_8_on_white(a.colour), wanted[k]);
	}
	expect_eq(theme_of_8_on_white(
			  theme_attrs(&themes[0], STYLE_FRAME, BACKGROUND_LIGHT).colour),
	          -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_names_of_scxtop_come_in_its_order),
		cmocka_unit_test(every_style_can_be_read_on_black),
		cmocka_unit_test(every_style_can_be_read_on_white),
		cmocka_unit_test(an_unknown_background_gets_the_terminals_own_colours),
		cmocka_unit_test(lanes_can_be_told_apart),
		cmocka_unit_test(bands_and_heat_differ_step_by_step),
		cmocka_unit_test(the_colour_blind_bands_never_rely_on_red_and_green),
		cmocka_unit_test(lesser_terminals_get_the_nearest_colour),
		cmocka_unit_test(eight_colours_can_be_read_on_white),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
