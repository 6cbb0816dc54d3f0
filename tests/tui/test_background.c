#include "../unit.h"

#include <string.h>

#include "tui/background.h"

static void the_environment_says_which_of_sixteen_colours(void **state)
{
	static const struct {
		const char *text;
		enum background is;
	} cases[] = {
		{ "15;0", BACKGROUND_DARK },
		{ "0;15", BACKGROUND_LIGHT },
		{ "0;default;15", BACKGROUND_LIGHT },
		{ "0;7", BACKGROUND_LIGHT },
		{ "7;8", BACKGROUND_DARK },
		{ "15;6", BACKGROUND_DARK },
		{ "15;default", BACKGROUND_UNKNOWN },
		{ "15;", BACKGROUND_UNKNOWN },
		{ "15;16", BACKGROUND_UNKNOWN },
		{ "15;-1", BACKGROUND_UNKNOWN },
		{ "15;0x", BACKGROUND_UNKNOWN },
		{ "15;99999999999999999999", BACKGROUND_UNKNOWN },
		{ "15", BACKGROUND_UNKNOWN },
		{ "", BACKGROUND_UNKNOWN },
		{ NULL, BACKGROUND_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_eq(background_of_environment(cases[i].text), cases[i].is);
}

static void a_reply_has_a_colour_with_any_number_of_digits(void **state)
{
	static const struct {
		const char *text;
		enum background is;
	} cases[] = {
		{ "11;rgb:ffff/ffff/ffff", BACKGROUND_LIGHT },
		{ "11;rgb:0000/0000/0000", BACKGROUND_DARK },
		{ "11;rgb:fd/f6/e3", BACKGROUND_LIGHT },
		{ "11;rgb:00/2b/36", BACKGROUND_DARK },
		{ "11;rgb:f/f/f", BACKGROUND_LIGHT },
		{ "11;rgba:0000/0000/0000/ffff", BACKGROUND_DARK },
		{ "11;#ffffff", BACKGROUND_LIGHT },
		{ "11;#102030", BACKGROUND_DARK },
		{ "11;rgb:ffff/ffff", BACKGROUND_UNKNOWN },
		{ "11;rgb:ffff//ffff", BACKGROUND_UNKNOWN },
		{ "11;rgb:zz/zz/zz", BACKGROUND_UNKNOWN },
		{ "11;rgb:", BACKGROUND_UNKNOWN },
		{ "11;#", BACKGROUND_UNKNOWN },
		{ "11;#ff", BACKGROUND_UNKNOWN },
		{ "10;rgb:ffff/ffff/ffff", BACKGROUND_UNKNOWN },
		{ "11;?", BACKGROUND_UNKNOWN },
		{ "", BACKGROUND_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (background_of_reply(cases[i].text) != cases[i].is)
			fail_msg("'%s' is not %d", cases[i].text, (int)cases[i].is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_environment_says_which_of_sixteen_colours),
		cmocka_unit_test(a_reply_has_a_colour_with_any_number_of_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
