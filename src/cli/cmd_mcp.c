#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/signals.h"
#include "cli/command.h"
#include "cli/mcp_config.h"
#include "collect/bpf_order.h"
#include "http/http_guard.h"
#include "mcp/http/http_link.h"
#include "mcp/server.h"
#include "mcp/stdio_link.h"
#include "mcp/toolset.h"
#include "sys/proc/pid_namespace.h"
#include "sys/rights/broker.h"
#include "sys/scx/scx_stats.h"

/*
 * Tools read other users' processes, list BPF programs and query schedulers; traces are read and
 * written where it was allowed.
 */
#define BROKER_OPS                                                                               \
	(BROKER_BIT(BROKER_OPEN) | BROKER_BIT(BROKER_BPF_STATS) | BROKER_BIT(BROKER_CGROUP) |    \
	 BROKER_BIT(BROKER_BPF_NEXT) | BROKER_BIT(BROKER_BPF_OPEN) | BROKER_BIT(BROKER_SOCKET) | \
	 BROKER_BIT(BROKER_CONNECT) | BROKER_DIRS | BROKER_TRACING | BROKER_BIT(BROKER_UPROBE) | \
	 BROKER_BIT(BROKER_DOCTOR))

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
	bool is_http;
	const char *token_file;
	bool allows_remote;
	struct opt_list hosts;
	struct opt_list origins;
	uint64_t timeout_s;
	int client;
	bool wants_config;
};

static const struct mcp_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	OPT_FLAG('d', "daemon", struct mcp_args, is_daemon, "collect live data when something asks for it; needs privileges",
		.heading = "What to offer"),
	OPT_LIST(0, "toolsets", "SET[,...]", struct mcp_args, toolsets, "only these tools and resources: core, live, trace, profile, full",
		.choices = toolset_names,
		.details = "If not given, the core is listed, and every tool can be called."),
	OPT_FLAG(0, "read-only", struct mcp_args, is_read_only, "offer nothing that changes or writes anything"),
	OPT_LIST(0, "allow-path", "DIR", struct mcp_args, allow_paths, "open traces only below DIR; the working directory if not given"),
	OPT_U64(0, "max-traces", "N", struct mcp_args, max_traces, 1, 1024, "keep at most N traces loaded; 16 if not given"),
	OPT_U64(0, "max-trace-mib", "MIB", struct mcp_args, max_trace_mib, 16, 1048576,
		"memory for traces, and for loading one; a quarter of the machine's if not given"),
	OPT_STRING(0, "stats-socket-path", "PATH", struct mcp_args, stats_socket,
		"where a sched_ext scheduler serves its statistics", .is_file = true),
	OPT_U64(0, "process-id", "PID", struct mcp_args, pid, 1, 4194304, "live data of this process only"),
	OPT_FLAG(0, "layered", struct mcp_args, is_layered, "ignored (scxtop compatibility): layers are always read"),
	OPT_FLAG('l', "enable-logging", struct mcp_args, has_logging,
		"ignored (scxtop compatibility): messages can always be requested"),
	OPT_FLAG(0, "http", struct mcp_args, is_http,
		"listen on ADDR:PORT instead of standard input; 127.0.0.1 and a free port if not given",
		.details = "The address is printed on stderr. Only loopback addresses are "
		"accepted, and only requests that name this machine in Host. As root or with "
		"--daemon every client needs a token: that of --token-file, or a new one in a file "
		"that is named on stderr, readable by this user alone, and removed at the end.", .heading = "Over HTTP"),
	OPT_STRING(0, "token-file", "FILE", struct mcp_args, token_file,
		"require the token in the first line of FILE from every client", .is_file = true),
	OPT_FLAG(0, "allow-remote", struct mcp_args, allows_remote,
		"listen on an address that other machines can reach; needs --token-file"),
	OPT_LIST(0, "allow-host", "NAME", struct mcp_args, hosts, "accept this name in Host besides localhost"),
	OPT_LIST(0, "allow-origin", "ORIGIN", struct mcp_args, origins,
		"accept requests of pages from ORIGIN, such as http://localhost:6274; none if not given"),
	OPT_U64(0, "http-timeout", "SECONDS", struct mcp_args, timeout_s, 1, 3600,
		"drop a client that takes longer to send its request or to read; 30 if not given"),
	OPT_CHOICE(0, "print-config", "CLIENT", struct mcp_args, client, mcp_clients,
		"print the settings that CLIENT needs to use this server with these options, and exit",
		OPT_GIVEN(struct mcp_args, wants_config), .heading = "Setting up a client"),
	OPT_FLAG('v', "verbose", struct mcp_args, is_verbose, "log to stderr what is being done", .heading = "Messages"),
	OPT_FLAG(0, "debug", struct mcp_args, is_debug, "say everything"),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope mcp --allow-path /var/tmp/traces", "let an assistant read recorded traces" },
	{ "schedscope mcp --daemon", "and live data of this machine" },
	{ "schedscope mcp --http 127.0.0.1:8090 --token-file ~/.schedscope-token", "for clients that speak HTTP" },
	{ "schedscope mcp --daemon --print-config claude-code", "the settings for a client" },
	{ 0 },
};
/* clang-format on */

