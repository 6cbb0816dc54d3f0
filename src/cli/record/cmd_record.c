#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/new_file.h"
#include "cli/command.h"
#include "cli/record/record_events.h"
#include "cli/record/record_flight.h"
#include "cli/record/record_pmu.h"
#include "cli/record/record_probes.h"
#include "cli/record/record_stacks.h"
#include "cli/record/record_talk.h"
#include "cli/report_file.h"
#include "collect/event_sets.h"
#include "collect/stack_part.h"
#include "record/labels.h"
#include "record/recorder.h"
#include "record/start_at.h"
#include "sys/rights/broker.h"

#define SECOND_NS 1000000000ULL
#define MS_NS     1000000ULL
#define YEAR_NS   (366ULL * 86400 * SECOND_NS)

struct record_args {
	const char *output;
	uint64_t duration_ns;
	uint64_t trace_ns;
	const char *start_at; /* NULL = at once */
	struct opt_list metadata;
	struct opt_list events;
	uint64_t pid;
	uint64_t parent; /* the process that we exit with; 0 = none */
	struct opt_list cgroup;
	struct opt_list kprobes;
	struct opt_list uprobes;
	struct opt_list tracepoints;
	uint64_t one_in;
	struct opt_list pmu;
	bool wants_system_stats;
	const char *stacks;
	uint64_t stack_frequency;
	bool has_stack_frequency;
	int unwind; /* enum record_unwind */
	bool has_unwind;
	bool is_compressed;
	bool may_replace;
	const char *report; /* NULL = none is made */
	int rings;
	uint64_t ring_kib;
	struct flight_args flight;
	bool is_verbose;
	bool is_debug;
	bool is_scx_by_kprobe;
	bool is_context_counted;
	bool is_quota_by_cpu;
};

static const char *const ring_names[] = { "llc", "cpu", NULL };

static const struct record_args defaults = {
	.stack_frequency = 99,
	.flight = { .after_ns = 2 * SECOND_NS, .cooldown_ns = 30 * SECOND_NS, .keep_mib = 256 },
};

