#include "cli/command.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "sys/command.h"
#include "sys/proc/proc_tasks.h"

static void print(const struct diag *d)
{
	char line[sizeof(d->what) + sizeof(d->hint) + 128];

	diag_format(d, line, sizeof(line));
	fprintf(stderr, "%s: %s\n", cli_program.name, line);
}

int cli_fail(const struct diag *d)
{
	print(d);
	return CLI_FAILED;
}

int cli_usage_error(const struct opt_command *cmd, const struct diag *d)
{
	struct diag shown = *d;

	if (!shown.hint[0])
		snprintf(shown.hint, sizeof(shown.hint), "see '%s%s%s --help'", cli_program.name,
		         cmd ? " " : "", cmd ? cmd->name : "");
	print(&shown);
	return CLI_USAGE;
}

bool cli_parse(const struct opt_command *cmd, int argc, char **argv, void *cfg,
               struct opt_result *out, int *exit_code)
{
	struct diag d = { 0 };

	if (opt_parse(cmd, argc, argv, cfg, out, &d)) {
		*exit_code = cli_usage_error(cmd, &d);
		return false;
	}
	if (out->old)
		log_warn("-%c is an old name of --%s: letters mean the same in all commands now",
		         out->old->old_name, out->old->long_name);
	if (out->wants_help) {
		opt_result_done(out);
		opt_print_help(&cli_program, cmd, opt_columns(stdout), stdout);
		*exit_code = CLI_OK;
		return false;
	}
	return true;
}

/* Checks the pipe itself: by the time that a write has failed, errno may have been overwritten. */
bool cli_is_reader_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int cli_written(int err, struct diag *d)
{
	if (!err || cli_is_reader_gone())
		return 0;
	return diag_set(d, err, NULL, "cannot write to standard output");
}

int cli_check_pid(uint64_t pid, struct diag *d)
{
	uint32_t tgid = proc_tgid_of((uint32_t)pid);

	if (!tgid)
		return diag_set(d, -ENODATA, "'ps -e' lists them", "there is no process %llu",
		                (unsigned long long)pid);
	if (tgid != pid)
		return diag_set(
			d, -ENODATA,
			"give the process; one thread alone is --tid, where there is that option",
			"%llu is a thread of process %u", (unsigned long long)pid, tgid);
	return 0;
}

int cli_command_words(const struct opt_list *command, struct diag *d, char ***out)
{
	int err;

	if (!command->nr)
		return 0;
	err = command_check(command->items[0], d);
	if (err)
		return err;
	*out = calloc(command->nr + 1, sizeof(char *));
	if (!*out)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (size_t i = 0; i < command->nr; i++)
		(*out)[i] = (char *)command->items[i];
	return 0;
}

void cli_set_log_level(bool is_verbose, bool is_debug)
{
	if (is_verbose)
		log_set_level(LOG_INFO);
	if (is_debug)
		log_set_level(LOG_DEBUG);
}

int cli_run(const struct opt_command *self, int argc, char **argv, void *args, cli_body_fn *body)
{
	struct opt_result words = { 0 };
	int exit_code;

	if (!cli_parse(self, argc, argv, args, &words, &exit_code))
		return exit_code;
	exit_code = body(self, args, &words.operands);
	opt_result_done(&words);
	return exit_code;
}