static unsigned int toolsets_of(const struct opt_list *names)
{
	unsigned int set = 0;

	for (size_t i = 0; i < names->nr; i++)
		(void)toolset_add(names->items[i], strlen(names->items[i]), &set);
	return set;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!signal_is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* From here on whatever is printed by mistake goes to stderr: stdout belongs to the protocol. The descriptor of it, or -errno. */
static int claim_stdout(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return err;
	}
	return fd;
}

static int serve_stdio(struct mcp_server *s, int stop_fd, struct diag *d)
{
	SCOPED(scoped_close) int out_fd = claim_stdout();
	struct mcp_stdio_fds fds = { .in = STDIN_FILENO, .out = out_fd, .stop = stop_fd };

	if (out_fd < 0)
		return diag_set(d, out_fd, NULL, "there is no standard output to answer on");
	return mcp_stdio_run(s, &fds, d);
}

/* A client of a privileged server has its privileges: any user of this machine can connect. */
static bool needs_token(const struct mcp_args *args)
{
	return args->is_daemon || geteuid() == 0;
}

/* While there are rights: the port and the token may take them, and whether one is needed depends on them. */
static int open_http(const struct mcp_args *args, const char *address, struct diag *d,
                     struct mcp_http **out)
{
	struct mcp_http_cfg cfg = {
		.address = address,
		.token_file = args->token_file,
		.needs_token = needs_token(args),
		.allows_remote = args->allows_remote,
		.hosts = args->hosts.items,
		.nr_hosts = args->hosts.nr,
		.origins = args->origins.items,
		.nr_origins = args->origins.nr,
		.timeout_s = (unsigned int)args->timeout_s,
	};

	return args->is_http ? mcp_http_open(&cfg, d, out) : 0;
}

static int serve_http(struct mcp_http *h, struct mcp_server *s, int stop_fd, struct diag *d)
{
	struct pollfd stop = { .fd = stop_fd, .events = POLLIN };
	int err = mcp_http_start(h, s, d);

	if (err)
		return err;
	if (mcp_http_token_path(h))
		fprintf(stderr, "schedscope: clients need the token in %s\n",
		        mcp_http_token_path(h));
	fprintf(stderr, "schedscope: listening on %s\n", mcp_http_url(h));
	while (poll(&stop, 1, -1) <= 0)
		;
	return 0;
}

/* Settings that are used later. */
static int start_broker(const struct mcp_args *args, struct diag *d)
{
	int err;

	broker_set_loader(bpf_order_load);
	err = broker_start(BROKER_OPS, d);
	if (!err && broker_allow_socket(args->stats_socket ? args->stats_socket : SCX_STATS_PATH))
		err = diag_set(d, -EINVAL, NULL, "the value of --stats-socket-path is too long");
	return err;
}

static int serve(const struct mcp_args *args, const char *address)
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
		.gives_up_rights = true,
	};
	SCOPED(scoped_close) int stop_fd = open_signals(); /* before there are threads */
	struct mcp_server *s = NULL;
	struct mcp_http *h = NULL;
	struct diag d = { 0 };
	int err = start_broker(args, &d);

	if (!err)
		err = open_http(args, address, &d, &h);
	if (!err)
		err = mcp_server_new(&cfg, &d, &s);

	if (!err && args->is_daemon && !pid_namespace_is_initial())
		log_warn(PID_NAMESPACE_NOTE "; " PID_NAMESPACE_HINT);
	if (!err)
		err = h ? serve_http(h, s, stop_fd, &d) : serve_stdio(s, stop_fd, &d);
	mcp_http_close(h);
	mcp_server_free(s);
	broker_stop();
	return err ? cli_fail(&d) : CLI_OK;
}

