#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/profile_files.h"
#include "cli/record/record_stacks.h"
#include "cli/trace_args.h"
#include "profile/profile_groups.h"
#include "profile/profile_read.h"
#include "profile/profiler/profiler.h"
#include "render/profile_export.h"
#include "render/profiler_json.h"
#include "sys/command.h"
#include "sys/rights/broker.h"
#include "sys/rights/privilege.h"
#include "sys/watch.h"

#define SECOND_NS   1000000000ULL
#define MS_NS       1000000ULL
#define YEAR_NS     (366ULL * 86400 * SECOND_NS)
#define POLL_NS     (20 * MS_NS) /* processes that begin are walked by frame pointers until then */
#define OFF_TTY_NS  (5 * SECOND_NS) /* where Ctrl-C cannot be pressed */
#define MAX_HZ      100000
#define DEFAULT_TOP 30

struct profile_args {
	const char *event;
	const char *diff;
	uint64_t frequency;
	uint64_t period;
	uint64_t min_off_ns;
	uint64_t cpu;
	uint64_t pid;
	uint64_t duration_ns;
	uint64_t max_samples;
	uint64_t limit;
	struct opt_list cgroup;
	int unwind; /* enum profiler_unwind */
	int by;     /* 0 = functions, else enum profile_by + 1 */
	struct profile_files to;
	bool has_frequency;
	bool has_cpu;
	bool is_off_cpu;
	bool is_waker;
	bool is_wall;
	bool no_kernel;
	bool no_user;
	bool wants_lines;
	bool is_json;
	bool no_stacks;
	bool is_by_total;
	bool is_verbose;
};

static const char *const unwind_names[] = {
	[PROFILER_UNWIND_AUTO] = "auto",
	[PROFILER_UNWIND_FP] = "fp",
	[PROFILER_UNWIND_TABLE] = "table",
	[PROFILER_UNWIND_DWARF] = "dwarf",
	NULL,
};

/* profile_by_names, behind the usual one. */
static const char *const by_names[] = {
	"function",
	[1 + PROFILE_GROUP_THREAD] = "thread",
	[1 + PROFILE_GROUP_PROCESS] = "process",
	[1 + PROFILE_GROUP_COMM] = "comm",
	[1 + PROFILE_GROUP_CGROUP] = "cgroup",
	[1 + PROFILE_GROUP_WAIT] = "wait",
	NULL,
};

static const struct profile_args defaults = { .frequency = PROFILER_DEFAULT_HZ };

