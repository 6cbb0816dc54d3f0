#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cgroup_pattern.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/match.h"
#include "base/name_pattern.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/stat_blame.h"
#include "cli/stat_lists.h"
#include "cli/trace_args.h"
#include "render/in_place.h"
#include "render/stat/stat_json.h"
#include "render/stat/stat_screen.h"
#include "render/stat/stat_text.h"
#include "stat/report/stat_report.h"
#include "stat/stat_machine.h"
#include "stat/stat_patterns.h"
#include "stat/stat_session.h"
#include "sys/pmu/pmu.h"
#include "sys/proc/proc_tasks.h"
#include "sys/rights/broker.h"

#define US_NS              1000ULL
#define SECOND_NS          1000000000ULL
#define YEAR_NS            (366ULL * 86400 * SECOND_NS)
#define REPORT_ARENA_BYTES ((size_t)256 * 1024 * 1024)
#define BLAME_ROWS         10U

struct stat_args {
	bool is_detailed;
	bool is_per_thread;
	uint64_t interval_ns;
	uint64_t run_time_ns;
	struct opt_list comm;
	struct opt_list global_comm;
	struct opt_list cgroup;
	uint64_t pid;
	uint64_t tid;
	uint64_t min_latency_ns;
	struct opt_list groups;
	bool wants_perf_list;
	const char *topology;
	bool wants_topology;
	bool is_json;
	int by;
	bool has_by;
	bool is_interval_only;
	bool has_histogram;
	uint64_t top;
	int sort;
	uint64_t outlier_ns;
	bool wants_blame;
	bool wants_tables;
	bool is_verbose;
	bool is_debug;
	bool is_scx_by_kprobe;
};

static const char *const by_names[] = { "comm", "tid", "tgid", "cgroup", NULL }; /* enum tally_by */

static const struct stat_args defaults = { .interval_ns = SECOND_NS };

#define PID_MAX 4194304 /* the kernel's own limit on 64-bit machines */

