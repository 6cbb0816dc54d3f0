#include <errno.h>
#include <stdio.h>

#include "analyze/diff.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/command.h"
#include "cli/trace_args.h"
#include "render/report_json.h"
#include "render/report_text.h"

struct diff_args {
	struct trace_args rows;
	const char *by;
	bool has_noise;
	bool is_json;
};

static const struct diff_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	TRACE_ARGS_OPTIONS(struct diff_args, rows),
	OPT_STRING(0, "by", "WHAT", struct diff_args, by, "what a row adds up: thread, process, comm (tasks of one name), cgroup, class (deadline, real-time, fair, ext)",
		.details = "Names have to be the same in both recordings: comm if not given. Of threads and processes, only those that are in "
			   "both, by name and id, are compared."),
	OPT_FLAG('a', "all", struct diff_args, has_noise, "also what did not change beyond noise", .heading = "How to show it"),
	OPT_FLAG(0, "json", struct diff_args, is_json, "one JSON object, for programs"),
	OPT_END,
};
/* clang-format on */

static const struct opt_example examples[] = {
	{ "schedscope diff before.pftrace after.pftrace",
	  "what got better or worse, beyond noise" },
	{ "schedscope diff eevdf.pftrace scx.pftrace --comm 'nginx*' --all",
	  "two schedulers, some threads, every number" },
	{ "schedscope diff monday.pftrace tuesday.pftrace --by cgroup",
	  "which services got better or worse" },
	{ 0 },
};

static int show(const struct diff_args *args, const struct report_node *root, struct diag *d)
{
	struct report_text_cfg cfg = { .width = trace_args_width(),
		                       .is_utf8 = trace_args_is_utf8() };
	struct json_writer w;
	int err;

	if (args->is_json) {
		jw_init(&w, stdout, true);
		report_json(&w, NULL, root);
		err = jw_finish(&w);
	} else {
		err = report_text(root, &cfg, stdout);
	}
	return cli_written(err, d);
}

static int run_args(const struct opt_command *self, const void *given, const struct opt_list *words)
{
	const struct diff_args *args = given;
	SCOPED(scoped_recording) struct recording *a = NULL;
	SCOPED(scoped_recording) struct recording *b = NULL;
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args_a, args_b;
	struct diff_cfg cfg = { .args_a = &args_a,
		                .args_b = &args_b,
		                .has_noise = args->has_noise };
	struct diag d = { 0 };

	if (words->nr != 2) {
		diag_set(&d, -EINVAL, NULL, "two files are compared, %zu given", words->nr);
		return cli_usage_error(self, &d);
	}
	if (trace_args_open(words->items[0], &d, &a) || trace_args_open(words->items[1], &d, &b))
		return cli_fail(&d);
	cfg.a = recording_source(a);
	cfg.b = recording_source(b);
	if (trace_args_fill(&args->rows, cfg.a, &d, &args_a) ||
	    trace_args_fill(&args->rows, cfg.b, &d, &args_b))
		return cli_usage_error(self, &d);
	if (args->by && trace_args_by(args->by, &d, &args_a.by))
		return cli_usage_error(self, &d);
	args_b.by = args_a.by;
	cfg.limit = args_a.limit;
	if (diff_run(&cfg, &d, &r) || show(args, report_root(r), &d))
		return cli_fail(&d);
	return CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct diff_args args = defaults;

	return cli_run(self, argc, argv, &args, run_args);
}

const struct opt_command cmd_diff = {
	.name = "diff",
	.summary = "two recorded traces side by side: what got better or worse, beyond noise",
	.operands = "A B",
	.description =
		"Compares waits, slices, runtime, switches and migrations, of all tasks together "
		"and by task name, or what --by says. Each recording is cut into 16 parts of equal length; how much "
		"the parts differ gives the confidence interval (95 %) beside each number, and the "
		"probability that the difference is chance. A change is shown when it is at least "
		"2 % and that probability, corrected for all tests of the comparison (Holm), is so "
		"small that any false change would be shown in at most 1 of 100 comparisons of "
		"equal recordings. Lower is better for waits; other numbers are only called more "
		"or less. A number with values in fewer than 6 parts is not tested.\n\n"
		"--from and --to count from the start of each recording.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