/* clang-format off */
static const struct opt options[] = {
	OPT_STRING('e', "event", "EVENT", struct profile_args, event,
		"what to sample; CPU cycles where there is a PMU, else cpu-clock", .heading = "What",
		.details = "hw:NAME (cycles, instructions, cache-misses, ...), sw:NAME (cpu-clock, task-clock, page-faults, "
			   "context-switches, cpu-migrations, ...), the name of any event of any PMU, tracepoint:SUBSYSTEM:NAME, "
			   "uprobe:PATH:SYMBOL. See 'schedscope stat --perf-list'."),
	OPT_FLAG(0, "off-cpu", struct profile_args, is_off_cpu, "where tasks block, by the time until they run again"),
	OPT_FLAG(0, "wakers", struct profile_args, is_waker, "the stacks of tasks that wake others"),
	OPT_FLAG(0, "wall", struct profile_args, is_wall, "CPU samples by wall clock: parts in which little runs at the same time weigh more",
		.details = "A sample weighs the time that it stands for, divided by the number of CPUs that run tasks of the profile at that moment. "
			   "What a program does on one CPU, while its other threads wait, stands out."),
	OPT_U64('F', "frequency", "HZ", struct profile_args, frequency, 1, MAX_HZ, "samples per second and busy CPU",
		OPT_GIVEN(struct profile_args, has_frequency)),
	OPT_U64(0, "period", "N", struct profile_args, period, 1, INT64_MAX, "one sample per N events, in place of -F"),
	OPT_DURATION(0, "min-off", "MS", struct profile_args, min_off_ns, MS_NS, 0, YEAR_NS,
		"with --off-cpu: leave out shorter waits"),
	OPT_U64(0, "cpu", "CPU", struct profile_args, cpu, 0, UINT16_MAX, "only this CPU",
		OPT_GIVEN(struct profile_args, has_cpu), .heading = "Which tasks", .old_name = 'C'),
	OPT_U64('p', "pid", "PID", struct profile_args, pid, 1, 4194304,
		"only this process, its threads, and children started meanwhile"),
	OPT_LIST(0, "cgroup", "PATTERN", struct profile_args, cgroup,
		"only tasks in matching cgroups, or below: a path or name, with * and ?, or /REGEX/",
		.details = "In the hierarchy that has the controller cpu. / is the root alone."),
	OPT_FLAG('U', "no-kernel", struct profile_args, no_kernel, "no frames of the kernel"),
	OPT_FLAG('K', "no-user", struct profile_args, no_user, "no frames of programs"),
	OPT_CHOICE(0, "unwind", "HOW", struct profile_args, unwind, unwind_names, "how stacks of programs are walked",
		.details = "table: by what files have for exceptions (.eh_frame), without frame pointers; code without, as of JITs, by frame "
			   "pointers. fp: by frame pointers alone, which costs less. dwarf: registers and 64 KiB of the stack are copied with each "
			   "sample and walked in user space by libdw, as perf does: to compare with, at a far higher cost. auto: table "
			   "where the kernel can, else fp."),
	OPT_DURATION(0, "duration", "SECONDS", struct profile_args, duration_ns, SECOND_NS, 10 * MS_NS, YEAR_NS,
		"stop after this time; until Ctrl-C if not given", .heading = "How long", .old_name = 'd',
		.details = "If not given and standard output is not a terminal, 5 seconds."),
	OPT_U64(0, "max-samples", "N", struct profile_args, max_samples, 1, INT64_MAX, "stop after N samples"),
	PROFILE_FILES_OPTIONS(struct profile_args, to),
	OPT_STRING(0, "diff", "OLD", struct profile_args, diff, "compare with OLD, written before by --folded or --json", .is_file = true,
		.details = "Functions that -n left out of a JSON file look new: --folded has all."),
	OPT_FLAG(0, "json", struct profile_args, is_json,
		"one JSON object: functions, their stacks, and the options of the profile",
		.heading = "How to show it"),
	OPT_FLAG(0, "no-stacks", struct profile_args, no_stacks, "leave the stacks of functions out of the JSON"),
	OPT_CHOICE(0, "by", "WHAT", struct profile_args, by, by_names, "what a row of the list adds up",
		.details = "function, thread, process, comm (threads of one name), cgroup, or with --off-cpu: wait, what tasks waited for. JSON "
			   "has the same in 'groups'."),
	OPT_FLAG(0, "lines", struct profile_args, wants_lines,
		"files, lines and inlined calls too, from debug information; a row of the list is a line"),
	OPT_FLAG(0, "total", struct profile_args, is_by_total, "sort functions by their time including callees"),
	OPT_U64('n', "limit", "N", struct profile_args, limit, 1, UINT32_MAX, "show at most N functions",
		.details = "If not given, 50 in JSON, as many as the terminal has room for in a live list, else 30."),
	OPT_FLAG('v', "verbose", struct profile_args, is_verbose, "log to stderr what is being done", .heading = "Messages"),
	OPT_END,
};

static const struct opt_example examples[] = {
	{ "schedscope profile", "watch which functions take the CPUs, until Ctrl-C" },
	{ "schedscope profile --duration 10 --flamegraph cpu.svg", "ten seconds of the whole machine as a flame graph" },
	{ "schedscope profile --off-cpu -p 4711 --duration 10 --flamegraph off.html", "where a process blocks, and for how long" },
	{ "schedscope profile --off-cpu --by wait --duration 10", "what the tasks of the machine wait for" },
	{ "schedscope profile --wall -- make -j8", "which part of a build runs alone, and holds up the rest" },
	{ "schedscope profile -e page-faults --period 1 -- ./server", "the code that touches new memory" },
	{ "schedscope profile -e tracepoint:sched:sched_migrate_task --duration 5", "the code that moves tasks between CPUs" },
	{ "schedscope profile --duration 10 --folded old.txt; ...; schedscope profile --duration 10 --diff old.txt --flamegraph change.svg",
	  "what a change made slower (red) and faster (blue)" },
	{ 0 },
};
/* clang-format on */

