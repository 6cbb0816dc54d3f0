#include <errno.h>
#include <stdio.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_args.h"
#include "render/explain_text.h"
#include "render/report_json.h"

struct explain_args {
	struct trace_args rows;
	const char *at;
	bool has_sleeps;
	bool has_chain;
	const char *by;
	const char *svg;
	bool is_json;
};

static const struct explain_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	OPT_STRING(0, "at", "TIME", struct explain_args, at, "the wait, or else the sleep, at that moment: 1.5s after the start, or @NS",
		.heading = "Which waits"),
	OPT_FLAG(0, "sleeps", struct explain_args, has_sleeps, "sleeps instead of waits: what for, what ended them"),
	TRACE_ARGS_OPTIONS(struct explain_args, rows),
	OPT_STRING(0, "by", "WHAT", struct explain_args, by,
		"how the tasks that it waited behind are grouped: comm (those of one name) if not given, thread, process, cgroup",
		.heading = "How to show them",
		.details = "Without it, those of another cgroup are one where names would be too many."),
	OPT_FLAG(0, "chain", struct explain_args, has_chain, "draw which task waited or slept for which, as a tree"),
	OPT_STRING(0, "svg", "FILE", struct explain_args, svg,
		"write the same for the first of them as a picture to FILE", .is_file = true),
	OPT_FLAG(0, "json", struct explain_args, is_json, "one JSON object, for programs"),
	OPT_END,
};
/* clang-format on */

static const struct opt_example examples[] = {
	{ "schedscope explain t.pftrace", "why the three longest waits were so long" },
	{ "schedscope explain t.pftrace --comm 'nginx*' -n 10",
	  "the ten longest waits of some threads" },
	{ "schedscope explain t.pftrace --comm web -n 1 --by cgroup",
	  "which cgroups kept it waiting longest" },
	{ "schedscope explain t.pftrace --tid 4242 --at 1.25s --chain",
	  "one wait, and what kept its waker waiting" },
	{ "schedscope explain t.pftrace --sleeps --comm web --chain",
	  "the longest sleeps of a task: what for, and what the others did meanwhile" },
	{ "schedscope explain t.pftrace -n 1 --svg why.svg",
	  "the chain of the longest wait as a picture" },
	{ 0 },
};

static void write_svg(const void *ctx, FILE *out)
{
	(void)!explain_svg(
		ctx,
		out); /* that there is one was checked; errors of the stream are the caller's */
}

static int show(const struct explain_args *args, const char *file, const struct report_node *root,
                const struct source *of, struct diag *d)
{
	struct explain_text_cfg cfg = { .has_chain = args->has_chain,
		                        .is_utf8 = trace_args_is_utf8(),
		                        .is_colored = trace_args_is_colored(),
		                        .width = trace_args_width(),
		                        .height = args->rows.has_limit ? 0 : trace_args_height(),
		                        .clock = { true, of->start_ns },
		                        .file = file };
	struct json_writer w;
	int err;

	if (args->svg && !report_at(root, "waits.0") && !report_at(root, "sleeps.0"))
		return diag_set(
			d, -ENODATA,
			"leave out --svg, or choose another: 'schedscope analyze FILE' names those that waited",
			"no %s matches, so there is nothing to draw",
			args->has_sleeps ? "sleep" : "wait");
	if (args->svg) {
		err = output_write(args->svg, write_svg, root, d);
		if (err)
			return err;
	}
	if (args->is_json) {
		jw_init(&w, stdout, true);
		report_json(&w, NULL, root);
		err = jw_finish(&w);
	} else {
		err = explain_text(root, &cfg, stdout);
	}
	return cli_written(err, d);
}

static int check_moment(uint64_t at_ns, const struct source *s, struct diag *d)
{
	if (!at_ns || (at_ns >= s->start_ns && at_ns <= s->end_ns))
		return 0;
	return diag_set(d, -ENODATA, "times count from its start; @NS is on its clock",
	                "--at is not within the trace, which is %.3f s long",
	                (double)(s->end_ns - s->start_ns) / 1e9);
}

static int run_args(const struct opt_command *self, const void *given, const struct opt_list *words)
{
	const struct explain_args *args = given;
	SCOPED(scoped_recording) struct recording *rec = NULL;
	SCOPED(scoped_report) struct report *r = NULL;
	struct diag d = { 0 };
	struct pass_args pass;

	if (trace_args_one(words, "explain", &d))
		return cli_usage_error(self, &d);
	if (args->by && args->has_sleeps) {
		diag_set(
			&d, -EINVAL, "leave one of them out",
			"--by groups the tasks that others waited behind, and does not apply to --sleeps");
		return cli_usage_error(self, &d);
	}
	if (trace_args_open(words->items[0], &d, &rec))
		return cli_fail(&d);
	if (trace_args_fill(&args->rows, recording_source(rec), &d, &pass) ||
	    trace_args_time(args->at, "at", recording_source(rec), &d, &pass.at_ns) ||
	    (args->by && trace_args_by(args->by, &d, &pass.by)))
		return cli_usage_error(self, &d);
	if (trace_args_find(&pass, recording_source(rec), &d) ||
	    check_moment(pass.at_ns, recording_source(rec), &d))
		return cli_fail(&d);
	pass.category = args->has_sleeps ? "sleeps" : NULL;
	pass.is_drawn = args->svg;
	if (pass_run(&pass_explain, recording_source(rec), &pass, &d, &r) ||
	    show(args, words->items[0], report_root(r), recording_source(rec), &d))
		return cli_fail(&d);
	return CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct explain_args args = defaults;

	return cli_run(self, argc, argv, &args, run_args);
}

const struct opt_command cmd_explain = {
	.name = "explain",
	.summary = "why a task of a recorded trace waited for a CPU, or slept, in plain sentences",
	.operands = "FILE",
	.description =
		"For the three longest waits (on a terminal as many of them as fit, with -n as many as it says), or the one at "
		"--at: what ran on that CPU meanwhile and for how long, which interrupts it served, which other CPUs that the task may use "
		"were idle, how often the task was moved, what woke it, and what its waker had "
		"waited for.\n\n"
		"A wait begins with the waking (or the wakeup, where only that was recorded), or "
		"with the loss of the CPU, and ends when the task runs. The CPU is the one on "
		"which it finally ran. Recordings made with schedscope say which CPUs a task may "
		"use; in others every CPU counts.\n\n"
		"With --sleeps: in which system call the task slept and what for, which task, "
		"timer or device ended the sleep, and what that task did meanwhile: how long it "
		"ran, waited for a CPU and behind what, and slept, and so on. The task that "
		"releases a futex next is the one that had it. System calls are in recordings "
		"made with record --events default,sleep; without them states and wakers are "
		"all that is known. Where no task is named, those of programs that a task has ended come "
		"first.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
