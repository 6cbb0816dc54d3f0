#include "../unit.h"

#include "opt_fixture.h"

static char *page_of(const struct opt_command *cmd)
{
	return PRINTED(opt_print_man(&fixture, cmd, out));
}

static void all_sections_are_there(void **state)
{
	static const char *const sections[] = {
		".SH NAME\nscope\\-stat \\- measure \\[u00B5]s of delay\n",
		".SH SYNOPSIS\n\\fBscope stat\\fR [\\fIOPTION\\fR...]\n",
		".SH DESCRIPTION\nThe first paragraph,\nin two lines.\n",
		".SH OPTIONS\n.TP\n\\fB\\-d\\fR, \\fB\\-\\-detailed\\fR\nAll rows, one per thread.\n",
		".SH EXAMPLES\n",
		".SH EXIT STATUS\n.TP\n\\fB0\\fR\n",
		".SH SEE ALSO\n\\fBscope\\fR(1)\n",
	};
	char *text = page_of(&fixture_stat);
	size_t i;

	(void)state;
	expect_eq(strncmp(text, ".TH SCOPE\\-STAT 1 2026-01-31 \"scope 1.2\"", 40), 0);
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		expect_contains(text, sections[i]);
	free(text);
}

static void the_table_says_more_than_help(void **state)
{
	char *text = page_of(&fixture_stat);

	(void)state;
	expect_contains(text, "From 1 to 86400.\nThe default is \\fB1\\fR.\n");
	expect_contains(text, "From 1ns to 1h.\nThe default is \\fB1500ms\\fR.\n");
	expect_contains(text,
	                "One of \\fBauto\\fR, \\fBnever\\fR.\nThe default is \\fBnever\\fR.\n");
	expect_contains(text, "May be given more than once.\n");
	expect_contains(text, "Also spelled \\fB\\-\\-all\\-rows\\fR.\n");
	expect_contains(text, "The command is also called \\fBst\\fR.\n");
	expect_contains(text, ".SS Where and what\n");
	assert_null(strstr(text, "secret"));
	assert_non_null(strstr(text, "\\fB\\-\\-stacks\\fR[=\\fILIST\\fR]\n"));
	free(text);
}

static void nothing_is_taken_for_a_request(void **state)
{
	char *text = page_of(&fixture_stat);

	(void)state;
	expect_contains(text, "\n\\&.*foo\\ed matches");
	expect_contains(text, "\n\\&.not a request, \\(aqnor this\n");
	expect_contains(text, "\\fBscope stat \\-c \\(aq\\(haa\\ed\\(aq\\fR\n");
	expect_contains(text, ".PP\n.nf\n kept\n  as written\n.fi\n.PP\n");
	free(text);
}

static void invalid_utf8_is_replaced(void **state)
{
	const struct opt_command cmd = { .name = "x", .summary = "a \xff\xc3( \xe2\x82" };
	char *text = page_of(&cmd);

	(void)state;
	expect_contains(text, "\\- a \\[uFFFD]\\[uFFFD]( \\[uFFFD]\n");
	free(text);
}

static void the_program_has_a_page_of_its_own(void **state)
{
	char *text = page_of(NULL);

	(void)state;
	expect_contains(text, ".SH NAME\nscope \\- look at things\n");
	expect_contains(text, ".TP\n\\fBanalyze\\fR\nExplain a recording.\n"
	                      "See \\fBscope\\-analyze\\fR(1).\n");
	assert_null(strstr(text, "internal"));
	free(text);
}

static void expect_lint_clean(const char *text)
{
	FILE *lint = popen("mandoc -Tlint -Wwarning >&2", "w");

	assert_non_null(lint);
	fputs(text, lint);
	expect_eq(pclose(lint), 0);
}

static void mandoc_finds_nothing_to_say(void **state)
{
	const struct opt_command *const *cmd;
	char *text;

	(void)state;
	text = page_of(NULL);
	expect_lint_clean(text);
	free(text);
	for (cmd = fixture_commands; *cmd; cmd++) {
		text = page_of(*cmd);
		expect_lint_clean(text);
		free(text);
	}
}

int main(void)
{
	const bool has_mandoc = system("command -v mandoc >/dev/null") == 0;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sections_are_there),
		cmocka_unit_test(the_table_says_more_than_help),
		cmocka_unit_test(nothing_is_taken_for_a_request),
		cmocka_unit_test(invalid_utf8_is_replaced),
		cmocka_unit_test(the_program_has_a_page_of_its_own),
		unit_test_if(has_mandoc, mandoc_finds_nothing_to_say, "needs mandoc"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