/* A run: what is asked for, and what belongs to it while it lasts. */
struct profile_run {
	const struct profile_args *args;
	struct profiler *profiler;
	struct profile *before;
	struct profile_outputs outputs;
	struct command command;
	struct watch *watch;
	bool is_live; /* the table is shown again and again */
	struct diag *d;
};

static const char *event_of(const struct profile_args *args)
{
	if (args->is_off_cpu)
		return "off-cpu";
	return args->is_waker ? "waker" : args->event;
}

static int check(const struct profile_args *args, const struct opt_list *command, struct diag *d)
{
	if ((args->event != NULL) + args->is_off_cpu + args->is_waker > 1)
		return diag_set(d, -EINVAL, "give one of them",
		                "-e, --off-cpu and --wakers contradict each other");
	if (args->period && args->has_frequency)
		return diag_set(d, -EINVAL, "give one of them",
		                "-F and --period contradict each other");
	if (args->no_kernel && args->no_user)
		return diag_set(d, -EINVAL, "leave one out",
		                "without both kinds of frames there is nothing to show");
	if (args->pid && command->nr)
		return diag_set(d, -EINVAL, "leave one out",
		                "-p and a command contradict each other");
	if (args->is_json && profile_files_take_stdout(&args->to))
		return diag_set(d, -EINVAL, "give a file to one of them",
		                "--json and a file '-' both are standard output");
	if (args->is_wall && (args->is_off_cpu || args->is_waker || args->period))
		return diag_set(
			d, -EINVAL, "leave one out",
			"--wall weighs CPU samples at a frequency: not with --off-cpu, --wakers or --period");
	if (args->by == 1 + PROFILE_GROUP_WAIT && !args->is_off_cpu)
		return diag_set(d, -EINVAL, "add --off-cpu", "--by wait is about waits");
	if (args->by && args->diff)
		return diag_set(d, -EINVAL, "leave one out", "--diff compares functions, not --by");
	if (args->by && args->is_by_total)
		return diag_set(d, -EINVAL, "leave one out", "--total sorts functions, not --by");
	if (args->min_off_ns && !args->is_off_cpu)
		return diag_set(d, -EINVAL, "add --off-cpu", "--min-off is about waits");
	if (profile_files_check(&args->to, d))
		return d->code;
	return args->pid ? cli_check_pid(args->pid, d) : 0;
}

static void show_head(struct profile_run *r, const struct profile *p, FILE *out)
{
	const struct profile_facts *f = profile_facts(p);
	struct profiler_status s;
	char rate[32] = "";

	profiler_status(r->profiler, &s);
	if (s.period)
		snprintf(rate, sizeof(rate), ", 1 in %llu", (unsigned long long)s.period);
	else if (s.frequency)
		snprintf(rate, sizeof(rate), ", %llu Hz", (unsigned long long)s.frequency);
	fprintf(out, "%s%s, %.1f s: %llu samples", s.event, rate, (double)s.duration_ns / 1e9,
	        (unsigned long long)s.samples);
	fprintf(out, ", %llu lost", (unsigned long long)s.lost);
	if (f->broken)
		fprintf(out,
		        f->ends[PROF_END_WHOLE] ? ", %llu not whole" : ", %llu without callers",
		        (unsigned long long)f->broken);
	if (s.nr_skipped)
		fprintf(out, ", %u CPUs not sampled", s.nr_skipped);
	if (s.throttled)
		fprintf(out, ", throttled %llu times", (unsigned long long)s.throttled);
	fputc('\n', out);
}

static bool wants_colours(void)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

static int show_table(struct profile_run *r, const struct profile *p)
{
	size_t height = trace_args_height();
	struct profile_top_cfg cfg = {
		.limit = (uint32_t)r->args->limit,
		.width = (uint32_t)trace_args_width(),
		.is_by_total = r->args->is_by_total,
		.is_by_line = r->args->wants_lines,
		.is_colored = wants_colours(),
		.before = r->before,
	};

	if (!cfg.limit)
		cfg.limit = r->is_live && height ? (uint32_t)(height > 5 ? height - 4 : 1)
		                                 : DEFAULT_TOP;
	if (r->is_live)
		fputs("\033[H\033[J", stdout);
	if (r->args->by)
		return profile_groups_table(p, (enum profile_by)(r->args->by - 1), &cfg, stdout);
	return profile_top(p, &cfg, stdout);
}

