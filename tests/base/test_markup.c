#include "../unit.h"

#include "base/markup.h"
#include "base/utf8.h"

static void what_markup_takes_for_itself_has_an_entity(void **state)
{
	(void)state;
	assert_string_equal(markup_entity('<'), "&lt;");
	assert_string_equal(markup_entity('>'), "&gt;");
	assert_string_equal(markup_entity('&'), "&amp;");
	assert_string_equal(markup_entity('"'), "&quot;");
	assert_string_equal(markup_entity('\''), "&#39;");
	assert_string_equal(markup_entity(UTF8_INVALID), MARKUP_UNKNOWN);
	assert_null(markup_entity('a'));
	assert_null(markup_entity(0x65e5));
}

static void first_and_last_of_what_is_hidden(void **state)
{
	static const uint32_t ranges[][2] = {
		{ 0, 0x1f },          { 0x7f, 0x9f },     { 0xad, 0xad },     { 0x61c, 0x61c },
		{ 0x200b, 0x200f },   { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfdd0, 0xfdef },
		{ 0xfeff, 0xfeff },   { 0xfff9, 0xfffb }, { 0xfffe, 0xffff }, { 0x1fffe, 0x1ffff },
		{ 0xdfffe, 0xe007f },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		assert_true(markup_is_hidden(ranges[i][0]) && markup_is_hidden(ranges[i][1]));
		assert_false(ranges[i][0] && markup_is_hidden(ranges[i][0] - 1));
		assert_false(markup_is_hidden(ranges[i][1] + 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_markup_takes_for_itself_has_an_entity),
		cmocka_unit_test(first_and_last_of_what_is_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