/* clang-format off */
static const struct opt options[] = {
	OPT_STRING('o', "output", "FILE", struct record_args, output,
		"where to write; schedscope-DATE-TIME.pftrace if not given", .is_file = true, .alias = "output-file", .heading = "Where to, and how long",
		.details = "With --keep or --trigger: a directory, or a directory and the prefix of all file names."),
	OPT_FLAG(0, "force", struct record_args, may_replace,
		"replace an existing file; without it that is asked on a terminal, and refused elsewhere",
		.details = "An empty file is replaced in any case. Dumps of the flight recorder always have new names."),
	OPT_DURATION(0, "duration", "SECONDS", struct record_args, duration_ns, SECOND_NS, 10 * MS_NS,
		YEAR_NS, "stop after this time; until Ctrl-C if not given"),
	OPT_DURATION('d', "trace-ms", "MS", struct record_args, trace_ns, MS_NS, 10 * MS_NS, YEAR_NS,
		"the same in milliseconds"),
	OPT_STRING(0, "start-at", "WHEN", struct record_args, start_at,
		"wait, and begin at a time of the wall clock: /10s is the next whole multiple of 10 seconds; or 17:30:05",
		.details = "So that many machines, whose clocks are set alike, record the same moments: with the same --duration they also end at one "
			   "moment. WHEN is /TIME, the next whole multiple of TIME since 1970; HH:MM or HH:MM:SS, the next time that the clock shows it; "
			   "YYYY-MM-DDTHH:MM:SS, with a Z behind it of UTC; or @SECONDS since 1970. All is loaded before; attaching begins then, and takes a "
			   "moment. A command is started then, too."),
	OPT_LIST(0, "metadata", "KEY=VALUE", struct record_args, metadata,
		"write this into the recording, so that it can be told from others: role=web, build=1234",
		.details = "'schedscope analyze' shows it, beside the host and the id of its boot, which every recording has. At most 16."),
	OPT_LIST(0, "events", "SET[,...]", struct record_args, events,
		"what to record: default, sched, wakeup, sleep, block, net, mm, fs, lock, task, irq, power, ipi, workqueue, other, scx, all",
		.choices = event_set_names, .heading = "What to record",
		.details = "default is sched, task, irq and power. sched is switches, wakings, first wakeups and "
			   "migrations; task is fork, exec, rename, exit, cgroups, "
			   "policies and CPUs of tasks; irq is hard and soft interrupts; "
			   "power is idle states, frequencies and hotplug; wakeup is sched_wakeup; "
			   "sleep is the system calls in which tasks sleep; block is requests to disks; net is packets; mm is pages allocated, freed and "
			   "reclaimed; fs is fsync on ext4; lock is waits for locks of the kernel; other is "
			   "hang, wait, hw_pressure and gpu_mem; scx is dispatch queues, schedulers and counters "
			   "of sched_ext; all is everything that this kernel has, but net, mm and fs. Names of single kinds, such as "
			   "softirq_entry, work too. Switches, wakings and task are always recorded."),
	OPT_U64('p', "pid", "PID", struct record_args, pid, 1, 4194304, "only this process, with all its threads",
		.heading = "Which tasks",
		.details = "Its switches, wakeups and migrations. Fork, exec, exit, interrupts and idle states are "
			   "still recorded system-wide; CPU time of other tasks is left blank. Ends with the process."),
	OPT_LIST(0, "cgroup", "PATTERN", struct record_args, cgroup,
		"only tasks in matching cgroups, or below: a path or name, with * and ?, or /REGEX/", .list = "cgroups",
		.details = "In the hierarchy that has the controller cpu. / is the root alone."),
	OPT_LIST('k', "kprobes", "FUNCTION[,...]", struct record_args, kprobes,
		"also each call of these functions of the kernel", .heading = "What else to record"),
	OPT_LIST(0, "uprobes", "PATH:SYMBOL", struct record_args, uprobes,
		"also each call of this function of a program or library",
		.details = "PATH:SYMBOL+OFFSET is a place inside it, ret:PATH:SYMBOL (or PATH:SYMBOL%return) its "
			   "returns. A PATH without a slash is searched for like a library or a program. May be "
			   "given several times. With -p or --cgroup, only calls by those tasks."),
	OPT_LIST(0, "tracepoints", "SUBSYSTEM:NAME[,...]", struct record_args, tracepoints,
		"also each hit of these kernel tracepoints"),
	OPT_U64(0, "sample", "N", struct record_args, one_in, 1, 1000000,
		"only one wakeup in N, with what follows from it",
		.details = "Chosen at random in the kernel. For a chosen wakeup the waking, the wakeup, migrations, "
			   "the switch to the task and the one that ends that slice are recorded, so its wait and its "
			   "slice are complete; other wakeups, switches and migrations are left out. The trace and the "
			   "summary say so."),
	OPT_LIST(0, "pmu", "EVENT[,...]", struct record_args, pmu,
		"count these events in every slice, at most 8: those of 'schedscope stat --perf-list'", .list = "counters",
		.details = "The count of each event while a task was on a CPU is stored at the end "
			   "of that slice, under the key pmu:EVENT. Software events such as "
			   "page-faults and task-clock work everywhere; hardware events need a PMU."),
	OPT_FLAG('s', "system-stats", struct record_args, wants_system_stats,
		"CPU times, memory, paging, pressure and network ten times a second"),
	OPT_STRING(0, "stacks", "LIST", struct record_args, stacks,
		"stacks too: cpu, off-cpu, waker, or several separated by commas; cpu if none is named",
		.bare = RECORD_STACKS_DEFAULT,
		.details = "cpu is where the CPUs are, sampled at --stack-frequency: by hardware cycles where there are any, "
			   "else by cpu-clock. off-cpu is where tasks go to sleep, at every switch-out that is not a "
			   "preemption; waker is where tasks are woken from, at every waking. The last two cost some "
			   "microseconds per event. Kernel and user frames are recorded with names, lines and mappings. "
			   "'schedscope analyze FILE flamegraph' and Perfetto show them. With -p or --cgroup only stacks of those "
			   "tasks and of their wakers."),
	OPT_U64(0, "stack-frequency", "HZ", struct record_args, stack_frequency, 1, 100000,
		"samples of --stacks=cpu, per second and busy CPU", OPT_GIVEN(struct record_args, has_stack_frequency)),
	OPT_CHOICE(0, "unwind", "HOW", struct record_args, unwind, record_unwind_names,
		"how stacks of programs are walked, with --stacks", OPT_GIVEN(struct record_args, has_unwind),
		.details = RECORD_UNWIND_DETAILS),
	OPT_STRING(0, "report", "FILE", struct record_args, report,
		"make a report of it at the end, as 'schedscope report' does: FILE, or the recording's name with .html",
		.bare = "", .is_file = true, .heading = "The file",
		.details = "An older report of that name is replaced, any other file is not."),
	OPT_FLAG(0, "gzip", struct record_args, is_compressed, "compress the packets; the file still loads directly"),
	OPT_CHOICE(0, "rings", "BY", struct record_args, rings, ring_names,
		"CPUs that share a ring buffer: those of one last-level cache, or none"),
	OPT_U64(0, "ring-kib", "KIB", struct record_args, ring_kib, 64, 131072,
		"size of each ring buffer, a power of two; chosen from CPUs and memory if not given"),
	OPT_DURATION(0, "keep", "TIME", struct record_args, flight.keep_ns, SECOND_NS, 100 * MS_NS, 3600 * SECOND_NS,
		"keep the last TIME in memory, and write it only on a trigger or SIGUSR2",
		.heading = "Flight recorder",
		.details = "10s if only --trigger is given. Without --trigger, only SIGUSR2 makes a dump."),
	OPT_LIST(0, "trigger", "WHAT>LIMIT[,IF]", struct record_args, flight.triggers,
		"write a dump when this happens, such as wakeup-latency>5ms",
		.details = "WHAT is wakeup-latency, stall, throttled, sleep, slice or dsq-latency with a time, queue-depth or lost (events) "
			   "with a number, or uprobe:FILE:SYMBOL with the time that a call takes. Conditions follow after commas, and all must "
			   "hold: comm=PATTERN, cgroup=PATTERN, pid=PROCESS, tid=THREAD; a PATTERN is a name, a glob or /REGEX/. So 'slice>20ms,comm=nginx*,pid=123'. Quote it, because "
			   "> is special to shells. A duration is checked when it ends, a stall (a task "
			   "that waits for a CPU) while it lasts, and so is throttled (how much of such a wait the quota of a "
			   "cgroup has taken). scx-eject stands alone: the kernel threw a sched_ext scheduler out."),
	OPT_DURATION(0, "after", "TIME", struct record_args, flight.after_ns, SECOND_NS, 0, 3600 * SECOND_NS,
		"keep recording for TIME after the trigger", OPT_GIVEN(struct record_args, flight.has_after)),
	OPT_DURATION(0, "cooldown", "TIME", struct record_args, flight.cooldown_ns, SECOND_NS, 0, YEAR_NS,
		"ignore triggers for TIME after a dump (SIGUSR2 still works)",
		OPT_GIVEN(struct record_args, flight.has_cooldown)),
	OPT_U64(0, "max-dumps", "N", struct record_args, flight.max_dumps, 1, 1000000,
		"stop after N dumps; no limit if not given", OPT_GIVEN(struct record_args, flight.has_max_dumps)),
	OPT_U64(0, "keep-mib", "MIB", struct record_args, flight.keep_mib, 1, 1048576,
		"buffer size; if it fills before --keep TIME, the oldest events are dropped and a warning is printed",
		OPT_GIVEN(struct record_args, flight.has_keep_mib)),
	OPT_FLAG('v', "verbose", struct record_args, is_verbose, "log to stderr what is being done", .heading = "Messages"),
	OPT_U64(0, "parent", "PID", struct record_args, parent, 1, INT32_MAX,
		"exit when this process, which started us, exits", .is_hidden = true),
	OPT_FLAG(0, "scx-by-kprobe", struct record_args, is_scx_by_kprobe,
		"behave as on kernels without fentry", .is_hidden = true),
	OPT_FLAG(0, "count-interrupts", struct record_args, is_context_counted,
		"behave as where no preempt_count is found", .is_hidden = true),
	OPT_FLAG(0, "quota-by-cpu", struct record_args, is_quota_by_cpu,
		"behave as before Linux 6.18", .is_hidden = true),
	OPT_FLAG(0, "debug", struct record_args, is_debug, "log everything, including the kernel's verifier"),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope record --duration 5 -o five.pftrace", "five seconds of the whole machine" },
	{ "schedscope record -- make -j8", "while a command runs" },
	{ "schedscope record --events default,sleep --duration 5", "also what tasks sleep for: locks, disks, each other" },
	{ "schedscope record --duration 10 --report=slow.html", "ten seconds, and a page about them" },
	{ "schedscope record --uprobes libc.so.6:malloc -p 4711", "a process, with each of its calls of malloc" },
	{ "schedscope record -s --pmu page-faults,task-clock -- ./server", "with counters of each slice, and of the machine" },
	{ "schedscope record --stacks=cpu,off-cpu -- ./server", "with stacks of where it runs, and where it sleeps" },
	{ "schedscope record -p 4711 --gzip -d 500", "half a second of one process, compressed" },
	{ "schedscope record --keep 10s --trigger 'wakeup-latency>5ms,comm=nginx*' -o /var/tmp",
	  "wait for the next slow wakeup, then write the 10 s before it and the 2 s after" },
	{ 0 },
};
/* clang-format on */

