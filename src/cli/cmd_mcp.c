#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/command.h"
#include "mcp/server.h"
#include "mcp/stdio_link.h"

struct mcp_args {
	bool is_daemon;
	bool is_read_only;
	struct opt_list toolsets;
	struct opt_list allow_paths;
	uint64_t max_traces;
	uint64_t max_trace_mib;
	const char *stats_socket;
	uint64_t pid;
	bool is_layered;
	bool has_logging;
	bool is_verbose;
	bool is_debug;
};

static const struct mcp_args defaults = { 0 };

static const char *const toolset_names[] = { "live", "trace", "profile", NULL };

/* clang-format off */
static const struct opt options[] = {
	OPT_FLAG('d', "daemon", struct mcp_args, is_daemon, "collect live data when something asks for it; needs privileges",
		.heading = "What to offer"),
	OPT_LIST(0, "toolsets", "SET[,...]", struct mcp_args, toolsets, "only these tools and resources: live, trace, profile",
		.choices = toolset_names),
	OPT_FLAG(0, "read-only", struct mcp_args, is_read_only, "offer nothing that changes or writes anything"),
	OPT_LIST(0, "allow-path", "DIR", struct mcp_args, allow_paths, "open traces only below DIR; the working directory if not given"),
	OPT_U64(0, "max-traces", "N", struct mcp_args, max_traces, 1, 1024, "keep so many traces loaded; 16 if not given"),
	OPT_U64(0, "max-trace-mib", "MIB", struct mcp_args, max_trace_mib, 16, 1048576,
		"memory for traces; a quarter of the machine's if not given"),
	OPT_STRING(0, "stats-socket-path", "PATH", struct mcp_args, stats_socket,
		"where a sched_ext scheduler tells its statistics", .is_file = true),
	OPT_U64(0, "process-id", "PID", struct mcp_args, pid, 1, 4194304, "live data of this process only"),
	OPT_FLAG(0, "layered", struct mcp_args, is_layered, "accepted for scxtop's sake: layers are always read"),
	OPT_FLAG('l', "enable-logging", struct mcp_args, has_logging, "accepted for scxtop's sake: messages can always be asked for"),
	OPT_FLAG('v', "verbose", struct mcp_args, is_verbose, "say what is done, on stderr", .heading = "Messages"),
	OPT_FLAG(0, "debug", struct mcp_args, is_debug, "say everything"),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope mcp --allow-path /var/tmp/traces", "let an assistant look at recorded traces" },
	{ "schedscope mcp --daemon", "and at this machine while it runs" },
	{ 0 },
};
/* clang-format on */

static unsigned int toolsets_of(const struct opt_list *names)
{
	unsigned int set = 0;

	for (size_t i = 0; i < names->nr; i++)
		for (size_t k = 0; toolset_names[k]; k++)
			if (strcmp(names->items[i], toolset_names[k]) == 0)
				set |= 1U << k;
	return set;
}

static int serve(const struct mcp_args *args)
{
	struct mcp_cfg cfg = {
		.is_daemon = args->is_daemon,
		.is_read_only = args->is_read_only,
		.toolsets = toolsets_of(&args->toolsets),
		.allow_paths = args->allow_paths.items,
		.nr_allow_paths = args->allow_paths.nr,
		.max_traces = args->max_traces,
		.max_trace_mib = args->max_trace_mib,
		.stats_socket = args->stats_socket,
		.pid = (uint32_t)args->pid,
	};
	struct mcp_server *s = NULL;
	struct diag d = { 0 };
	int err = mcp_server_new(&cfg, &d, &s);

	signal(SIGPIPE, SIG_IGN);
	if (!err)
		err = mcp_stdio_run(s, STDIN_FILENO, STDOUT_FILENO, &d);
	mcp_server_free(s);
	return err ? cli_fail(&d) : CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct mcp_args args = defaults;
	struct opt_result words = { 0 };
	struct diag d = { 0 };
	int exit_code;

	if (cli_parse(self, argc, argv, &args, &words, &exit_code)) {
		if (args.is_verbose)
			log_set_level(LOG_INFO);
		if (args.is_debug)
			log_set_level(LOG_DEBUG);
		if (words.operands.nr) {
			diag_set(&d, -EINVAL, NULL,
			         "mcp takes no operand: traces are loaded by the client");
			exit_code = cli_usage_error(self, &d);
		} else {
			exit_code = serve(&args);
		}
		opt_result_done(&words);
	}
	opt_list_done(&args.toolsets);
	opt_list_done(&args.allow_paths);
	return exit_code;
}

const struct opt_command cmd_mcp = {
	.name = "mcp",
	.summary = "a Model Context Protocol server: the scheduler, explained to an assistant",
	.description =
		"Speaks JSON-RPC on standard input and output, one message per line; nothing else is written there. An assistant can "
		"load recorded traces and ask what they hold, and with --daemon look at this machine: programs are attached while "
		"something needs them, and only then.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.run = run,
};