/* clang-format off */
static const struct opt options[] = {
	OPT_LIST('g', "group", "GROUP[,...]", struct stat_args, groups,
		"groups of metrics: latency (default), slice, sleep, perf, schedstat, migration, waking, dsq, most, all",
		.choices = stat_group_names, .heading = "What to measure",
		.details =
		"latency: from wakeup, or from being preempted, to running; queue depth at wakeup. slice: time on a CPU "
		"until it sleeps or is preempted. sleep: time asleep, by state; idle time of CPUs. perf: instructions "
		"per cycle; perf=EVENT any event of --perf-list, perf=rHEX a raw one. schedstat: the kernel's own "
		"counters of load balancing. "
		"migration: moves between CPUs per second, across caches and nodes. "
		"waking: from sched_waking to running, so including the way to the CPU. "
		"dsq: dispatch queues of a sched_ext scheduler: from the insertion to running, slices, depth, vtime. "
		"most is all but waking and dsq."),
	OPT_DURATION(0, "outliers", "TIME", struct stat_args, outlier_ns, US_NS, US_NS, YEAR_NS,
		"list single waits of at least TIME, such as 5ms, and what held the CPU meanwhile",
		.details = "A number alone is microseconds."),
	OPT_FLAG(0, "blame", struct stat_args, wants_blame,
		"which tasks kept which others waiting, in each interval",
		.details =
		"Every part of every wait, also of those that last, is added up by which task waited and what for: other tasks (with "
		"their shares), quotas of cgroups (throttled), the hypervisor (stolen), interrupts, CPUs that were idle, dispatch "
		"queues; what is unknown is said. Rows are by --by. -p, --tid, -c and --cgroup (here a path or a name with * and ?) "
		"choose the victims; anyone may be blamed. This records every switch and wakeup in memory, so it costs what "
		"record costs and not what stat costs: docs/performance.md has figures."),
	OPT_DURATION('i', "interval", "SECONDS", struct stat_args, interval_ns, SECOND_NS, SECOND_NS / 10,
		86400 * SECOND_NS, "time between reports; also 500ms, 2m"),
	OPT_DURATION('r', "run-time", "SECONDS", struct stat_args, run_time_ns, SECOND_NS, SECOND_NS / 100,
		YEAR_NS, "stop after this time; until Ctrl-C if not given"),

	OPT_U64('p', "pid", "PID", struct stat_args, pid, 1, PID_MAX,
		"only this process, with all its threads", .heading = "Which tasks to measure"),
	OPT_U64(0, "tid", "TID", struct stat_args, tid, 1, PID_MAX, "only this thread"),
	OPT_LIST('c', "comm", "PATTERN", struct stat_args, comm,
		"only threads whose name matches: a part of it, a glob with * and ?, or /REGEX/",
		.details = "Without *, ? and slashes it is a part of the name, as in rsched; a glob is about all of it. What only makes sense "
			   "as a regular expression, such as nginx|php, is taken as one without the slashes too, and a line says so."),
	OPT_LIST(0, "cgroup", "PATTERN", struct stat_args, cgroup,
		"only cgroups whose name or path matches, with all below", .list = "cgroups",
		.details = "In the hierarchy that has the controller cpu. The word root means the root cgroup alone. Patterns are as for the "
			   "names of threads. If no cgroup has matched until the end, the exit status is 1."),
	OPT_LIST(0, "global-comm", "PATTERN", struct stat_args, global_comm,
		"also threads whose name matches, whatever --comm and --cgroup say",
		.details = "Without --comm or --cgroup it changes nothing."),
	OPT_DURATION('l', "min-latency", "TIME", struct stat_args, min_latency_ns, US_NS, 0, YEAR_NS,
		"hide threads and CPUs whose median scheduling delay is below TIME, such as 100us",
		.details = "A number alone is microseconds. Threads are judged one by one, by their delays since the start, before rows are merged. "
			   "Works with the group latency only; tables of counters are not affected."),

	OPT_CHOICE(0, "by", "KEY", struct stat_args, by, by_names,
		"what a row stands for", OPT_GIVEN(struct stat_args, has_by), .heading = "How to show it",
		.details = "comm: all threads of one name. tid: one thread. tgid: one process. cgroup: one cgroup."),
	OPT_FLAG('C', "no-collapse", struct stat_args, is_per_thread, "one row per thread: --by tid"),
	OPT_FLAG('d', "detailed", struct stat_args, is_detailed,
		"all threads and CPUs, one row each, in one list"),
	OPT_FLAG(0, "interval-only", struct stat_args, is_interval_only,
		"show the last interval alone instead of everything since the start"),
	OPT_U64(0, "top", "N", struct stat_args, top, 1, UINT32_MAX - 1,
		"rows per class of severity, or per table without classes; 10 if not given, 20 for events, all for --json"),
	OPT_CHOICE(0, "sort", "KEY", struct stat_args, sort, stat_sort_names, "what rows are sorted by",
		.details = "default is p90; for slices the share of preemptions, for cycles their rate. name is "
		"ascending, all others descending."),
	OPT_FLAG(0, "histogram", struct stat_args, has_histogram, "draw the distributions as bars"),
	OPT_FLAG(0, "rsched", struct stat_args, wants_tables, "all tables, by class of severity, also on a terminal",
		.details = "On a terminal stat is one screen: the machine, waits that last, then tasks by the time that they waited for a CPU. "
			   "All tables come where standard output is no terminal, with this option, and with any that is about tables: "
			   "-g, -d, -C, -l, --sort, --histogram, --outliers, --global-comm, --topology."),
	OPT_FLAG(0, "json", struct stat_args, is_json, "one JSON object per interval, for programs"),

	OPT_FLAG(0, "perf-list", struct stat_args, wants_perf_list, "list the events of this machine and exit",
		.heading = "Other"),
	OPT_STRING(0, "topology", "FILE", struct stat_args, topology,
		"take caches and nodes from FILE rather than from this machine", .is_file = true),
	OPT_FLAG(0, "gen-topology", struct stat_args, wants_topology, "write such a file for this machine to stdout and exit"),
	OPT_FLAG('v', "verbose", struct stat_args, is_verbose, "log to stderr what is being done"),
	OPT_FLAG(0, "debug", struct stat_args, is_debug, "log everything, including the kernel's verifier"),
	OPT_FLAG(0, "scx-by-kprobe", struct stat_args, is_scx_by_kprobe,
		"behave as on kernels without fentry", .is_hidden = true),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope stat", "which tasks wait for a CPU, and for how long; a report per second" },
	{ "schedscope stat -p 4711 -g latency,slice -r 10", "ten seconds of one process" },
	{ "schedscope stat --outliers 5ms", "each wait above 5 ms, and what had the CPU meanwhile" },
	{ "schedscope stat --blame --by cgroup -i 5", "which cgroups keep which others waiting, every five seconds" },
	{ "schedscope stat --by cgroup --interval-only --json", "for a program that draws graphs" },
	{ "schedscope stat -g sleep --histogram -c '/nginx|php/' -r 30 -i 30", "how long workers sleep" },
	{ 0 },
};
/* clang-format on */