static void default_name(char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	if (!strftime(buf, size, "schedscope-%Y%m%d-%H%M%S.pftrace", &tm))
		snprintf(buf, size, "schedscope.pftrace");
}

static void join_words(int argc, char **argv, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < argc && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? " " : "schedscope ",
		                        argv[i]);
}

/* A recording into one file, with what follows from the options besides the recorder's own. */
struct one_file {
	const struct record_args *args;
	const char *name; /* of the file, for people */
	int exit_code;    /* that of the command */
};

static int record(struct recorder_cfg *cfg, struct one_file *file, struct diag *d)
{
	/* Onto a terminal that is free for it: neither the command's nor that of the trace itself. */
	bool has_progress = isatty(STDERR_FILENO) && !cfg->source.command;
	struct record_talk talk = { .path = file->name,
		                    .source = &cfg->source,
		                    .is_quiet = file->args->parent != 0 };
	struct recorder *r = NULL;
	struct recorder_stats stats = { 0 };
	enum record_end why = RECORD_END_TIME;
	struct diag remark = { 0 };
	int err, closing;

	cfg->ready = record_talk_ready;
	cfg->ready_ctx = &talk;
	err = recorder_open(cfg, d, &r);
	if (err)
		return err;
	record_events_missing(&file->args->events, recorder_missing(r));
	err = recorder_run(r, has_progress ? record_talk_progress : NULL, NULL, d, &why);
	while (recorder_remark(r, &remark))
		record_show_remark(&remark);
	closing = recorder_close(r, &stats, err ? NULL : d);
	record_talk_summary(&stats, file->name, has_progress);
	err = err ? err : closing;
	if (!err)
		file->exit_code = record_talk_command(&stats.totals, cfg->source.command
		                                                             ? *cfg->source.command
		                                                             : NULL);
	if (!err && !talk.is_quiet)
		record_talk_next(file->name);
	return err;
}