/* Without the option that is being obeyed. */
static size_t copy_args(int argc, char **argv, const char **out)
{
	size_t nr = 0;

	out[nr++] = "mcp";
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--print-config") == 0)
			i++;
		else if (strncmp(argv[i], "--print-config=", strlen("--print-config=")) != 0)
			out[nr++] = argv[i];
	}
	return nr;
}

static int make_url(const struct mcp_args *args, const char *address, char *url, size_t size,
                    struct diag *d)
{
	struct http_address at;
	int err = http_address_parse(address, d, &at);

	if (err || !args->is_http)
		return err;
	if (!at.addr.v4.sin_port)
		return diag_set(d, -EINVAL, "write --http 127.0.0.1:8090",
		                "a client has to know the port");
	snprintf(url, size, "http://%s:%u" HTTP_PATH, at.text, ntohs(at.addr.v4.sin_port));
	return 0;
}

static int print_config(const struct mcp_args *args, const char *address, int argc, char **argv)
{
	SCOPED(scoped_free) const char **words = calloc((size_t)argc + 1, sizeof(*words));
	char program[PATH_MAX] = "", url[128] = "";
	struct mcp_config cfg = { .program = program, .args = words };
	const char *where = NULL;
	struct diag d = { 0 };
	int err = make_url(args, address, url, sizeof(url), &d);

	if (!words)
		return CLI_FAILED; /* no memory for a handful of words */
	if (!err && readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		err = diag_set(&d, -ENOENT, "is /proc mounted?", "cannot find this program's path");
	if (!err) {
		cfg.nr_args = copy_args(argc, argv, words);
		cfg.url = url[0] ? url : NULL;
		cfg.has_token = args->token_file || needs_token(args);
		err = mcp_config_print(args->client, &cfg, stdout, &where, &d);
	}
	if (err)
		return cli_fail(&d);
	fprintf(stderr, "For %s.\n", where);
	return CLI_OK;
}

static int run_args(const struct opt_command *self, const struct mcp_args *args,
                    const struct opt_list *operands, int argc, char **argv)
{
	const char *address = operands->nr ? operands->items[0] : NULL;
	struct diag d = { 0 };

	if (operands->nr > (args->is_http ? 1 : 0)) {
		diag_set(&d, -EINVAL, NULL,
		         args->is_http ? "--http takes one address"
		                       : "mcp takes no operands: the client loads traces");
		return cli_usage_error(self, &d);
	}
	if (!args->is_http &&
	    (args->token_file || args->allows_remote || args->hosts.nr || args->origins.nr)) {
		diag_set(
			&d, -EINVAL, "add --http",
			"--token-file, --allow-remote, --allow-host and --allow-origin are about HTTP");
		return cli_usage_error(self, &d);
	}
	for (size_t i = 0; i < args->origins.nr; i++)
		if (!http_is_origin(args->origins.items[i])) {
			diag_set(&d, -EINVAL, "write it as http://localhost:6274",
			         "'%.64s' is not an origin", args->origins.items[i]);
			return cli_usage_error(self, &d);
		}
	if (args->wants_config)
		return print_config(args, address, argc, argv);
	return serve(args, address);
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct mcp_args args = defaults;
	struct opt_result words = { 0 };
	int exit_code;

	if (cli_parse(self, argc, argv, &args, &words, &exit_code)) {
		cli_set_log_level(args.is_verbose, args.is_debug);
		exit_code = run_args(self, &args, &words.operands, argc, argv);
		opt_result_done(&words);
	}
	opt_list_done(&args.toolsets);
	opt_list_done(&args.allow_paths);
	opt_list_done(&args.hosts);
	opt_list_done(&args.origins);
	return exit_code;
}

const struct opt_command cmd_mcp = {
	.name = "mcp",
	.summary = "a Model Context Protocol server: the scheduler, explained to an assistant",
	.description =
		"Speaks JSON-RPC on standard input and output, one message per line, and writes "
		"nothing else there; with --http it listens instead. An assistant can load "
		"recorded traces and query them, and with --daemon measure this machine: BPF "
		"programs are attached only while something needs them.",
	.operands = "[ADDR:PORT]",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.run = run,
};
