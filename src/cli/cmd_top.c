#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/top_analyses.h"
#include "cli/top_record.h"
#include "cli/top_replay.h"
#include "cli/top_report.h"
#include "cli/top_words.h"
#include "cli/trace_args.h"
#include "collect/bpf_order.h"
#include "machine/machine_source.h"
#include "sys/rights/broker.h"
#include "sys/rights/privilege.h"
#include "tui/config.h"
#include "tui/loop.h"
#include "tui/task_filter.h"

#define MS_NS   1000000ULL
#define HOUR_MS 3600000ULL
#define KEEP_NS (5000 * MS_NS) /* of a flight recorder that is armed without a time */

/* Views look into other users' processes, list BPF programs, read meters, ask schedulers and attach programs when they are shown. */
#define BROKER_OPS                                                                               \
	(BROKER_BIT(BROKER_OPEN) | BROKER_BIT(BROKER_BPF_STATS) | BROKER_BIT(BROKER_CGROUP) |    \
	 BROKER_BIT(BROKER_BPF_NEXT) | BROKER_BIT(BROKER_BPF_OPEN) | BROKER_BIT(BROKER_SOCKET) | \
	 BROKER_BIT(BROKER_CONNECT) | BROKER_TRACING)

struct top_args {
	uint64_t tick_ms, frame_ms;
	bool has_tick, has_frame;
	int is_debug, has_no_bpf;
	bool has_debug, has_bpf_choice;
	const char *stats_socket, *trace_prefix, *process, *cgroup, *by, *event;
	uint64_t duration_ms, warmup_ms, keep_ns;
	bool has_duration, has_warmup, is_keep_given;
	struct opt_list perf_events;
	const char *theme;
	uint64_t long_tail_ns;
	const char *long_tail_symbol, *long_tail_binary;
	bool is_long_tail;
	bool is_mango;
	uint64_t mango_ms;
	const char *mango_path;
	/* Only accepted. */
	uint64_t trace_ticks, trace_tick_warmup, workers;
	bool has_trace_ticks, has_trace_tick_warmup, has_workers;
	bool is_layered;
};

static const char *const bool_names[] = { "false", "true", NULL };
static const struct top_args defaults = { .long_tail_ns = 100 * MS_NS, .mango_ms = 1000 };

