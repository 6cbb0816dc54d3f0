#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"

struct completions_args {
	int shell;
	bool has_shell;
	const char *output;
};

static const struct completions_args defaults = { 0 }; /* opt_shells begins with bash */

/* clang-format off */
static const struct opt options[] = {
	OPT_CHOICE('s', "shell", "SHELL", struct completions_args, shell, opt_shells,
		"the shell to write for", OPT_GIVEN(struct completions_args, has_shell)),
	OPT_STRING('o', "output", "FILE", struct completions_args, output,
		"where to write; standard output if not given", .is_file = true,
		.details = "The file appears complete or not at all."),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope generate-completions bash >/etc/bash_completion.d/schedscope",
	  "for all users of bash, with the package bash-completion" },
	{ "source <(schedscope generate-completions bash)",
	  "for this bash only, without any package; put it into ~/.bashrc" },
	{ "schedscope generate-completions zsh -o /usr/local/share/zsh/site-functions/_schedscope",
	  "for all users of zsh" },
	{ "schedscope generate-completions fish -o ~/.config/fish/completions/schedscope.fish",
	  "for yourself in fish" },
	{ "eval (schedscope generate-completions elvish | slurp)",
	  "in elvish; put it into ~/.config/elvish/rc.elv" },
	{ "schedscope generate-completions powershell | Out-String | Invoke-Expression",
	  "in PowerShell; put it into $PROFILE" },
	{ 0 },
};
/* clang-format on */

static void write_completions(const void *ctx, FILE *out)
{
	/* The shell was checked when the option was parsed. */
	(void)!opt_print_completion(&cli_program, ctx, out);
}

/* The word without an option, as people write it first. */
static int choose_shell(const struct opt_command *self, const struct opt_list *words,
                        struct completions_args *args)
{
	const char *word = words->nr ? words->items[0] : NULL, *near;
	char hint[96], shown[33];
	struct diag d = { 0 };

	if (!word)
		return CLI_OK;
	if (words->nr > 1 || args->has_shell) {
		diag_set(&d, -EINVAL, "name one", "more than one shell is named");
		return cli_usage_error(self, &d);
	}
	for (int i = 0; opt_shells[i]; i++)
		if (strcmp(opt_shells[i], word) == 0) {
			args->shell = i;
			return CLI_OK;
		}
	near = opt_nearest(word, opt_shells);
	snprintf(hint, sizeof(hint), "did you mean '%s'?", near ? near : "");
	diag_set(&d, -EINVAL, near ? hint : "there are bash, elvish, fish, powershell and zsh",
	         "no completions are written for '%s'",
	         text_printable(shown, sizeof(shown), word, SIZE_MAX));
	return cli_usage_error(self, &d);
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct completions_args args = defaults;
	struct opt_result operands = { 0 };
	struct diag d = { 0 };
	const char *shell;
	int exit_code;

	if (!cli_parse(self, argc, argv, &args, &operands, &exit_code))
		return exit_code;
	exit_code = choose_shell(self, &operands.operands, &args);
	opt_result_done(&operands);
	if (exit_code)
		return exit_code;
	shell = opt_shells[args.shell];
	if (!args.output)
		write_completions(shell, stdout);
	else if (output_write(args.output, write_completions, shell, &d))
		return cli_fail(&d);
	return CLI_OK;
}

const struct opt_command cmd_generate_completions = {
	.name = "generate-completions",
	.summary = "write the completions of a shell",
	.operands = "[SHELL]",
	.operand_list = "shells",
	.description =
		"Writes a script with which a shell completes the commands of schedscope, their options and the values "
		"of options; analyses, cgroups and events of counters are asked of schedscope when they are completed. The script is made from the tables that parse the command line; write it again after an "
		"update.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.run = run,
};