/* Of the options that choose tasks by name, as regular expressions. */
struct stat_names {
	struct stat_patterns comm;
	struct stat_patterns global_comm;
	struct stat_patterns cgroup;
};

static void scoped_stat_names(struct stat_names *n)
{
	stat_patterns_done(&n->comm);
	stat_patterns_done(&n->global_comm);
	stat_patterns_done(&n->cgroup);
}

/* What a report needs besides its input. */
struct shower {
	const struct stat_args *args;
	struct arena *mem;
	bool is_terminal;
	bool is_screen; /* one that fits, not all tables */
	bool has_drawn; /* such a screen */
	bool is_utf8;
	struct stat_machine machine;
	bool has_cgroup; /* one has matched at some time */
	bool has_rows;   /* a task has been seen that was asked for */
	struct stat_session *session;
	struct diag *d;
};

/* A word that is an event without saying perf=: one that a PMU of this machine, or an alias, has. */
static bool is_bare_event(void *ctx, const char *name)
{
	SCOPED(pmu_events_done) struct pmu_events events = { 0 };
	int err = pmu_resolve(&pmu_paths_default, name, false, NULL, &events);

	(void)ctx;
	return err == -ENOTSUP || (!err && events.items[0].pmu[0]);
}

static enum tally_by display_of(const struct stat_args *args)
{
	if (args->has_by)
		return (enum tally_by)args->by;
	return args->is_detailed || args->is_per_thread ? TALLY_BY_TID : TALLY_BY_COMM;
}

/* The reader of our output has exited: the summary goes to stderr. */
static void report_end(const struct stat_report_in *in)
{
	fprintf(stderr, "schedscope: the output was closed after %.1f s: %llu events, %llu lost\n",
	        in->elapsed_s, (unsigned long long)stat_pairs_total(&in->own.events),
	        (unsigned long long)stat_pairs_total(&in->own.lost));
}

/* As large as the terminal is now. The last one is about the whole run, and stays. */
static int print_screen(struct shower *sh, const struct stat_report *report, bool is_final,
                        FILE *out)
{
	const struct stat_args *args = sh->args;
	char next[96];
	struct stat_screen_cfg cfg = {
		.width = trace_args_width(),
		.height = trace_args_height(),
		.is_utf8 = sh->is_utf8,
		.is_colored = trace_args_is_colored(),
		.next = is_final && !args->cgroup.nr
		                ? stat_blame_command((uint32_t)args->pid, (uint32_t)args->tid,
		                                     &args->comm, next, sizeof(next))
		                : NULL,
		.limit = args->top,
		.is_filtered = args->pid || args->tid || args->comm.nr || args->cgroup.nr,
	};
	int err;

	stat_machine_look(&sh->machine, is_final, &cfg.machine);
	if (is_final) /* the prompt of the shell comes below */
		cfg.height -= cfg.height > 1;
	err = stat_screen_print(report, &cfg, out);
	if (is_final)
		fputc('\n', out);
	return err;
}

static int print_in_place(struct shower *sh, const struct stat_report *report, bool is_final,
                          FILE *out)
{
	SCOPED(scoped_free) char *bytes = NULL;
	size_t len = 0;
	FILE *screen = open_memstream(&bytes, &len);
	int err;

	if (!screen)
		return -errno;
	err = print_screen(sh, report, is_final, screen);
	if (fclose(screen) && !err)
		err = -ENOMEM;
	if (!err)
		in_place_print(bytes, len, !sh->has_drawn, out);
	sh->has_drawn = true;
	return err;
}

