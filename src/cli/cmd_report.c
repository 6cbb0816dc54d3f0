#include <errno.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/report_file.h"
#include "cli/trace_args.h"
#include "report/compare/compare.h"

struct report_args {
	struct trace_args rows;
	const char *output;
	const char *title;
	struct opt_list after; /* recordings to compare with */
	bool is_forced;
};

static const struct report_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	OPT_STRING('o', "output", "FILE", struct report_args, output,
		"where to write; report.html in the current directory if not given, - for standard output", .is_file = true,
		.details = "An older report of that name is replaced. Any other file is left alone, unless --force is given."),
	OPT_STRING(0, "title", "TEXT", struct report_args, title, "the heading of the page; made of the file's name if not given"),
	OPT_LIST(0, "compare", "FILE...", struct report_args, after, "what has changed in these recordings, since those named first", .is_file = true,
		.takes_words = true,
		.details = "All words up to the next option are such files. Recordings named first are before, these after, as in diff. Name at "
			   "least three of each, better six, to tell a change from what differs between recordings anyway. The rest of the page is about the "
			   "first recording. --from and --to count from the start of each."),
	OPT_FLAG(0, "force", struct report_args, is_forced, "replace a file that is no report, too"),
	TRACE_ARGS_OPTIONS(struct report_args, rows),
	OPT_END,
};
/* clang-format on */

static const struct opt_example examples[] = {
	{ "schedscope report t.pftrace", "a page about a recording, report.html" },
	{ "schedscope report t.pftrace -o slow.html --title 'Slow requests of Monday'",
	  "for a ticket" },
	{ "schedscope report t.pftrace --from 2s --to 3s -c 'nginx*'",
	  "one second of some threads" },
	{ "schedscope report before.pftrace --compare after.pftrace",
	  "what a change has brought, on the same axes" },
	{ "schedscope report a1.pftrace a2.pftrace a3.pftrace --compare b1.pftrace b2.pftrace b3.pftrace",
	  "several runs of each, so that chance is known" },
	{ 0 },
};

/* One recording of a side; it is closed afterwards, as only sums are kept. */
static int add_recording(const struct report_args *args, struct report_compare *c,
                         enum compare_side side, const char *path, struct diag *d)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	struct pass_args pass;
	int err = trace_args_open(path, d, &rec);

	if (!err)
		err = trace_args_fill(&args->rows, recording_source(rec), d, &pass);
	return err ? err : report_compare_add(c, side, recording_source(rec), &pass, d);
}

/* first is the recording that is loaded already; NULL in *out where nothing is compared. */
static int compare(const struct report_args *args, const struct opt_list *words,
                   const struct source *first, const struct pass_args *pass, struct diag *d,
                   struct report_compare **out)
{
	SCOPED(scoped_report_compare) struct report_compare *c = NULL;
	int err;

	if (!args->after.nr)
		return 0;
	err = report_compare_new(d, &c);
	if (!err)
		err = report_compare_add(c, COMPARE_BEFORE, first, pass, d);
	for (size_t i = 1; !err && i < words->nr; i++)
		err = add_recording(args, c, COMPARE_BEFORE, words->items[i], d);
	for (size_t i = 0; !err && i < args->after.nr; i++)
		err = add_recording(args, c, COMPARE_AFTER, args->after.items[i], d);
	if (!err)
		err = report_compare_judge(c, d);
	if (!err)
		*out = TAKE_PTR(c);
	return err;
}

static void name_others(struct report_file *file, const struct opt_list *before,
                        const struct opt_list *after)
{
	for (size_t i = 1; i < before->nr; i++)
		report_file_command_add(file, "", before->items[i]);
	for (size_t i = 0; i < after->nr; i++)
		report_file_command_add(file, i ? "" : "--compare", after->items[i]);
}

static int make(const struct opt_command *self, const struct report_args *args,
                const struct opt_list *words, struct diag *d)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	SCOPED(scoped_report_compare) struct report_compare *compared = NULL;
	struct report_file file = { .path = args->output ? args->output : REPORT_FILE_NAME,
		                    .title = args->title,
		                    .is_forced = args->is_forced };
	struct pass_args pass;

	if (report_file_check(&file, d) || trace_args_open(words->items[0], d, &rec))
		return cli_fail(d);
	if (trace_args_fill(&args->rows, recording_source(rec), d, &pass))
		return cli_usage_error(self, d);
	if (trace_args_find(&pass, recording_source(rec), d))
		return cli_fail(d);
	if (compare(args, words, recording_source(rec), &pass, d, &compared))
		return cli_fail(d);
	file.compare = compared;
	report_file_command(&file, words->items[0], &args->rows);
	name_others(&file, words, &args->after);
	return report_file_write(&file, recording_source(rec), &pass, d) ? cli_fail(d) : CLI_OK;
}

static int run_args(const struct opt_command *self, const void *given, const struct opt_list *words)
{
	const struct report_args *args = given;
	struct diag d = { 0 };

	if (!words->nr) {
		(void)!trace_args_one(words, "report", &d);
		return cli_usage_error(self, &d);
	}
	if (words->nr > 1 && !args->after.nr) {
		diag_set(&d, -EINVAL, "name what they are compared with: --compare FILE...",
		         "one file at a time");
		return cli_usage_error(self, &d);
	}
	return make(self, args, words, &d);
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct report_args args = defaults;
	int exit_code = cli_run(self, argc, argv, &args, run_args);

	opt_list_done(&args.after);
	return exit_code;
}

const struct opt_command cmd_report = {
	.name = "report",
	.summary = "one HTML file about a recorded trace, to read and to pass on",
	.operands = "FILE...",
	.description =
		"Writes a page that needs nothing else: it opens from a disk in any browser, fetches nothing, "
		"can be read without scripts, and prints. It begins with the verdict in a few sentences: who lost "
		"how much time to what, how sure that is, and what helps, each linked to its evidence. Then come "
		"what the recording lacks, the worst waits, who kept whom waiting, latencies, CPUs, threads, "
		"wakers, flame graphs where there are stacks, tasks, interrupts and power.\n\n"
		"In the page a span of time, a latency, a task or a cgroup can be selected, and everything follows; "
		"beside it stands the command that prints the same. The data behind each figure are in the file as JSON.\n\n"
		"With --compare a section says first what differs in the machines and recordings, then what changed, with "
		"intervals, and shows waits before, after and their difference on the same axes. What is not proved is "
		"called so.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