/* clang-format off */
static const struct opt options[] = {
	OPT_U64('r', "tick-rate-ms", "MS", struct top_args, tick_ms, CONFIG_TICK_MIN_MS, CONFIG_TICK_MAX_MS,
		"time between measurements; 250 if not given", OPT_GIVEN(struct top_args, has_tick), .heading = "What is shown"),
	OPT_U64('f', "frame-rate-ms", "MS", struct top_args, frame_ms, 0, UINT32_MAX,
		"time between frames, from 15 to 5000; 250 if not given", OPT_GIVEN(struct top_args, has_frame)),
	OPT_STRING(0, "process-id", "PID", struct top_args, process, "only this process; -1 is all"),
	OPT_STRING(0, "cgroup", "PATTERN", struct top_args, cgroup,
		"list only tasks in matching cgroups, or below: a path or name, with * and ?, or /REGEX/",
		.details = "In the hierarchy that has the controller cpu. It is the filter cgroup:PATTERN, which the key / changes."),
	OPT_STRING(0, "by", "WHAT", struct top_args, by,
		"what a row of the blame view adds up: comm (tasks of one name) if not given, thread, process, cgroup, class"),
	OPT_STRING(0, "default-profiling-event", "SOURCE:EVENT", struct top_args, event,
		"shown of each CPU at the start: cpu:cpu_total_util_percent if not given, perf:SUBSYSTEM:EVENT, kprobe:FUNCTION; j and k change it"),
	OPT_LIST(0, "perf-events", "NAME:0xCONFIG:TYPE", struct top_args, perf_events,
		"further events for j and k, by the numbers of perf: type 4 is the CPU's own codes"),
	OPT_CHOICE('e', "exclude-bpf", "BOOL", struct top_args, has_no_bpf, bool_names,
		"measure without BPF, from /proc alone; true if no value is given", OPT_GIVEN(struct top_args, has_bpf_choice)),
	OPT_STRING(0, "theme", "NAME", struct top_args, theme, "colours; the key t shows them one after the other"),
	OPT_STRING('t', "trace-file-prefix", "PATH", struct top_args, trace_prefix,
		"how the names of recorded traces begin; scxtop_trace if not given", .is_file = true, .heading = "Traces"),
	OPT_U64(0, "trace-duration-ms", "MS", struct top_args, duration_ms, 10, HOUR_MS,
		"how long a key records; 1250 if not given", OPT_GIVEN(struct top_args, has_duration)),
	OPT_DURATION(0, "keep", "TIME", struct top_args, keep_ns, 1000 * MS_NS, 0, HOUR_MS * MS_NS,
		"arm the flight recorder: keep the last TIME in memory, so that P saves what led up to it; 0 leaves it off",
		OPT_GIVEN(struct top_args, is_keep_given),
		.details = "It is off if this is not given. The key R arms it, for 5s or this TIME, and ends it."),
	OPT_FLAG(0, "experimental-long-tail-tracing", struct top_args, is_long_tail,
		"write the buffered events whenever a call of a function takes too long; needs the next two"),
	OPT_STRING(0, "experimental-long-tail-tracing-symbol", "NAME", struct top_args, long_tail_symbol, "the function"),
	OPT_STRING(0, "experimental-long-tail-tracing-binary", "FILE", struct top_args, long_tail_binary,
		"the program or library that contains the function", .is_file = true),
	OPT_U64(0, "experimental-long-tail-tracing-min-latency-ns", "NS", struct top_args, long_tail_ns, 1, UINT64_MAX,
		"the duration above which a call is too long"),
	OPT_FLAG(0, "mangoapp-tracing", struct top_args, is_mango,
		"always read the frames of a game; otherwise only while they are shown (key m)", .heading = "Frames of games"),
	OPT_U64(0, "mangoapp-poll-intvl-ms", "MS", struct top_args, mango_ms, 1, HOUR_MS,
		"time between two reads of mangoapp's queue; at least the time between measurements"),
	OPT_STRING(0, "mangoapp-path", "PATH", struct top_args, mango_path,
		"the file that the key of the queue is made from; mangoapp if not given", .is_file = true),
	OPT_CHOICE('d', "debug", "BOOL", struct top_args, is_debug, bool_names,
		"log everything, in the log of the screen; true if no value is given",
		OPT_GIVEN(struct top_args, has_debug), .heading = "Other"),
	OPT_STRING('s', "stats-socket-path", "PATH", struct top_args, stats_socket,
		"where a scheduler serves its statistics (scx_stats)", .is_file = true),

	OPT_U64(0, "trace-warmup-ms", "MS", struct top_args, warmup_ms, 0, HOUR_MS,
		"ignored (scxtop compatibility): recordings need no warm-up", OPT_GIVEN(struct top_args, has_warmup),
		.heading = "Accepted without effect, with a warning"),
	OPT_U64(0, "trace-ticks", "N", struct top_args, trace_ticks, 0, UINT64_MAX, "see --trace-duration-ms",
		OPT_GIVEN(struct top_args, has_trace_ticks)),
	OPT_U64(0, "trace-tick-warmup", "N", struct top_args, trace_tick_warmup, 0, UINT64_MAX, "recordings need no warm-up",
		OPT_GIVEN(struct top_args, has_trace_tick_warmup)),
	OPT_U64(0, "worker-threads", "N", struct top_args, workers, 2, 127, "there are no worker threads",
		OPT_GIVEN(struct top_args, has_workers)),
	OPT_FLAG(0, "layered", struct top_args, is_layered, "layers of scx_layered"),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope", "the same as schedscope top, on a terminal" },
	{ "schedscope top -r 1000 --theme Nord", "calmer" },
	{ "schedscope top --keep 1m", "with the flight recorder: P, a and w write the last minute" },
	{ "schedscope top --exclude-bpf", "without root" },
	{ "schedscope top --default-profiling-event perf:sw:page-faults --process-id 4711", "where a process has its page faults" },
	{ "schedscope top trace.pftrace", "a recording, played: Space pauses, Left and Right seek" },
	{ 0 },
};
/* clang-format on */

