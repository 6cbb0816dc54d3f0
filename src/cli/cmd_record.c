#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/event_check.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/match.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/record_probes.h"
#include "collect/scx_plan.h"
#include "session/recorder.h"
#include "sys/pmu.h"

#define SECOND_NS 1000000000ULL
#define MS_NS     1000000ULL
#define YEAR_NS   (366ULL * 86400 * SECOND_NS)

struct record_args {
	const char *output;
	uint64_t duration_ns;
	uint64_t trace_ns;
	struct opt_list events;
	uint64_t pid;
	struct opt_list cgroup;
	struct opt_list kprobes;
	struct opt_list uprobes;
	struct opt_list tracepoints;
	uint64_t one_in;
	struct opt_list pmu;
	bool wants_system_stats;
	bool wants_stacks;
	bool is_compressed;
	int rings;
	uint64_t ring_kib;
	bool is_verbose;
	bool is_debug;
};

static const char *const ring_names[] = { "llc", "cpu", NULL };

static const struct record_args defaults = { 0 };

/* Kinds by one name, for --events. */
struct event_set {
	const char *name;
	uint64_t kinds;
};

#define SCHED_KINDS \
	(EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP_NEW) | EV_BIT(EV_MIGRATE))
#define TASK_KINDS \
	(EV_BIT(EV_FORK) | EV_BIT(EV_EXEC) | EV_BIT(EV_EXIT) | EV_BIT(EV_RENAME) | EV_BIT(EV_FREE))
#define IRQ_KINDS                                                                \
	(EV_BIT(EV_IRQ_ENTRY) | EV_BIT(EV_IRQ_EXIT) | EV_BIT(EV_SOFTIRQ_ENTRY) | \
	 EV_BIT(EV_SOFTIRQ_EXIT))
#define POWER_KINDS (EV_BIT(EV_CPU_IDLE) | EV_BIT(EV_CPU_FREQ) | EV_BIT(EV_CPU_HOTPLUG))
#define IPI_KINDS   (EV_BIT(EV_IPI_SEND) | EV_BIT(EV_IPI_ENTRY) | EV_BIT(EV_IPI_EXIT))
#define WORK_KINDS  (EV_BIT(EV_WORK_START) | EV_BIT(EV_WORK_END))
#define OTHER_KINDS \
	(EV_BIT(EV_HANG) | EV_BIT(EV_WAIT) | EV_BIT(EV_HW_PRESSURE) | EV_BIT(EV_GPU_MEM))

#define DEFAULT_KINDS (SCHED_KINDS | TASK_KINDS | IRQ_KINDS | POWER_KINDS)

static const struct event_set event_sets[] = {
	{ "default", DEFAULT_KINDS },
	{ "sched", SCHED_KINDS },
	{ "wakeup", EV_BIT(EV_WAKEUP) },
	{ "task", TASK_KINDS },
	{ "irq", IRQ_KINDS },
	{ "power", POWER_KINDS },
	{ "ipi", IPI_KINDS },
	{ "workqueue", WORK_KINDS },
	{ "other", OTHER_KINDS },
	{ "scx", SCX_KINDS },
	{ "all",
	  DEFAULT_KINDS | EV_BIT(EV_WAKEUP) | IPI_KINDS | WORK_KINDS | OTHER_KINDS | SCX_KINDS },
};

static const char *const event_set_names[] = { "default", "sched", "wakeup", "task",
	                                       "irq",     "power", "ipi",    "workqueue",
	                                       "other",   "scx",   "all",    NULL };