/* Rendered first and written then: writing may take as long as the reader likes. */
static int print_report(struct shower *sh, const struct stat_report *report, bool is_final)
{
	struct stat_text_cfg text = { .is_utf8 = sh->is_utf8 };
	SCOPED(scoped_free) char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);
	int err;

	if (!out)
		return -errno;
	if (sh->is_terminal && !sh->is_screen)
		fputs("\033[H\033[2J\033[3J", out);
	if (sh->is_screen)
		err = print_in_place(sh, report, is_final, out);
	else
		err = sh->args->is_json ? stat_json_print(report, false, out)
		                        : stat_text_print(report, &text, out);
	if (fclose(out) && !err)
		err = -ENOMEM;
	return err ? err : stat_session_write(sh->session, bytes, len);
}

static int show(void *ctx, struct stat_report_in *in, bool is_final)
{
	struct shower *sh = ctx;
	struct stat_report report;
	int err;

	sh->has_cgroup |= stat_session_cgroups(sh->session)->nr > 0;
	sh->has_rows |= in->nr_rows > 0;
	in->sort = (enum stat_sort)sh->args->sort;
	/* People want the top rows, a program gets all. */
	in->top = (uint32_t)sh->args->top;
	if (!in->top && sh->args->is_json)
		in->top = STAT_TOP_ALL;
	if (sh->is_screen)
		in->top = STAT_TOP_ALL;
	if (sh->is_screen && !is_final)
		in->view = TALLY_INTERVAL;
	in->is_detailed = sh->args->is_detailed;
	in->has_bins = sh->args->has_histogram;
	arena_reset(sh->mem);
	err = stat_report_build(in, sh->mem, sh->d, &report);
	if (err)
		return err;
	err = print_report(sh, &report, is_final);
	if (err == -EPIPE && is_final) {
		report_end(in);
		return 0;
	}
	if (err == -EINTR && is_final)
		return 0; /* signalled twice: then without a last report */
	if (err && err != -EPIPE && err != -EINTR)
		return diag_set(sh->d, err, NULL, "cannot write the report");
	return err;
}

static void announce(const struct stat_session *s, const struct stat_args *args)
{
	for (size_t i = 0; i < stat_session_nr_notes(s); i++)
		log_warn("%s", stat_session_note(s, i));
	if (args->cgroup.nr && stat_session_cgroups(s)->nr == 0)
		log_warn("no cgroup matches yet; those that appear later will be counted");
	else if (args->cgroup.nr)
		log_info("%zu cgroups match", stat_session_cgroups(s)->nr);
	log_info("attached; Ctrl-C ends with a last report");
}

/* Names that nothing had: a report of nothing is not an answer. */
static int check_found(const struct shower *sh, struct diag *d)
{
	char shown[61];

	if (sh->args->cgroup.nr && !sh->has_cgroup && !sh->has_rows)
		return diag_set(d, -ENODATA, CGROUP_PATTERN_HINT, "no cgroup matched '%s'",
		                text_printable(shown, sizeof(shown), sh->args->cgroup.items[0],
		                               SIZE_MAX));
	if (sh->args->comm.nr && !sh->has_rows)
		return diag_set(d, -ENODATA, "a part of the name, a glob with * and ?, or /REGEX/",
		                "nothing was seen of a thread whose name matches '%s'",
		                text_printable(shown, sizeof(shown), sh->args->comm.items[0],
		                               SIZE_MAX));
	return 0;
}

static int measure(const struct stat_session_cfg *cfg, struct shower *sh, struct diag *d)
{
	struct stat_session *session = NULL;
	enum stat_end why;
	int err = stat_session_open(cfg, d, &session);

	if (err)
		return err;
	sh->session = session;
	announce(session, sh->args);
	err = stat_session_run(session, show, sh, d, &why);
	if (!err)
		err = check_found(sh, d);
	stat_session_close(session);
	return err;
}

/* A mistyped id would otherwise measure nothing, forever. */
static int check_ids(const struct stat_args *args, struct diag *d)
{
	int err = args->pid ? cli_check_pid(args->pid, d) : 0;

	if (!err && args->tid && !proc_tgid_of((uint32_t)args->tid))
		err = diag_set(d, -ENODATA, "'ps -eL' lists them", "there is no thread %llu",
		               (unsigned long long)args->tid);
	return err;
}