static void warn_of_dead(const struct top_args *a)
{
	const struct {
		bool is_given;
		const char *option, *why;
	} dead[] = {
		{ a->has_warmup, "trace-warmup-ms", "recordings need no warm-up" },
		{ a->has_trace_ticks, "trace-ticks", "use --trace-duration-ms" },
		{ a->has_trace_tick_warmup, "trace-tick-warmup", "recordings need no warm-up" },
		{ a->has_workers, "worker-threads", "there are no worker threads" },
	};

	for (size_t i = 0; i < sizeof(dead) / sizeof(dead[0]); i++)
		if (dead[i].is_given)
			log_warn("--%s has no effect: %s", dead[i].option, dead[i].why);
}

static int take_text(const char *from, char *to, size_t size, const char *option, struct diag *d)
{
	if (!from)
		return 0;
	if (strlen(from) >= size)
		return diag_set(d, -EINVAL, NULL, "the value of --%s is too long", option);
	memcpy(to, from, strlen(from) + 1);
	return 0;
}

static int apply_events(const struct top_args *a, struct config *c, struct diag *d)
{
	struct event_word parsed;
	int err = a->event ? event_word_parse(a->event, &parsed, d) : 0;

	if (!err)
		err = take_text(a->event, c->default_event, sizeof(c->default_event),
		                "default-profiling-event", d);
	if (a->perf_events.nr)
		c->events.nr = 0;
	for (size_t i = 0; !err && i < a->perf_events.nr; i++)
		err = config_add_event(c, a->perf_events.items[i], d);
	return err == -E2BIG ? -EINVAL : err;
}

/* The command line overrides the file. */
static int apply(const struct top_args *a, struct config *c, struct diag *d)
{
	const struct theme *theme = a->theme ? theme_find(a->theme) : c->theme;
	int err;

	if (!theme)
		return diag_set(d, -EINVAL, "the key t shows all of them",
		                "there is no theme '%.40s'", a->theme);
	c->theme = theme;
	if (a->has_tick)
		c->tick_ms = (uint32_t)a->tick_ms;
	if (a->has_frame)
		c->frame_ms = a->frame_ms < CONFIG_FRAME_MIN_MS   ? CONFIG_FRAME_MIN_MS
		              : a->frame_ms > CONFIG_FRAME_MAX_MS ? CONFIG_FRAME_MAX_MS
		                                                  : (uint32_t)a->frame_ms;
	if (a->has_duration)
		c->trace_duration_ms = (uint32_t)a->duration_ms;
	if (a->has_warmup)
		c->trace_warmup_ms = (uint32_t)a->warmup_ms;
	if (a->has_debug)
		c->is_debug = a->is_debug == 1;
	if (a->has_bpf_choice)
		c->has_no_bpf = a->has_no_bpf == 1;
	err = take_text(a->trace_prefix, c->trace_prefix, sizeof(c->trace_prefix),
	                "trace-file-prefix", d);
	if (!err)
		err = take_text(a->stats_socket, c->stats_socket, sizeof(c->stats_socket),
		                "stats-socket-path", d);
	return err ? err : apply_events(a, c, d);
}

/* A process of a recording need not live. */
static int process_of(const struct top_args *a, const char *file, uint32_t *out, struct diag *d)
{
	uint64_t pid = 0;

	*out = 0;
	if (!a->process || strcmp(a->process, "-1") == 0)
		return 0;
	if (!text_to_u64(a->process, &pid) || !pid || pid > 4194304)
		return diag_set(d, -EINVAL, "give the number of a process, or -1 for all",
		                "--process-id=%.40s is not a process", a->process);
	*out = (uint32_t)pid;
	return file ? 0 : cli_check_pid(pid, d);
}

/* The words of the screen's filter; "" = none. */
static int filter_of(const struct top_args *a, char text[TASK_FILTER_TEXT], struct diag *d)
{
	text[0] = '\0';
	if (!a->cgroup)
		return 0;
	if (!*a->cgroup || strchr(a->cgroup, ' ') ||
	    (size_t)snprintf(text, TASK_FILTER_TEXT, "cgroup:%s", a->cgroup) >= TASK_FILTER_TEXT)
		return diag_set(d, -EINVAL, "shorten it with *, and write ? for a space",
		                "--cgroup takes up to %zu letters without spaces",
		                TASK_FILTER_TEXT - sizeof("cgroup:"));
	return 0;
}

struct live_top {
	struct machine_source *source;
	struct top_analyses *analyses;
	bool is_mango;
	struct top_record record;
	struct top_report report;
};