/* clang-format off */
static const struct opt options[] = {
	OPT_STRING('o', "output", "FILE", struct record_args, output,
		"where to write; schedscope-DATE-TIME.pftrace if not given", .is_file = true, .alias = "output-file"),
	OPT_DURATION(0, "duration", "SECONDS", struct record_args, duration_ns, SECOND_NS, 10 * MS_NS,
		YEAR_NS, "stop after this time; until Ctrl-C if not given"),
	OPT_DURATION('d', "trace-ms", "MS", struct record_args, trace_ns, MS_NS, 10 * MS_NS, YEAR_NS,
		"the same in milliseconds"),
	OPT_LIST(0, "events", "SET[,...]", struct record_args, events,
		"what to record: default, sched, wakeup, task, irq, power, ipi, workqueue, other, scx, all",
		.choices = event_set_names,
		.details = "default is sched, task, irq and power. sched is switches, wakings, first wakeups and "
			   "migrations; task the births, names and deaths of tasks; irq hard and soft interrupts; power "
			   "idle states, frequencies and hotplug; wakeup is sched_wakeup; other is hang, wait, "
			   "hw_pressure and gpu_mem; scx what sched_ext does with its queues; all is everything that this kernel has. Names of single kinds, "
			   "such as softirq_entry, work too. Switches, wakings and task are always there."),
	OPT_U64('p', "pid", "PID", struct record_args, pid, 1, 4194304, "only this process, with all its threads",
		.details = "Its switches, wakeups and migrations. Interrupts, idle states, and births, names and "
			   "deaths stay those of the whole machine. Where others run, the trace shows nobody. Ends with "
			   "the process."),
	OPT_LIST(0, "cgroup", "REGEX", struct record_args, cgroup,
		"only cgroups whose name or path matches, with all below"),
	OPT_LIST('k', "kprobes", "FUNCTION[,...]", struct record_args, kprobes,
		"also each call of these functions of the kernel"),
	OPT_LIST(0, "uprobes", "PATH:SYMBOL", struct record_args, uprobes,
		"also each call of this function of a program or library",
		.details = "PATH:SYMBOL+OFFSET is a place inside it, ret:PATH:SYMBOL (or PATH:SYMBOL%return) its "
			   "returns. A PATH without a slash is looked for like a library or a program. May be given "
			   "several times. With -p or --cgroup, only calls by those."),
	OPT_LIST(0, "tracepoints", "SUBSYSTEM:NAME[,...]", struct record_args, tracepoints,
		"also each time these tracepoints of the kernel are passed"),
	OPT_U64(0, "sample", "N", struct record_args, one_in, 1, 1000000,
		"only one wakeup in N, with what follows from it",
		.details = "Chosen by chance in the kernel. Of a chosen wakeup the waking, the wakeup, migrations, the "
			   "switch to the task and the one that ends that slice are recorded, so that its wait and its "
			   "slice are whole; other wakeups, switches and migrations are left out. The trace and the "
			   "summary say so."),
	OPT_LIST(0, "pmu", "EVENT[,...]", struct record_args, pmu,
		"count these events in every slice, at most 8: those of 'schedscope stat --perf-list'",
		.details = "What each event moved while a task was on a CPU stands at the end of that slice, under the "
			   "key pmu:EVENT. Software events such as page-faults and task-clock work everywhere; hardware "
			   "events need a PMU."),
	OPT_FLAG('s', "system-stats", struct record_args, wants_system_stats,
		"CPU times, memory, paging, pressure and network ten times a second"),
	OPT_FLAG(0, "stacks", struct record_args, wants_stacks, "sample stacks; not available yet"),
	OPT_FLAG(0, "gzip", struct record_args, is_compressed, "compress the packets; the file loads as it is"),
	OPT_CHOICE(0, "rings", "BY", struct record_args, rings, ring_names,
		"CPUs that share a ring buffer: those of one last-level cache, or none"),
	OPT_U64(0, "ring-kib", "KIB", struct record_args, ring_kib, 64, 131072,
		"size of each ring buffer, a power of two; chosen from CPUs and memory if not given"),
	OPT_FLAG('v', "verbose", struct record_args, is_verbose, "say what is done, on stderr"),
	OPT_FLAG(0, "debug", struct record_args, is_debug, "say everything, the kernel's verifier included"),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope record --duration 5 -o five.pftrace", "five seconds of the whole machine" },
	{ "schedscope record -- make -j8", "while a command runs" },
	{ "schedscope record --uprobes libc.so.6:malloc -p 4711", "a process, with each of its calls of malloc" },
	{ "schedscope record -s --pmu page-faults,task-clock -- ./server", "with counters of each slice, and of the machine" },
	{ "schedscope record -p 4711 --gzip -d 500", "half a second of one process, compressed" },
	{ 0 },
};
/* clang-format on */

static int add_events(const char *word, uint64_t *kinds, struct diag *d)
{
	unsigned int kind = ev_kind_by_name(word);
	const char *near;
	char hint[96];

	for (size_t i = 0; i < sizeof(event_sets) / sizeof(event_sets[0]); i++) {
		if (strcmp(event_sets[i].name, word) == 0) {
			*kinds |= event_sets[i].kinds;
			return 0;
		}
	}
	if (kind && (kind < EV_PROBE || EV_BIT(kind) & SCX_KINDS)) {
		*kinds |= EV_BIT(kind);
		return 0;
	}
	near = opt_nearest(word, event_set_names);
	snprintf(hint, sizeof(hint), near ? "did you mean '%s'?" : "see 'schedscope record --help'",
	         near);
	return diag_set(d, -EINVAL, hint, "'%.60s' is no event that can be recorded", word);
}

static int add_list(const char *list, uint64_t *kinds, struct diag *d)
{
	SCOPED(scoped_free) char *words = strdup(list);
	char *rest = words, *word;
	int err = words ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");

	while (!err && (word = strsep(&rest, ",")))
		err = add_events(word, kinds, d);
	return err;
}