static int show_json(struct profile_run *r, const struct profile *p)
{
	struct profiler_status status;
	struct profile_results_cfg cfg = { .limit = (uint32_t)r->args->limit,
		                           .wants_stacks = !r->args->no_stacks };
	struct json_writer w;

	profiler_status(r->profiler, &status);
	cfg.collected = status.samples;
	jw_init(&w, stdout, true);
	jw_begin_object(&w, NULL);
	profile_results(p, &cfg, &w);
	if (r->args->by)
		profile_groups_json(p, (enum profile_by)(r->args->by - 1), cfg.limit, &w);
	profiler_status_json(&w, "profiler", &status);
	jw_end_object(&w);
	return jw_finish(&w);
}

static int show(struct profile_run *r, bool is_final)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	int err = profiler_profile(r->profiler, r->d, &p);

	if (err)
		return err;
	if (is_final) {
		err = profile_files_write(&r->args->to, &r->outputs, p, r->before, r->d);
		if (err)
			return err;
	}
	if (r->args->is_json)
		return is_final ? cli_written(show_json(r, p), r->d) : 0;
	if (is_final && profile_files_any(&r->args->to)) {
		show_head(r, p, stderr);
		return 0;
	}
	err = show_table(r, p);
	if (fflush(stdout) != 0 && !err)
		err = -errno;
	return cli_written(err, r->d);
}

static bool is_asked_to_stop(struct profile_run *r, enum watch_event event)
{
	return event == WATCH_SIGNAL || event == WATCH_OUTPUT ||
	       (event == WATCH_CHILD && command_has_ended(&r->command));
}

static int loop(struct profile_run *r)
{
	uint64_t shown_ns = clock_boot_ns(), end_ns = profiler_deadline_ns(r->profiler);
	enum watch_event event;
	bool is_over = false;
	int err = 0;

	while (!err && !is_over) {
		uint64_t now_ns = clock_boot_ns(), next_ns = now_ns + POLL_NS;

		err = watch_wait(r->watch, next_ns < end_ns ? next_ns : end_ns, &event);
		if (err)
			return diag_set(r->d, err, NULL, "cannot wait");
		err = profiler_poll(r->profiler, &is_over, r->d);
		if (!err && !is_over && is_asked_to_stop(r, event)) {
			is_over = true;
			err = profiler_stop(r->profiler, r->d);
		}
		if (!err && !is_over && r->is_live && now_ns - shown_ns >= SECOND_NS) {
			shown_ns = now_ns;
			err = show(r, false);
		}
	}
	return err;
}

static int start(struct profile_run *r, char *const *words)
{
	const struct profile_args *args = r->args;
	bool has_end = args->duration_ns || args->max_samples || words;
	struct profiler_cfg cfg = {
		.event = event_of(args),
		.frequency = args->has_frequency ? args->frequency : 0,
		.period = args->period,
		.cpu = args->has_cpu ? (uint32_t)args->cpu : PROFILER_ANY_CPU,
		.tgid = (uint32_t)args->pid,
		.cgroup = args->cgroup.items,
		.nr_cgroup = args->cgroup.nr,
		.max_samples = args->max_samples,
		.duration_ns = has_end || isatty(STDOUT_FILENO) ? args->duration_ns : OFF_TTY_NS,
		.min_off_ns = args->min_off_ns,
		.no_kernel = args->no_kernel,
		.no_user = args->no_user,
		.unwind = (enum profiler_unwind)args->unwind,
		.copies_early = true,
		.wants_lines = args->wants_lines,
		.wants_cgroups = args->by == 1 + PROFILE_GROUP_CGROUP,
		.is_wall = args->is_wall,
	};
	int err = words ? command_start(&r->command, words, r->d) : 0;

	if (!err && words)
		cfg.tgid = (uint32_t)r->command.pid;
	if (!err)
		err = profiler_start(r->profiler, &cfg, r->d);
	if (!err)
		err = privilege_drop(0, r->d);
	return err ? err : command_release(&r->command, words ? *words : "", r->d);
}

