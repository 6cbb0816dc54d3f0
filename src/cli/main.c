#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "abi/stat.h"
#include "base/version.h"
#include "cli/command.h"
#include "sys/rights/privilege.h"

#define AS_TEXT_(x) #x
#define AS_TEXT(x)  AS_TEXT_(x) /* of a macro: its value */

struct main_args {
	bool wants_version;
};

static const struct opt main_options[] = {
	OPT_FLAG('V', "version", struct main_args, wants_version, "show the version"),
	OPT_END,
};

/* A new command is one line here, in the order of --help. */
/* clang-format off */
static const struct opt_command *const commands[] = {
	&cmd_top,
	&cmd_stat,
	&cmd_record,
	&cmd_profile,
	&cmd_analyze,
	&cmd_query,
	&cmd_explain,
	&cmd_diff,
	&cmd_report,
	&cmd_export,
	&cmd_convert,
	&cmd_serve,
	&cmd_mcp,
	&cmd_doctor,
	&cmd_generate_completions,
	&cmd_generate_man,
	&cmd_complete,
	&cmd_help,
	NULL,
};
/* clang-format on */

/* The meaning of every number, in short; docs/definitions.md has the whole of it. */
static const char description[] =
	"Adds up in the kernel what the scheduler does to each thread, and shows it. Without a command it "
	"shows the screen of top; without a terminal it prints a summary of two seconds.\n\n"
	"Live data needs root, or CAP_BPF and CAP_PERFMON, and a kernel with type information (BTF). "
	"schedscope doctor says what works on this machine, and what to do about the rest.\n\n"
	"The numbers mean the following, in every command. Times are measured with the boot clock of the "
	"kernel, from tracepoint to tracepoint. The idle task (tid 0) is never counted as a task.\n\n"
	"Scheduling delay (group latency): from the moment a task becomes runnable until it runs. It is "
	"kept by cause. woken: from sched_wakeup. new: from sched_wakeup_new, once per task. preempted: "
	"from the switch that took the CPU away from a task that was still runnable, sched_yield(2) "
	"included. A task that moves to another queue while it waits goes on waiting; the delay counts on "
	"the CPU where it runs in the end.\n\n"
	"Waking delay (group waking): from the first sched_waking since the task slept until it runs. It "
	"includes the way to the other CPU, which the scheduling delay does not. If the task was still on "
	"its CPU when the waking came, the delay starts when it leaves that CPU. If sched_wakeup finds it "
	"still there, no task was woken and nothing is counted.\n\n"
	"Slice (group slice): from getting a CPU to leaving it. Involuntary if the task was still runnable, "
	"else voluntary. PREEMPT% is the share of involuntary ones. A slice counts when it ends; STILL_ON "
	"is the longest one that has not ended yet.\n\n"
	"Sleep (group sleep): from leaving the CPU not runnable to the next wakeup, by state: S "
	"interruptible, D uninterruptible, other (stopped, traced, parked, idle kernel threads). It counts "
	"when it ends.\n\n"
	"Idle (group sleep): per CPU, from the switch to the idle task to the switch away from it.\n\n"
	"Queue depth (group latency): runnable tasks on the queue at a wakeup, the woken one included, so 1 "
	"is alone.\n\n"
	"Migration (group migration): a move to another CPU. Rates are one sample per thread and second "
	"with at least one move.\n\n"
	"Outlier: one delay of at least the given length. HELD_BY says which tasks ran meanwhile on the CPU "
	"whose queue the task waited on, from the last " AS_TEXT(
		STAT_HISTORY) " slices of that CPU; what they do not cover is unknown.\n\n"
			      "COUNT is the number of samples. PROCS is the number of threads with any sample in the view. "
			      "COUNT, MEAN, minimum and MAX are exact; MAX_AT says when the longest one ended, and on which CPU. "
			      "Percentiles are nearest rank (element ceil(p*n), at least the first), interpolated inside a slot "
			      "of the histogram and never beyond minimum or maximum. Slots are 1 us wide below 32 us, 10 us below "
			      "512 us, and at most 1/8 of the value above.\n\n"
			      "Unknown is shown as \"-\", in JSON as null, never as 0. What could not be counted is in the last "
			      "line as lost, by reason.";

static const struct opt_example examples[] = {
	{ "schedscope", "the scheduler live, full screen" },
	{ "schedscope doctor", "what works on this machine" },
	{ "schedscope stat", "which tasks wait for a CPU, until Ctrl-C" },
	{ "schedscope help stat", "everything that stat can do" },
	{ 0 },
};

const struct opt_program cli_program = {
	.name = "schedscope",
	.version = schedscope_version,
	.date = "2026-11-15",
	.summary = "show what the Linux scheduler does",
	.description = description,
	.options = main_options,
	.commands = commands,
	.examples = examples,
};

/* What stands before the command: parsed like a command whose operands are all remaining words. */
static const struct opt_command top = {
	.name = "",
	.operands = "COMMAND ...",
	.options = main_options,
	.stops_at_operand = true,
};

/* A full disk shows itself only now; a reader that exited, as in "| head", is not a failure. */
static int finish(int exit_code)
{
	struct diag d = { 0 };

	if (fflush(stdout) == 0 && !ferror(stdout))
		return exit_code;
	if (exit_code != CLI_OK || cli_is_reader_gone()) /* has been reported, or need not be */
		return exit_code;
	diag_set(&d, errno ? -errno : -EIO, NULL, "cannot write to standard output");
	return cli_fail(&d);
}

/* Without a command: the screen; off a terminal a summary that ends by itself. */
static int run_default(void)
{
	static char top_word[] = "top";
	char *words[] = { top_word, NULL };

	return cmd_top.run(&cmd_top, 1, words);
}

/* scxtop takes the options of its screen without a command; those that are ours come first. */
static bool is_of_top(const char *word)
{
	size_t len = strcspn(word, "=");

	if (word[0] != '-')
		return false;
	for (const struct opt *o = cmd_top.options; o->type != OPT_TYPE_END; o++)
		if ((word[1] != '-' && o->short_name && word[1] == o->short_name) ||
		    (word[1] == '-' && strlen(o->long_name) == len - 2 &&
		     strncmp(o->long_name, word + 2, len - 2) == 0))
			return true;
	return false;
}

static int run(int argc, char **argv)
{
	struct main_args args = { 0 };
	struct opt_result result = { 0 };
	const struct opt_command *cmd;
	struct diag d = { 0 };
	int nr_rest;

	if (argc > 1 && is_of_top(argv[1]))
		return cmd_top.run(&cmd_top, argc, argv);
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
	struct diag d = { 0 };
	int err = privilege_hide();

	/* A program started from /proc/self/exe would be called exe in every list of processes. */
	(void)prctl(PR_SET_NAME, program_invocation_short_name, 0, 0, 0);
	if (err)
		return diag_set(&d, err, NULL, "cannot lower the capabilities of this program"),
		       cli_fail(&d);
	return finish(run(argc, argv));
}
