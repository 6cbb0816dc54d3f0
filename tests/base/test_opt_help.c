#include "../unit.h"

#include "opt_fixture.h"

static char *help_of(const struct opt_command *cmd, unsigned int columns)
{
	return PRINTED(opt_print_help(&fixture, cmd, columns, out));
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		longest = len > longest ? len : longest;
		text += len + (text[len] == '\n');
	}
	return longest;
}

static void help_has_everything_that_is_shown(void **state)
{
	char *text = help_of(&fixture_stat, 80);

	(void)state;
	assert_string_equal(
		text, "Usage: scope stat [OPTION...]\n"
		      "\n"
		      "Measure \xc2\xb5s of delay.\n"
		      "\n"
		      "Options:\n"
		      "  -d, --detailed          all rows, one per thread\n"
		      "  -C, --no-collapse       don't merge [names]: keep 'em\n"
		      "  -i, --interval SECONDS  time between reports [default: 1]\n"
		      "  -w, --window TIME       how much to look back [default: 1500ms]\n"
		      "      --strict TIME       needs a unit\n"
		      "\n"
		      "Where and what:\n"
		      "  -o, --output FILE       where to write\n"
		      "  -c, --comm REGEX        only these; may be repeated\n"
		      "      --color WHEN        colour the output: auto, never [default: never]\n"
		      "      --stacks[=LIST]     stacks too\n"
		      "\n"
		      "Help:\n"
		      "  -h, --help              show this help\n"
		      "\n"
		      "Examples:\n"
		      "  names that begin with an a and a digit\n"
		      "      scope stat -c '^a\\d'\n"
		      "\n"
		      "The manual has more: man scope-stat\n");
	free(text);
}

static void a_command_without_options_still_has_help(void **state)
{
	char *text = help_of(&fixture_analyze, 80);

	(void)state;
	assert_string_equal(text, "Usage: scope analyze [OPTION...] FILE [ANALYSIS...]\n"
	                          "\n"
	                          "Explain a recording.\n"
	                          "\n"
	                          "Options:\n"
	                          "  -h, --help  show this help\n"
	                          "\n"
	                          "The manual has more: man scope-analyze\n");
	free(text);
}

static void lines_fit_the_columns(void **state)
{
	char *text = help_of(&fixture_stat, 45);

	(void)state;
	assert_true(longest_line(text) <= 45);
	expect_contains(text, "time between\n                          reports [default:");
	free(text);
}

static void absurd_widths_are_bounded(void **state)
{
	char *narrow = help_of(&fixture_stat, 1), *least = help_of(&fixture_stat, 40);
	char *wide = help_of(&fixture_stat, 100000), *most = help_of(&fixture_stat, 120);

	(void)state;
	assert_string_equal(narrow, least);
	assert_string_equal(wide, most);
	free(narrow);
	free(least);
	free(wide);
	free(most);
}

static void a_long_label_has_its_text_below(void **state)
{
	/* clang-format off */
	static const struct opt options[] = {
		OPT_STRING('x', "a-rather-long-name", "WITH-ARGUMENT", struct fixture_args, output, "text"),
		OPT_END,
	};
	/* clang-format on */
	const struct opt_command cmd = { .name = "x", .summary = "x", .options = options };
	char *text = help_of(&cmd, 80);

	(void)state;
	expect_contains(text, "  -x, --a-rather-long-name WITH-ARGUMENT\n              text\n");
	free(text);
}

static void the_overview_lists_the_commands(void **state)
{
	char *text = PRINTED(opt_print_overview(&fixture, 80, out));

	(void)state;
	assert_string_equal(text, "Usage: scope COMMAND [OPTION...]\n"
	                          "\n"
	                          "Look at things.\n"
	                          "\n"
	                          "Commands:\n"
	                          "  stat     measure \xc2\xb5s of delay\n"
	                          "  analyze  explain a recording\n"
	                          "  run      run a command and watch it\n"
	                          "  help     explain a command\n"
	                          "\n"
	                          "Options:\n"
	                          "  -h, --help  show this help\n"
	                          "\n"
	                          "'scope help COMMAND' explains one command.\n");
	free(text);
}

static void no_terminal_means_80_columns(void **state)
{
	FILE *out = tmpfile();

	(void)state;
	assert_non_null(out);
	expect_eq(opt_columns(out), 80);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_has_everything_that_is_shown),
		cmocka_unit_test(a_command_without_options_still_has_help),
		cmocka_unit_test(lines_fit_the_columns),
		cmocka_unit_test(absurd_widths_are_bounded),
		cmocka_unit_test(a_long_label_has_its_text_below),
		cmocka_unit_test(the_overview_lists_the_commands),
		cmocka_unit_test(no_terminal_means_80_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