static struct stat_session_cfg session_cfg(const struct stat_args *args,
                                           const struct stat_names *names,
                                           const struct stat_groups *groups)
{
	return (struct stat_session_cfg){
		.groups = *groups,
		.filter = {
			.comm = (const char *const *)names->comm.items,
			.nr_comm = names->comm.nr,
			.global_comm = (const char *const *)names->global_comm.items,
			.nr_global_comm = names->global_comm.nr,
			.cgroup = (const char *const *)names->cgroup.items,
			.nr_cgroup = names->cgroup.nr,
			.is_cgroup_regex = true,
			.wants_cgroup_names = display_of(args) == TALLY_BY_CGROUP || args->is_json,
		},
		.tid = (uint32_t)args->tid,
		.tgid = (uint32_t)args->pid,
		.display = display_of(args),
		.min_latency_us = (args->min_latency_ns + US_NS - 1) / US_NS,
		.outlier_ns = args->outlier_ns,
		.topology_path = args->topology,
		.interval_ns = args->interval_ns,
		.run_time_ns = args->run_time_ns,
		.view = args->is_interval_only ? TALLY_INTERVAL : TALLY_TOTAL,
		.output_fd = STDOUT_FILENO,
		.is_scx_by_kprobe = args->is_scx_by_kprobe,
	};
}

/* Wrong arguments are reported before anything is loaded, with the exit code of a usage error. */
static int check_words(const struct stat_args *args, struct stat_groups *groups,
                       struct stat_names *names, struct diag *d)
{
	int err = stat_groups_parse(args->groups.items, args->groups.nr, is_bare_event, NULL, d,
	                            groups);

	if (!err && args->has_by && args->by != TALLY_BY_TID &&
	    (args->is_detailed || args->is_per_thread))
		err = diag_set(d, -EINVAL, "leave one of them out", "--by %s contradicts %s",
		               by_names[args->by],
		               args->is_detailed ? "--detailed" : "--no-collapse");
	if (!err)
		err = stat_patterns_make(&args->comm, "-c", d, &names->comm);
	if (!err)
		err = stat_patterns_make(&args->global_comm, "--global-comm", d,
		                         &names->global_comm);
	if (!err && args->wants_blame && args->cgroup.nr)
		err = name_pattern_check(args->cgroup.items[0], d);
	else if (!err)
		err = stat_patterns_make(&args->cgroup, "--cgroup", d, &names->cgroup);
	return err;
}

/* What is about sums of the kernel's does not go with --blame, which has none. */
static int check_blame(const struct stat_args *args, struct diag *d)
{
	const struct {
		const char *option;
		bool is_given;
	} alien[] = {
		{ "--groups", args->groups.nr },
		{ "--outliers", args->outlier_ns },
		{ "--global-comm", args->global_comm.nr },
		{ "--min-latency", args->min_latency_ns },
		{ "--detailed", args->is_detailed },
		{ "--sort", args->sort },
		{ "--histogram", args->has_histogram },
		{ "--topology", args->topology },
	};

	for (size_t i = 0; i < sizeof(alien) / sizeof(alien[0]); i++)
		if (alien[i].is_given)
			return diag_set(d, -EINVAL, "leave one of them out",
			                "%s does not go with --blame", alien[i].option);
	if (args->cgroup.nr > 1)
		return diag_set(d, -EINVAL, "write one pattern, with * and ?",
		                "--blame takes one --cgroup");
	return 0;
}

static int blame(const struct stat_args *args, const struct stat_names *names, struct diag *d)
{
	static const enum pass_by bys[] = {
		[TALLY_BY_COMM] = PASS_BY_COMM,
		[TALLY_BY_TID] = PASS_BY_THREAD,
		[TALLY_BY_TGID] = PASS_BY_PROCESS,
		[TALLY_BY_CGROUP] = PASS_BY_CGROUP,
	};
	SCOPED(scoped_match) struct match *comm = NULL;
	struct stat_blame_cfg cfg = {
		.interval_ns = args->interval_ns,
		.run_time_ns = args->run_time_ns,
		.which = { .pid = (uint32_t)args->pid,
		           .tid = (uint32_t)args->tid,
		           .cgroup = args->cgroup.nr ? args->cgroup.items[0] : NULL,
		           .cpu = PASS_ANY_CPU,
		           .layer = EV_NO_LAYER,
		           .limit = args->top ? (uint32_t)args->top : BLAME_ROWS,
		           .by = bys[display_of(args)] },
		.is_json = args->is_json,
		.is_terminal = !args->is_json && isatty(STDOUT_FILENO),
		.width = trace_args_width(),
	};
	int err = match_new((const char *const *)names->comm.items, names->comm.nr, d, &comm);

	if (err)
		return err;
	if (args->comm.nr)
		cfg.which.comm_match = comm;
	if (args->is_json && !args->top)
		cfg.which.limit = UINT32_MAX;
	return stat_blame_run(&cfg, d);
}

