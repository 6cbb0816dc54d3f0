#include "../unit.h"

#include <errno.h>
#include <unistd.h>

#include "opt_fixture.h"

static char *completion_for(const char *shell)
{
	return PRINTED(expect_eq(opt_print_completion(&fixture, shell, out), 0));
}

/* What bash offers for the last of the words, each on a line, sorted. */
static void expect_bash_offers(const char *words, const char *expected)
{
	char path[] = "/tmp/test_opt_complete.XXXXXX", command[1024], got[1024] = "";
	char *script = completion_for("bash");
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w"), *bash;

	assert_non_null(file);
	fputs(script, file);
	fclose(file);
	free(script);
	/* env -i: no user's settings, and no bash-completion package either. */
	snprintf(command, sizeof(command),
	         "env -i PATH=\"$PATH\" LC_ALL=C bash --norc --noprofile -c 'cd / && source %s && "
	         "COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _scope 2>&1; "
	         "((${#COMPREPLY[@]})) && printf \"%%s\\n\" \"${COMPREPLY[@]}\"' | sort",
	         path, words);
	bash = popen(command, "r");
	assert_non_null(bash);
	got[fread(got, 1, sizeof(got) - 1, bash)] = '\0';
	pclose(bash);
	unlink(path);
	assert_string_equal(got, expected);
}

static void bash_completes_commands(void **state)
{
	(void)state;
	expect_bash_offers("scope \"\"", "analyze\nhelp\nrun\nstat\n");
	expect_bash_offers("scope st", "stat\n");
	expect_bash_offers("scope int", "");
	expect_bash_offers("scope -", "--help\n-h\n");
	expect_bash_offers("scope help an", "analyze\n");
	expect_bash_offers("scope nonsense \"\"", "");
}

static void bash_completes_options(void **state)
{
	(void)state;
	expect_bash_offers("scope stat --c", "--color\n--comm\n");
	expect_bash_offers("scope st --c", "--color\n--comm\n");
	expect_bash_offers("scope stat -i 5 --wi", "--window\n");
	expect_bash_offers("scope stat --secr", "");
	expect_bash_offers("scope stat \"\"", "");
	expect_bash_offers("scope analyze -- --he", "");
}

static void bash_completes_values(void **state)
{
	(void)state;
	expect_bash_offers("scope stat --color \"\"", "auto\nnever\n");
	expect_bash_offers("scope stat --color = n", "never\n");
	expect_bash_offers("scope stat --color =", "auto\nnever\n");
	expect_bash_offers("scope stat --color=n", "--color=never\n");
	expect_bash_offers("scope stat --interval \"\"", "");
	expect_bash_offers("scope stat --output et", "etc\n");
	expect_bash_offers("scope stat -o et", "etc\n");
}

static void bash_completes_operands(void **state)
{
	(void)state;
	expect_bash_offers("scope analyze et", "etc\n");
	expect_bash_offers("scope analyze -- et", "etc\n");
	/* What follows is another command's: no option of ours. */
	expect_bash_offers("scope run --color never --inter", "--interval\n");
	expect_bash_offers("scope run --color = never --inter", "--interval\n");
	expect_bash_offers("scope run sleep --inter", "");
}

static void each_shell_knows_commands_options_and_choices(void **state)
{
	static const struct {
		const char *shell;
		const char *parts[6];
	} cases[] = {
		{ "zsh",
		  { "#compdef scope\n", "'analyze:explain a recording'",
		    "'*--comm=[only these]:REGEX: '",
		    "--color=[colour the output]:WHEN:(auto never)'",
		    "--output=[where to write]:FILE:_files'",
		    "[don'\\''t merge \\[names\\]\\: keep '\\''em]" } },
		{ "fish",
		  { "complete -c scope -n '__scope_in' -a analyze -d 'explain a recording'\n",
		    "complete -c scope -n '__scope_in stat st' -s d -l detailed -d 'all rows",
		    " -l color -x -a 'auto never' -d ", " -s o -l output -r -F -d ",
		    "'don\\'t merge [names]: keep \\'em'",
		    "complete -c scope -n '__scope_in analyze' -F\n" } },
		{ "elvish",
		  { "set edit:completion:arg-completer[scope] = {|@words|",
		    "candidate 'analyze' 'explain a recording'",
		    "&'st:--color'={ put 'auto' 'never' }", "candidate '--detailed' 'all rows",
		    "&'stat:-o'={ edit:complete-filename $words[-1] }",
		    "'don''t merge [names]: keep ''em'" } },
		{ "powershell",
		  { "Register-ArgumentCompleter -Native -CommandName 'scope'",
		    "Candidate 'analyze' 'explain a recording'",
		    "'st:--color' {\n            Candidate 'auto' 'colour the output'",
		    "Candidate '--detailed' 'all rows", "'stat:-o' {\n            return",
		    "'don''t merge [names]: keep ''em'" } },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = completion_for(cases[i].shell);

		for (j = 0; j < 6; j++)
			expect_contains(text, cases[i].parts[j]);
		free(text);
	}
}

static void what_is_hidden_is_nowhere(void **state)
{
	const char *const *shell;

	(void)state;
	for (shell = opt_shells; *shell; shell++) {
		char *text = completion_for(*shell);

		assert_null(strstr(text, "secret"));
		assert_null(strstr(text, "internal"));
		free(text);
	}
}

static void an_unknown_shell_is_refused(void **state)
{
	char *text = PRINTED(expect_eq(opt_print_completion(&fixture, "csh", out), -EINVAL));

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bash_completes_commands),
		cmocka_unit_test(bash_completes_options),
		cmocka_unit_test(bash_completes_values),
		cmocka_unit_test(bash_completes_operands),
		cmocka_unit_test(each_shell_knows_commands_options_and_choices),
		cmocka_unit_test(what_is_hidden_is_nowhere),
		cmocka_unit_test(an_unknown_shell_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