/* What the numbers do not show, at the end. */
static void show_remarks(struct profile_run *r)
{
	struct profiler_status status;
	struct diag remark = { 0 };

	profiler_status(r->profiler, &status);
	if (status.lost)
		log_warn(
			"%llu samples were lost: too many different stacks, or copies of stacks, at once; -p, --cgroup or --period take fewer",
			(unsigned long long)status.lost);
	while (profiler_remark(r->profiler, &remark))
		record_show_remark(&remark);
	(void)command_has_ended(&r->command); /* if not done before */
	if (!r->command.pid && WIFEXITED(r->command.status) && WEXITSTATUS(r->command.status))
		log_warn("the command ended with %d", WEXITSTATUS(r->command.status));
}

static int run_all(struct profile_run *r, char *const *words)
{
	struct profiler_status status;
	int err = broker_start(BROKER_OUTPUT | BROKER_PERF_EVENTS | BROKER_BIT(BROKER_OPEN), r->d);

	if (!err)
		err = profile_files_open(&r->args->to, &r->outputs, r->d);
	if (!err && r->args->diff)
		err = profile_read_file(r->args->diff, r->d, &r->before);
	if (!err && profiler_new(&r->profiler))
		err = diag_set(r->d, -ENOMEM, NULL, "out of memory");
	if (!err)
		err = watch_open(STDOUT_FILENO, r->d, &r->watch);
	if (!err)
		err = start(r, words);
	if (err)
		return err;
	profiler_status(r->profiler, &status);
	if (status.why_default)
		log_info("%s", status.why_default);
	err = loop(r);
	if (!err)
		err = show(r, true);
	if (!err)
		show_remarks(r);
	return err;
}

static int run_args(const struct opt_command *self, const struct profile_args *args,
                    const struct opt_list *words)
{
	SCOPED(scoped_free) char **child = NULL;
	struct diag d = { 0 };
	struct profile_run r = { .args = args, .d = &d };
	int err = check(args, words, &d);

	if (err == -EINVAL)
		return cli_usage_error(self, &d);
	if (!err)
		err = cli_command_words(words, &d, &child);
	r.is_live = isatty(STDOUT_FILENO) && !args->is_json && !profile_files_any(&args->to) &&
	            !child;
	command_init(&r.command);
	signal(SIGPIPE, SIG_IGN);
	if (!err)
		err = run_all(&r, child);
	command_leave(&r.command, err != 0);
	profiler_free(r.profiler);
	profile_free(r.before);
	profile_outputs_done(&r.outputs);
	broker_stop();
	watch_close(r.watch);
	return err ? cli_fail(&d) : CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct profile_args args = defaults;
	struct opt_result words = { 0 };
	int exit_code;

	if (cli_parse(self, argc, argv, &args, &words, &exit_code)) {
		cli_set_log_level(args.is_verbose, false);
		exit_code = run_args(self, &args, &words.operands);
		opt_result_done(&words);
	}
	opt_list_done(&args.cgroup);
	return exit_code;
}

const struct opt_command cmd_profile = {
	.name = "profile",
	.summary = "where CPU time goes, or where tasks block: by function, as a flame graph",
	.operands = "[COMMAND...]",
	.description =
		"Samples the stacks of what runs, counts equal ones in the kernel, and shows the functions "
		"that took the most, or writes a picture. With a command, profiles it and its children while "
		"it runs.\n\n"
		"Rates are true frequencies: at 99 Hz a CPU that is busy all the time gives 99 samples a "
		"second. Idle CPUs are not part of a profile. Samples that had to be dropped are counted and "
		"reported.\n\n"
		"User stacks are walked by tables, which are made of what programs have for exceptions, so that "
		"ordinary packages, which have no frame pointers, give whole stacks, too. Code without such "
		"entries is walked by frame pointers; so is a process in its first moments, until its tables are "
		"there. How many stacks are not whole, and why, is reported.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.stops_at_operand = true,
	.run = run,
};