static int refresh(void *ctx, const struct machine_request *request, struct diag *d,
                   const struct machine **out)
{
	struct live_top *top = ctx;
	struct machine_request own = *request;
	int err;

	if (top->is_mango)
		own.needs |= MACHINE_GAME;
	err = machine_source_refresh(top->source, &own, d, out);
	if (!err)
		top_analyses_show(top->analyses, request, out);
	return err;
}

static int record(void *ctx, char *text, size_t size, struct diag *d)
{
	return top_record_start(&((struct live_top *)ctx)->record, text, size, d);
}

static int report(void *ctx, char *text, size_t size, struct diag *d)
{
	struct live_top *top = ctx;
	int err = top_record_start(&top->record, text, size, d);

	top->report.is_wanted |= !err;
	return err;
}

static bool message(void *ctx, char *text, size_t size)
{
	struct live_top *top = ctx;

	if (!top_record_message(&top->record, text, size))
		return top_report_message(&top->report, text, size);
	top_report_see(&top->report, &top->record.helper, text);
	return true;
}

static int arm(void *ctx, char *text, size_t size, struct diag *d)
{
	return top_record_arm(&((struct live_top *)ctx)->record, text, size, d);
}

static double kept(void *ctx, double *cpu)
{
	return top_record_kept(&((struct live_top *)ctx)->record, cpu);
}

static int save(void *ctx, const char *text, struct diag *d, char path[PATH_MAX])
{
	return top_helper_save(&((struct live_top *)ctx)->record.helper, text, d, path);
}

#define TRIGGER_LEN 4600U

/* What the recorder writes without a key; "" = nothing. */
static int trigger_of(const struct top_args *a, char text[TRIGGER_LEN], struct diag *d)
{
	text[0] = '\0';
	if (a->keep_ns && a->keep_ns < 100 * MS_NS)
		return diag_set(d, -EINVAL, "give 100ms or more, or 0", "--keep is too short");
	if (!a->is_long_tail)
		return 0;
	if (!a->long_tail_symbol || !a->long_tail_binary)
		return diag_set(d, -EINVAL,
		                "give --experimental-long-tail-tracing-symbol and "
		                "--experimental-long-tail-tracing-binary",
		                "--experimental-long-tail-tracing needs a function to watch");
	if (a->is_keep_given && !a->keep_ns)
		return diag_set(d, -EINVAL, "leave --keep=0 out",
		                "--experimental-long-tail-tracing writes the buffered events");
	snprintf(text, TRIGGER_LEN, "uprobe:%.4096s:%.256s>%lluns", a->long_tail_binary,
	         a->long_tail_symbol, (unsigned long long)a->long_tail_ns);
	return 0;
}

/* The kernel may verify programs for seconds. They end with the processes that hold them: a shell need not wait for that. */
static void leave_early(int err, const struct machine_source *source)
{
	if (err || !source || !machine_source_is_attaching(source))
		return;
	(void)fflush(NULL);
	_exit(0);
}

static int show(const struct top_args *a, struct config *config, const char *trigger,
                const struct top_tasks *tasks, struct diag *d)
{
	const uint64_t keep_ns = a->keep_ns ? a->keep_ns : KEEP_NS;
	struct machine_source_cfg cfg = { .is_proc_only = config->has_no_bpf,
		                          .is_layered = a->is_layered,
		                          .tgid = tasks->tgid,
		                          .stats_socket = config->stats_socket,
		                          .mango_path = a->mango_path,
		                          .mango_poll_ms = (uint32_t)a->mango_ms };
	struct live_top top = { .is_mango = a->is_mango,
		                .record = {
					.is_armed_at_start = a->keep_ns || trigger[0],
					.helper = { .prefix = config->trace_prefix,
		                                    .duration_ms = config->trace_duration_ms,
		                                    .keep_ms = (uint32_t)(keep_ns / MS_NS),
		                                    .trigger = trigger[0] ? trigger : NULL } } };
	struct loop_cfg loop = { .config = config,
		                 .ctx = &top,
		                 .refresh = refresh,
		                 .record = record,
		                 .report = report,
		                 .arm = arm,
		                 .kept = kept,
		                 .message = message,
		                 .save = save,
		                 .filter = tasks->filter };
	int err;

	broker_set_loader(bpf_order_load);
	err = broker_start(BROKER_OPS, d);
	if (!err)
		err = broker_allow_socket(config->stats_socket);
	if (!err)
		err = top_record_open(&top.record, d);
	if (!err)
		err = privilege_drop_but_seeing(d);
	if (!err)
		err = machine_source_open(&cfg, d, &top.source);
	if (!err)
		top.analyses = top_analyses_new(NULL, tasks->by);
	if (!err)
		err = loop_run(&loop, d);
	top_analyses_free(top.analyses);
	top_report_close(&top.report);
	top_record_close(&top.record);
	leave_early(err, top.source);
	machine_source_close(top.source);
	broker_stop();
	return err;
}