static int parse_events(const struct opt_list *list, uint64_t *kinds, struct diag *d)
{
	int err = 0;

	*kinds = list->nr ? EV_BIT(EV_SWITCH) | EV_BIT(EV_WAKING) : DEFAULT_KINDS;
	for (size_t i = 0; !err && i < list->nr; i++)
		err = add_list(list->items[i], kinds, d);
	/* Records carry ids; names come from the lifecycle. */
	*kinds |= TASK_KINDS;
	return err;
}

/* Whether sched_ext was asked for in so many words, and not as a part of all. */
static bool names_scx(const struct opt_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcasestr(list->items[i], "scx") || strcasestr(list->items[i], "dsq"))
			return true;
	return false;
}

/* Names of the events to count; the pointers are into the names. */
struct pmu_words {
	char names[EV_PMU_MAX][PMU_NAME_MAX];
	const char *words[EV_PMU_MAX];
	size_t nr;
};

static int add_pmu(struct pmu_words *p, const char *name, struct diag *d)
{
	for (size_t i = 0; i < p->nr; i++)
		if (strcmp(p->names[i], name) == 0)
			return 0;
	if (!name[0])
		return diag_set(d, -EINVAL, "leave the comma out", "--pmu has a name missing");
	if (strlen(name) >= PMU_NAME_MAX)
		return diag_set(d, -EINVAL, NULL, "'%.60s...' is too long for an event", name);
	if (p->nr == EV_PMU_MAX)
		return diag_set(d, -EINVAL, "record the others in a second run",
		                "'%s' is one event too many: %d at a time", name, EV_PMU_MAX);
	memcpy(p->names[p->nr], name, strlen(name) + 1);
	p->words[p->nr] = p->names[p->nr];
	p->nr++;
	return 0;
}

static int parse_pmu(const struct opt_list *list, struct pmu_words *out, struct diag *d)
{
	char name[2 * PMU_NAME_MAX];
	int err = 0;

	for (size_t i = 0; i < list->nr; i++) {
		for (const char *at = list->items[i]; !err && at;) {
			at = pmu_next_name(at, name, sizeof(name));
			err = add_pmu(out, name, d);
		}
	}
	return err;
}

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

static void show_progress(void *ctx, const struct recorder_stats *s)
{
	char rate[32];

	(void)ctx;
	fprintf(stderr, "\r%6.1f s  %llu events  %s/s  %.1f MB  %llu lost ",
	        (double)s->elapsed_ns / 1e9, (unsigned long long)s->events,
	        text_rate(rate, sizeof(rate), (double)s->events * 1e9 / (double)s->elapsed_ns),
	        (double)s->bytes / 1e6, (unsigned long long)s->lost);
}

static void show_summary(const struct recorder_stats *s, const char *path, bool has_progress)
{
	static const char *const unit = "bytes per event";
	double seconds = (double)s->elapsed_ns / 1e9;

	if (has_progress)
		fputs("\r\033[K", stderr);
	fprintf(stderr, "%s: %.1f s, %llu events (%llu switches, %llu wakings), %llu lost, %.1f MB",
	        path, seconds, (unsigned long long)s->events, (unsigned long long)s->switches,
	        (unsigned long long)s->wakings, (unsigned long long)s->lost,
	        (double)s->bytes / 1e6);
	if (s->hits)
		fprintf(stderr, ", %llu probe hits", (unsigned long long)s->hits);
	if (s->one_in > 1)
		fprintf(stderr, ", one wakeup in %llu sampled", (unsigned long long)s->one_in);
	if (s->written)
		fprintf(stderr, ", %.1f %s", (double)s->bytes / (double)s->written, unit);
	fputc('\n', stderr);
	for (unsigned int kind = 1; kind < EV_KIND_MAX; kind++)
		if (s->missing & EV_BIT(kind))
			log_info("this kernel has no tracepoint for %s", ev_kind_name(kind));
	if (s->breaks && !s->is_filtered)
		log_warn(
			"%llu switches do not follow from the one before: this kernel leaves some out",
			(unsigned long long)s->breaks);
}

/* What was asked for by name and cannot be had is worth a word before, not after. */
static void tell_missing(const struct recorder *r, const struct opt_list *events)
{
	bool is_there = access("/sys/kernel/sched_ext", F_OK) == 0;

	if (recorder_missing(r) & SCX_KINDS && names_scx(events))
		log_warn("scx events are not available: this kernel %s",
		         is_there ? "does not let sched_ext be traced" : "has no sched_ext");
}

