#include "../unit.h"

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
			struct attrs attrs = theme_attrs(&themes[i], (enum style)style);

			assert_true(attrs.colour <= 0xffffff);
			if (style < STYLE_HEAT && brightness(attrs.colour) < 3000)
				fail_msg("style %d of %s is too dark", style, themes[i].name);
		}
}

static void bands_and_heat_differ_step_by_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_themes; i++) {
		for (int style = STYLE_GOOD; style < STYLE_BAD; style++)
			assert_true(theme_attrs(&themes[i], (enum style)style).colour !=
			            theme_attrs(&themes[i], (enum style)(style + 1)).colour);
		for (int style = STYLE_HEAT; style < STYLE_HEAT_LAST; style++)
			assert_true(theme_attrs(&themes[i], (enum style)style).colour !=
			            theme_attrs(&themes[i], (enum style)(style + 1)).colour);
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_names_of_scxtop_come_in_its_order),
		cmocka_unit_test(every_style_can_be_read_on_black),
		cmocka_unit_test(bands_and_heat_differ_step_by_step),
		cmocka_unit_test(the_colour_blind_bands_never_rely_on_red_and_green),
		cmocka_unit_test(lesser_terminals_get_the_nearest_colour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