/* What 'schedscope' shows where there is no terminal; the exit code. */
static int summarize(void)
{
	static char stat[] = "stat", run_time[] = "--run-time=2", once[] = "--interval=2",
		    few[] = "--top=5";
	char *words[] = { stat, run_time, once, few, NULL };

	return cmd_stat.run(&cmd_stat, 4, words);
}

static int run_args(const struct opt_command *self, const struct top_args *a, const char *file)
{
	struct config config;
	struct diag d = { 0 };
	char trigger[TRIGGER_LEN];
	char filter[TASK_FILTER_TEXT];
	struct top_tasks tasks = { .filter = filter };
	int err;

	if (file && !isatty(STDOUT_FILENO)) /* no settings matter */
		return top_replay_summary(file);
	config_init(&config);
	warn_of_dead(a);
	err = process_of(a, file, &tasks.tgid, &d);
	if (!err)
		err = filter_of(a, filter, &d);
	if (!err && a->by)
		err = trace_args_by(a->by, &d, &tasks.by);
	if (!err)
		err = trigger_of(a, trigger, &d);
	if (!err)
		err = config_load(&config, &d);
	if (!err)
		err = apply(a, &config, &d);
	if (err) {
		config_done(&config);
		return err == -EINVAL ? cli_usage_error(self, &d) : cli_fail(&d);
	}
	cli_set_log_level(false, config.is_debug);
	if (!isatty(STDOUT_FILENO)) {
		err = summarize();
	} else {
		err = file ? top_replay(file, &config, &tasks, &d)
		           : show(a, &config, trigger, &tasks, &d);
		if (err)
			err = cli_fail(&d);
	}
	config_done(&config);
	return err;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct top_args args = defaults;
	struct opt_result operands = { 0 };
	SCOPED(scoped_free) char **words = NULL;
	struct diag d = { 0 };
	int exit_code;

	if (top_words(argc, argv, &words, &argc))
		return diag_set(&d, -ENOMEM, NULL, "out of memory"), cli_fail(&d);
	if (cli_parse(self, argc, words, &args, &operands, &exit_code)) {
		if (operands.operands.nr > 1) {
			diag_set(&d, -EINVAL, NULL, "one file at a time");
			exit_code = cli_usage_error(self, &d);
		} else {
			exit_code = run_args(self, &args,
			                     operands.operands.nr ? operands.operands.items[0]
			                                          : NULL);
		}
		opt_result_done(&operands);
	}
	opt_list_done(&args.perf_events);
	return exit_code;
}

const struct opt_command cmd_top = {
	.name = "top",
	.alias = "tui",
	.summary = "full-screen view of the scheduler, live or from a recording",
	.operands = "[FILE]",
	.description =
		"Shows CPUs, caches, nodes, processes, threads, queues of sched_ext and more, refreshed "
		"continuously, with the keys of scxtop; h lists them. Without a terminal it prints one "
		"summary.\n\n"
		"With FILE, any trace that 'schedscope analyze' accepts, the same views play what was "
		"recorded: Space pauses and plays, Left and Right go by one interval, ( and ) by ten, ^ and $ "
		"to the ends, { and } halve and double the speed. It needs no privilege. Data that no "
		"recording has, such as memory, is not shown. Without a terminal it prints the summary of the "
		"file.\n\n"
		"Settings come from config.toml in $XDG_CONFIG_HOME/schedscope (else ~/.config/schedscope), or "
		"from scxtop's own file where that one is missing; the key S saves them. The command line "
		"overrides the file.\n\n"
		"NO_COLOR switches colours off; COLORTERM=truecolor enables all of them.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