static int check_args(const struct record_args *args, const struct opt_list *command,
                      uint32_t stacks, struct diag *d)
{
	int err;

	if (args->duration_ns && args->trace_ns)
		return diag_set(d, -EINVAL, "give one of them",
		                "--duration and --trace-ms contradict each other");
	if (args->pid && command->nr)
		return diag_set(d, -EINVAL, "leave one out",
		                "-p and a command contradict each other");
	if (args->has_unwind && !args->stacks)
		return diag_set(d, -EINVAL, "add --stacks", "--unwind is for --stacks");
	if (args->has_stack_frequency && !args->stacks)
		return diag_set(d, -EINVAL, "add --stacks", "--stack-frequency is for --stacks");
	if (args->one_in > 1 && stacks & ~STACK_BIT(EV_SAMPLE_CPU))
		return diag_set(
			d, -EINVAL, "leave one of them out, or take --stacks=cpu",
			"with --sample most switches and wakings are left out, so their stacks would have no event");
	if (args->wants_system_stats && record_flight_is_wanted(&args->flight))
		return diag_set(d, -EINVAL, "leave one of them out",
		                "a flight recorder keeps no system statistics (-s)");
	if (args->start_at && record_flight_is_wanted(&args->flight))
		return diag_set(
			d, -EINVAL, "leave one of them out",
			"a flight recorder keeps the last seconds, whenever it began (--start-at)");
	if (args->report && record_flight_is_wanted(&args->flight))
		return diag_set(
			d, -EINVAL, "run 'schedscope report DUMP' afterwards",
			"a flight recorder goes on recording and makes no reports (--report)");
	if (args->report && args->output && strcmp(args->output, "-") == 0)
		return diag_set(d, -EINVAL, "name a file with -o",
		                "--report takes a recording in a file");
	err = record_flight_check(&args->flight, args->output, d);
	return err || !args->pid ? err : cli_check_pid(args->pid, d);
}

