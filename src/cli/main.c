#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"

struct main_args {
	bool wants_version;
};

static const struct opt main_options[] = {
	OPT_FLAG('V', "version", struct main_args, wants_version, "show the version"),
	OPT_END,
};

/* A new command is one line here, in the order of --help. */
static const struct opt_command *const commands[] = {
	&cmd_stat, &cmd_doctor, &cmd_generate_completions, &cmd_generate_man, &cmd_help, NULL,
};

const struct opt_program cli_program = {
	.name = "schedscope",
	.version = SCHEDSCOPE_VERSION,
	.date = "2026-11-15",
	.summary = "show what the Linux scheduler does",
	.options = main_options,
	.commands = commands,
};

/* What stands before the command: parsed like a command whose operands are all the rest. */
static const struct opt_command top = {
	.name = "",
	.operands = "COMMAND ...",
	.options = main_options,
	.stops_at_operand = true,
};

/* A full disk shows itself only now; a reader that went away, as in "| head", is no failure. */
static int finish(int exit_code)
{
	struct diag d = { 0 };

	if (fflush(stdout) == 0 && !ferror(stdout))
		return exit_code;
	if (exit_code != CLI_OK || cli_is_reader_gone()) /* has been told, or need not be */
		return exit_code;
	diag_set(&d, errno ? -errno : -EIO, NULL, "cannot write to standard output");
	return cli_fail(&d);
}

/* Without a command: a look at what the scheduler does right now, that ends by itself. */
static int run_default(void)
{
	static char stat[] = "stat", run_time[] = "--run-time=5";
	static char few[] = "--top=5", brief[] = "--run-time=2", brief_once[] = "--interval=2";
	char *on_terminal[] = { stat, run_time, NULL };
	char *elsewhere[] = { stat, brief, brief_once, few, NULL };

	if (isatty(STDOUT_FILENO))
		return cmd_stat.run(&cmd_stat, 2, on_terminal);
	return cmd_stat.run(&cmd_stat, 4, elsewhere);
}

static int run(int argc, char **argv)
{
	struct main_args args = { 0 };
	struct opt_result result = { 0 };
	const struct opt_command *cmd;
	struct diag d = { 0 };
	int nr_rest;

	if (opt_parse(&top, argc, argv, &args, &result, &d))
		return cli_usage_error(NULL, &d);
	nr_rest = (int)result.operands.nr;
	opt_result_done(&result);
	if (args.wants_version) {
		printf("%s %s\n", cli_program.name, cli_program.version);
		return CLI_OK;
	}
	if (result.wants_help) {
		opt_print_overview(&cli_program, opt_columns(stdout), stdout);
		return CLI_OK;
	}
	if (nr_rest == 0)
		return run_default();
	argv += argc - nr_rest;
	cmd = opt_find_command(&cli_program, argv[0], &d);
	return cmd ? cmd->run(cmd, nr_rest, argv) : cli_usage_error(NULL, &d);
}

int main(int argc, char **argv)
{
	return finish(run(argc, argv));
}