static int record(const struct recorder_cfg *cfg, const struct opt_list *events, struct diag *d)
{
	/* Onto a terminal that is free for it: neither the command's nor that of the trace itself. */
	bool has_progress = isatty(STDERR_FILENO) && !cfg->command;
	struct recorder *r = NULL;
	struct recorder_stats stats = { 0 };
	enum recorder_end why = RECORDER_END_TIME;
	int err = recorder_open(cfg, d, &r), closing;

	if (err)
		return err;
	if (recorder_nr_cgroups(r) == 0 && cfg->nr_cgroup)
		log_warn("no cgroup matches: nothing but the lives of tasks will be recorded");
	tell_missing(r, events);
	err = recorder_run(r, has_progress ? show_progress : NULL, NULL, d, &why);
	closing = recorder_close(r, &stats, err ? NULL : d);
	show_summary(&stats, cfg->path, has_progress);
	if (why == RECORDER_END_COMMAND && WIFEXITED(stats.command_status) &&
	    WEXITSTATUS(stats.command_status))
		log_warn("the command ended with %d", WEXITSTATUS(stats.command_status));
	return err ? err : closing;
}

static int check_args(const struct record_args *args, const struct opt_list *command,
                      struct diag *d)
{
	struct match *match = NULL;
	int err;

	if (args->duration_ns && args->trace_ns)
		return diag_set(d, -EINVAL, "give one of them",
		                "--duration and --trace-ms contradict each other");
	if (args->pid && command->nr)
		return diag_set(d, -EINVAL, "leave one out",
		                "-p and a command contradict each other");
	if (args->wants_stacks)
		return diag_set(d, -ENOTSUP, "leave --stacks out",
		                "not available: stacks come with profiling, which is not there yet");
	err = match_new(args->cgroup.items, args->cgroup.nr, d, &match);
	match_free(match);
	return err || !args->pid ? err : cli_check_pid(args->pid, d);
}

static int run_args(const struct opt_command *self, const struct record_args *args,
                    const struct record_probes *probes, const struct opt_list *command,
                    const char *words)
{
	SCOPED(scoped_free) char **child = NULL;
	struct recorder_cfg cfg = {
		.path = args->output,
		.tgid = (uint32_t)args->pid,
		.cgroup = args->cgroup.items,
		.nr_cgroup = args->cgroup.nr,
		.probes = probes->items,
		.nr_probes = probes->nr,
		.one_in = (uint32_t)args->one_in,
		.wants_system_stats = args->wants_system_stats,
		.is_per_cpu_rings = args->rings == 1,
		.ring_bytes = (uint32_t)args->ring_kib * 1024,
		.is_compressed = args->is_compressed,
		.duration_ns = args->duration_ns ? args->duration_ns : args->trace_ns,
		.command_line = words,
	};
	struct pmu_words pmu = { .nr = 0 };
	struct diag d = { 0 };
	char name[64];
	int err = parse_events(&args->events, &cfg.kinds, &d);

	if (!err)
		err = parse_pmu(&args->pmu, &pmu, &d);
	if (!err)
		err = check_args(args, command, &d);
	cfg.pmu = pmu.words;
	cfg.nr_pmu = pmu.nr;
	if (err == -EINVAL)
		return cli_usage_error(self, &d);
	if (!err && command->nr) {
		child = calloc(command->nr + 1, sizeof(*child));
		if (!child)
			err = diag_set(&d, -ENOMEM, NULL, "out of memory");
		for (size_t i = 0; child && i < command->nr; i++)
			child[i] = (char *)command->items[i];
		cfg.command = child;
	}
	signal(SIGPIPE, SIG_IGN);
	if (cfg.path && strcmp(cfg.path, "-") == 0)
		cfg.path = "/dev/stdout";
	if (!cfg.path) {
		default_name(name, sizeof(name));
		cfg.path = name;
	}
	if (!err)
		err = record(&cfg, &args->events, &d);
	return err ? cli_fail(&d) : CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct record_args args = defaults;
	struct opt_result operands = { 0 };
	struct record_probes probes = { 0 };
	struct diag d = { 0 };
	char words[1024];
	int exit_code;

	join_words(argc, argv, words, sizeof(words));
	if (cli_parse(self, argc, argv, &args, &operands, &exit_code)) {
		if (args.is_verbose)
			log_set_level(LOG_INFO);
		if (args.is_debug)
			log_set_level(LOG_DEBUG);
		if (record_probes_make(&args.kprobes, &args.uprobes, &args.tracepoints, &probes,
		                       &d))
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
	return exit_code;
}

const struct opt_command cmd_record = {
	.name = "record",
	.alias = "trace",
	.summary = "write what happens into a Perfetto trace",
	.operands = "[COMMAND...]",
	.description =
		"Records scheduling events of the whole machine, or of one process or cgroup, into a Perfetto trace, "
		"which opens in ui.perfetto.dev. With a command, records while it runs.\n\n"
		"The file can be loaded at any moment, also after the program was killed or the disk was full. Memory "
		"does not grow with the recording. Events that found no room in the ring buffers are counted per kind "
		"and CPU, told in the summary and stored in the trace.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.stops_at_operand = true,
	.run = run,
};