/* Where the report goes: beside the recording, unless it was said. */
static const char *report_path(const char *given, const char *recording, char buf[PATH_MAX])
{
	size_t len = strlen(recording), tail = strlen(".pftrace");

	if (*given)
		return given;
	if (len > tail && strcmp(recording + len - tail, ".pftrace") == 0)
		len -= tail;
	snprintf(buf, PATH_MAX, "%.*s.html", (int)len, recording);
	return buf;
}

/* To be read when the rights to open it by its name are gone. */
static int open_again(int fd)
{
	char link[64];
	int again;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	again = open(link, O_RDONLY | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

static int report_on(const struct report_file *f, const char *path, int fd, struct diag *d)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	struct pass_args all = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };
	int err = trace_args_open_fd(path, fd, d, &rec);

	return err ? err : report_file_write(f, recording_source(rec), &all, d);
}

/* Both places are found with the rights of the beginning; the report is made without them. */
static int record_with_report(struct recorder_cfg *cfg, struct one_file *to, struct diag *d)
{
	char path[PATH_MAX];
	SCOPED(report_file_close)
	struct report_file file = { .path = report_path(to->args->report, to->name, path) };
	SCOPED(scoped_close) int fd = -1;
	SCOPED(scoped_close) int again = -1;
	int err = report_file_check(&file, d);

	report_file_command(&file, to->name, &(struct trace_args){ 0 });
	if (!err)
		err = report_file_open(&file, d);
	if (err)
		return err;
	fd = new_file_open(to->name, false, d);
	if (fd < 0)
		return fd;
	again = open_again(fd);
	if (again < 0)
		return diag_set(d, again, "name a file with -o",
		                "cannot read '%.120s' for --report", to->name);
	cfg->path = NULL;
	cfg->fd = fd;
	err = record(cfg, to, d);
	return err ? err : report_on(&file, to->name, again, d);
}

/* One file, whose name is chosen if none was given. */
static int record_to_file(const struct record_args *args, const struct recorder_cfg *given,
                          int *exit_code, struct diag *d)
{
	struct one_file file = { .args = args };
	struct recorder_cfg cfg = *given; /* it must not keep the chosen name */
	char name[64];
	int err;

	default_name(name, sizeof(name));
	if (!cfg.path)
		cfg.path = name;
	else if (strcmp(cfg.path, "-") == 0)
		cfg.path = "/dev/stdout";
	file.name = cfg.path;
	err = record_talk_may_write(cfg.path, args->may_replace || args->parent, d);
	if (!err)
		err = args->report ? record_with_report(&cfg, &file, d) : record(&cfg, &file, d);
	*exit_code = file.exit_code;
	return err;
}

static int run_args(const struct opt_command *self, const struct record_args *args,
                    const struct record_probes *probes, const struct opt_list *command,
                    const char *words)
{
	SCOPED(scoped_free) char **child = NULL;
	struct recorder_cfg cfg = {
		.source = {
			.tgid = (uint32_t)args->pid,
			.cgroup = args->cgroup.items,
			.nr_cgroup = args->cgroup.nr,
			.probes = probes->items,
			.nr_probes = probes->nr,
			.one_in = (uint32_t)args->one_in,
			.stack_frequency = (uint32_t)args->stack_frequency,
			.unwind = (enum record_unwind)args->unwind,
			.is_per_cpu_rings = args->rings == 1,
			.is_scx_by_kprobe = args->is_scx_by_kprobe,
			.is_context_counted = args->is_context_counted,
			.is_quota_by_cpu = args->is_quota_by_cpu,
			.ring_bytes = (uint32_t)args->ring_kib * 1024,
			.parent = (uint32_t)args->parent,
			.duration_ns = args->duration_ns ? args->duration_ns : args->trace_ns,
		},
		.path = args->output,
		.wants_system_stats = args->wants_system_stats,
		.is_compressed = args->is_compressed,
		.command_line = words,
	};
	struct record_pmu pmu = { .nr = 0 };
	struct labels labels = { .nr = 0 };
	struct diag d = { 0 };
	int exit_code = CLI_OK;
	int err = record_events_parse(&args->events, &cfg.source.kinds, &d);

	if (!err)
		err = record_pmu_parse(&args->pmu, &pmu, &d);
	if (!err)
		err = record_stacks_parse(args->stacks, &cfg.source.stacks, &d);
	if (!err)
		err = labels_parse(args->metadata.items, args->metadata.nr, &labels, &d);
	if (!err && args->start_at)
		err = start_at_parse(args->start_at, clock_read_ns(CLOCK_REALTIME), &d,
		                     &cfg.source.start_real_ns);
	if (!err)
		err = check_args(args, command, cfg.source.stacks, &d);
	cfg.source.labels = &labels;
	cfg.source.pmu = pmu.words;
	cfg.source.nr_pmu = pmu.nr;
	if (err == -EINVAL)
		return cli_usage_error(self, &d);
	if (!err)
		err = cli_command_words(command, &d, &child);
	cfg.source.command = child;
	signal(SIGPIPE, SIG_IGN);
	if (!err)
		err = broker_start(BROKER_OUTPUT | BROKER_PERF_EVENTS | BROKER_BIT(BROKER_OPEN),
		                   &d);
	if (!err)
		err = record_flight_is_wanted(&args->flight)
		              ? record_flight_run(&args->flight, &cfg, &args->events, &exit_code,
		                                  &d)
		              : record_to_file(args, &cfg, &exit_code, &d);
	broker_stop();
	return err ? cli_fail(&d) : exit_code;
}