/* Whether an option says something about the tables of rsched, or asks for them. */
static bool is_about_tables(const struct stat_args *args)
{
	return args->wants_tables || args->is_detailed || args->is_per_thread || args->groups.nr ||
	       args->min_latency_ns || args->sort || args->has_histogram || args->outlier_ns ||
	       args->global_comm.nr || args->topology;
}

static int run_args(const struct opt_command *self, const struct stat_args *args)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(REPORT_ARENA_BYTES);
	struct diag d = { 0 };
	struct shower sh = { .args = args, .mem = mem, .d = &d };
	SCOPED(scoped_stat_names) struct stat_names names = { 0 };
	struct stat_groups groups;
	struct stat_session_cfg cfg;
	int err = 0;

	cli_set_log_level(args->is_verbose, args->is_debug);
	if (args->wants_perf_list)
		return stat_list_events();
	if (args->wants_topology)
		return stat_list_topology();
	if (check_words(args, &groups, &names, &d) || (args->wants_blame && check_blame(args, &d)))
		return cli_usage_error(self, &d);
	if (check_ids(args, &d))
		return cli_fail(&d);
	setlocale(LC_CTYPE, "");
	sh.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	sh.is_terminal = !args->is_json && isatty(STDOUT_FILENO);
	sh.is_screen = sh.is_terminal && !is_about_tables(args) && trace_args_width();
	signal(SIGPIPE, SIG_IGN);
	if (args->wants_blame)
		return blame(args, &names, &d) ? cli_fail(&d) : CLI_OK;
	cfg = session_cfg(args, &names, &groups);
	if (!mem)
		err = diag_set(&d, -ENOMEM, NULL, "out of memory");
	if (!err)
		err = broker_start(BROKER_BIT(BROKER_BPF_STATS) | BROKER_BIT(BROKER_CGROUP) |
		                           BROKER_BIT(BROKER_SCHEDSTAT) | BROKER_PERF_EVENTS,
		                   &d);
	if (!err && sh.is_screen)
		stat_machine_look(&sh.machine, false, &(struct stat_machine_shares){ 0 });
	if (!err)
		err = measure(&cfg, &sh, &d);
	stat_machine_done(&sh.machine);
	broker_stop();
	return err ? cli_fail(&d) : CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct stat_args args = defaults;
	struct opt_result operands = { 0 };
	int exit_code;

	if (cli_parse(self, argc, argv, &args, &operands, &exit_code)) {
		opt_result_done(&operands);
		exit_code = run_args(self, &args);
	}
	opt_list_done(&args.comm);
	opt_list_done(&args.global_comm);
	opt_list_done(&args.cgroup);
	opt_list_done(&args.groups);
	return exit_code;
}

const struct opt_command cmd_stat = {
	.name = "stat",
	.summary = "how long tasks wait for a CPU, run and sleep: percentiles per task",
	.description =
		"Adds up scheduling statistics in the kernel, one histogram per thread and metric, and shows "
		"percentiles per interval. Nothing is recorded and nothing is written to disk.\n\n"
		"On a terminal it is one screen, about the last interval, and at the end one about the whole run: busy and stolen time of "
		"the CPUs, how many tasks waited per CPU on average, pressure as the kernel counts it, losses; waits that last; then tasks by the "
		"time that they waited, with percentiles of single waits and a bar of what the time was lost to (waiting after a wakeup, "
		"after being preempted, as a new task). Elsewhere, and with --rsched, it is all tables, as follows.\n\n"
		"Numbers are those since the start unless --interval-only is given. Rows are grouped by their "
		"90th percentile, worst last. What a thread did before it exited, was renamed or changed its "
		"cgroup stays under its old name. The last line says how many events were seen, how many were "
		"lost, and what the measurement cost.\n\n"
		"The exact meaning of every number is in schedscope(1).",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.run = run,
};
