#include <limits.h>

#include "cli/command.h"
#include "cli/output.h"

struct man_args {
	const char *output;
};

static const struct man_args defaults = { .output = "." };

static const struct opt options[] = {
	OPT_STRING('o', "output", "DIR", struct man_args, output, "the folder to write into",
	           .is_file = true),
	OPT_END,
};

static void write_page(const void *ctx, FILE *out)
{
	opt_print_man(&cli_program, ctx, out);
}

static int write_pages(const char *dir, struct diag *d)
{
	const struct opt_command *const *cmd;
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%s/%s.1", dir, cli_program.name);
	err = output_write(path, write_page, NULL, d);
	for (cmd = cli_program.commands; *cmd && !err; cmd++) {
		if ((*cmd)->is_hidden)
			continue;
		snprintf(path, sizeof(path), "%s/%s-%s.1", dir, cli_program.name, (*cmd)->name);
		err = output_write(path, write_page, *cmd, d);
	}
	return err;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct man_args args = defaults;
	struct opt_result operands = { 0 };
	struct diag d = { 0 };
	int exit_code;

	if (!cli_parse(self, argc, argv, &args, &operands, &exit_code))
		return exit_code;
	opt_result_done(&operands);
	return write_pages(args.output, &d) ? cli_fail(&d) : CLI_OK;
}

/* For the build, which installs the pages. */
const struct opt_command cmd_generate_man = {
	.name = "generate-man",
	.summary = "write the manual pages of all commands",
	.options = options,
	.defaults = &defaults,
	.is_hidden = true,
	.run = run,
};