/* The process that started us may be killed: then there is nothing to record for. */
static int end_with(uint64_t parent)
{
	if (!parent)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGTERM))
		return -errno;
	return (uint64_t)getppid() == parent ? 0 : -ESRCH;
}

/* One that comes while it still loads makes a dump as soon as there is something to write; it would end the program otherwise. */
static void hold_sigusr2(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct record_args args = defaults;
	struct opt_result operands = { 0 };
	struct record_probes probes = { 0 };
	struct diag d = { 0 };
	char words[1024];
	int exit_code;

	hold_sigusr2();
	join_words(argc, argv, words, sizeof(words));
	if (cli_parse(self, argc, argv, &args, &operands, &exit_code)) {
		cli_set_log_level(args.is_verbose, args.is_debug);
		if (end_with(args.parent))
			exit_code = 1;
		else if (record_probes_make(&args.kprobes, &args.uprobes, &args.tracepoints,
		                            &probes, &d))
			exit_code = cli_usage_error(self, &d);
		else
			exit_code = run_args(self, &args, &probes, &operands.operands, words);
		record_probes_done(&probes);
		opt_result_done(&operands);
	}
	opt_list_done(&args.kprobes);
	opt_list_done(&args.uprobes);
	opt_list_done(&args.tracepoints);
	opt_list_done(&args.events);
	opt_list_done(&args.cgroup);
	opt_list_done(&args.pmu);
	opt_list_done(&args.metadata);
	opt_list_done(&args.flight.triggers);
	return exit_code;
}

const struct opt_command cmd_record = {
	.name = "record",
	.alias = "trace",
	.summary = "record scheduling events into a Perfetto trace",
	.operands = "[COMMAND...]",
	.description =
		"Records scheduling events of the whole machine, or of one process or cgroup, into a Perfetto trace, "
		"which opens in ui.perfetto.dev. With a command, records while it runs, and exits with its status (128 and "
		"the signal that ended it). A recording that ends before its command, because of --duration, Ctrl-C or a "
		"full disk, leaves the command running and says so.\n\n"
		"The file can be loaded at any moment, also after the program was killed or the disk was full. Memory "
		"does not grow with the recording. Events that did not fit into the ring buffers are counted per kind "
		"and CPU, reported in the summary and stored in the trace.\n\n"
		"With --keep or --trigger it is a flight recorder: it keeps the last seconds in memory, for days if "
		"needed, and on a trigger or SIGUSR2 writes them with what follows. Each dump is a separate trace, "
		"named after the time and the trigger: "
		"schedscope-20261115T053012-wakeup-latency-6.2ms-nginx-1234.pftrace. Triggers that fire while a dump "
		"is written, or during the cooldown, are only counted. --duration, a command or -p limit the whole "
		"run. If a dump cannot be written, for example on a full disk, one line says so, what is on disk "
		"stays, and the recorder continues.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.stops_at_operand = true,
	.run = run,
};
