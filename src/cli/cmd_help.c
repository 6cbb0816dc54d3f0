#include <errno.h>

#include "cli/command.h"

static const struct opt_example examples[] = {
	{ "schedscope help", "all commands, one line each" },
	{ "schedscope help generate-completions", "one command with its options and examples" },
	{ 0 },
};

static int explain(const struct opt_command *self, const struct opt_list *names)
{
	const struct opt_command *cmd;
	struct diag d = { 0 };

	if (names->nr == 0) {
		opt_print_overview(&cli_program, opt_columns(stdout), stdout);
		return CLI_OK;
	}
	if (names->nr > 1) {
		diag_set(&d, -EINVAL, NULL, "help explains one command at a time");
		return cli_usage_error(self, &d);
	}
	cmd = opt_find_command(&cli_program, names->items[0], &d);
	if (!cmd)
		return cli_usage_error(NULL, &d);
	opt_print_help(&cli_program, cmd, opt_columns(stdout), stdout);
	return CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct opt_result result = { 0 };
	int exit_code;

	if (!cli_parse(self, argc, argv, NULL, &result, &exit_code))
		return exit_code;
	exit_code = explain(self, &result.operands);
	opt_result_done(&result);
	return exit_code;
}

const struct opt_command cmd_help = {
	.name = "help",
	.summary = "explain a command, or list them all",
	.operands = "[COMMAND]",
	.operand = OPT_OPERAND_COMMAND,
	.examples = examples,
	.run = run,
};
