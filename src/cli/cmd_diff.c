#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>

#include "analyze/diff.h"
#include "analyze/diff_fleet.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/command.h"
#include "cli/trace_args.h"
#include "render/diff_text.h"
#include "render/report_json.h"

struct diff_args {
	struct trace_args rows;
	const char *by;
	struct opt_list sides[2]; /* patterns of --a and --b */
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
	OPT_LIST(0, "a", "PATTERN", struct diff_args, sides[0], "recordings of one side, instead of A: a file, or files with * and ?, quoted", .is_file = true,
		.heading = "Sets of recordings",
		.details = "Recordings of one host are one value, the mean of them, so that hosts are compared, and not how often each was recorded. The host is that of "
			   "'record --metadata host=NAME', else the name of the machine. With fewer than 3 hosts on a side each recording is one value; with fewer than 3 "
			   "recordings their parts are compared, as of two recordings. The report says which it was."),
	OPT_LIST(0, "b", "PATTERN", struct diff_args, sides[1], "recordings of the other side, instead of B", .is_file = true),
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
	{ "schedscope diff --a 'before/web*.pftrace' --b 'after/web*.pftrace'",
	  "what a change did to a fleet; a host is one value" },
	{ 0 },
};

static int show(const struct diff_args *args, const struct report_node *root, struct diag *d)
{
	bool is_cut = !args->rows.has_limit && !args->has_noise;
	struct report_text_cfg cfg = { .width = trace_args_width(),
		                       .height = is_cut ? trace_args_height() : 0,
		                       .is_utf8 = trace_args_is_utf8(),
		                       .is_colored = trace_args_is_colored() };
	struct json_writer w;
	int err;

	if (args->is_json) {
		jw_init(&w, stdout, true);
		report_json(&w, NULL, root);
		err = jw_finish(&w);
	} else {
		err = diff_text(root, &cfg, stdout);
	}
	return cli_written(err, d);
}

static bool is_same(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int pair_of_files(const struct opt_command *self, const struct diff_args *args,
                         const struct opt_list *words)
{
	SCOPED(scoped_recording) struct recording *a = NULL;
	SCOPED(scoped_recording) struct recording *b = NULL;
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args_a, args_b;
	struct diff_cfg cfg = { .args_a = &args_a,
		                .args_b = &args_b,
		                .has_noise = args->has_noise };
	struct diag d = { 0 };

	if (words->nr != 2) {
		diag_set(&d, -EINVAL,
		         "write 'schedscope diff BEFORE AFTER', or sets: --a 'old*' --b 'new*'",
		         "two files are compared, and %zu given", words->nr);
		return cli_usage_error(self, &d);
	}
	if (trace_args_open(words->items[0], &d, &a) || trace_args_open(words->items[1], &d, &b))
		return cli_fail(&d);
	if (!args->is_json && is_same(words->items[0], words->items[1]))
		puts("Both are the same file, so nothing can differ.\n");
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

static int add_file(const struct diff_args *args, struct diff_fleet *f, int side, const char *path,
                    struct diag *d)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	struct pass_args pass;
	int err = trace_args_open(path, d, &rec);

	if (!err)
		err = trace_args_fill(&args->rows, recording_source(rec), d, &pass);
	if (!err && args->by)
		err = trace_args_by(args->by, d, &pass.by);
	return err ? err : diff_fleet_add(f, side, recording_source(rec), &pass, d);
}

/* A pattern that is the name of a file is that file, even if it has brackets. */
static int add_pattern(const struct diff_args *args, struct diff_fleet *f, int side,
                       const char *pattern, struct diag *d)
{
	glob_t found = { 0 };
	int err = glob(pattern, GLOB_NOESCAPE, NULL, &found);

	if (err == GLOB_NOMATCH)
		err = diag_set(d, -ENOENT, "check the folder, and quote the pattern",
		               "no file matches '%.200s' of --%c", pattern, 'a' + side);
	else if (err)
		err = diag_set(d, -EIO, NULL, "cannot read the directories of '%.200s'", pattern);
	for (size_t i = 0; !err && i < found.gl_pathc; i++)
		err = add_file(args, f, side, found.gl_pathv[i], d);
	globfree(&found);
	return err;
}

static int sets_of_files(const struct opt_command *self, const struct diff_args *args,
                         const struct opt_list *words)
{
	SCOPED(scoped_diff_fleet) struct diff_fleet *f = diff_fleet_new();
	SCOPED(scoped_report) struct report *r = NULL;
	struct diff_fleet_cfg cfg = { .limit = args->rows.has_limit ? (uint32_t)args->rows.limit
		                                                    : 0,
		                      .has_noise = args->has_noise };
	struct diag d = { 0 };
	int err = f ? 0 : diag_set(&d, -ENOMEM, NULL, "out of memory");

	if (words->nr) {
		diag_set(&d, -EINVAL, "quote patterns: --a 'before/web*.pftrace'",
		         "with --a and --b no other file is named, but '%.100s' is",
		         words->items[0]);
		return cli_usage_error(self, &d);
	}
	if (!args->sides[0].nr || !args->sides[1].nr) {
		diag_set(&d, -EINVAL, NULL, "--%c is missing: sets are compared with sets",
		         args->sides[0].nr ? 'b' : 'a');
		return cli_usage_error(self, &d);
	}
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; !err && i < args->sides[side].nr; i++)
			err = add_pattern(args, f, side, args->sides[side].items[i], &d);
	if (!err)
		err = diff_fleet_report(f, &cfg, &d, &r);
	if (!err)
		err = show(args, report_root(r), &d);
	return err ? cli_fail(&d) : CLI_OK;
}

static int run_args(const struct opt_command *self, const void *given, const struct opt_list *words)
{
	const struct diff_args *args = given;

	return args->sides[0].nr || args->sides[1].nr ? sets_of_files(self, args, words)
	                                              : pair_of_files(self, args, words);
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct diff_args args = defaults;
	int exit_code = cli_run(self, argc, argv, &args, run_args);

	opt_list_done(&args.sides[0]);
	opt_list_done(&args.sides[1]);
	return exit_code;
}

const struct opt_command cmd_diff = {
	.name = "diff",
	.summary =
		"two recorded traces, or two sets of them: what got better or worse, beyond noise",
	.operands = "[A B]",
	.description =
		"Compares waits, slices, runtime, switches and migrations, of all tasks together "
		"and by task name, or what --by says. Each recording is cut into 16 parts of equal length; how much "
		"the parts differ gives the confidence interval (95 %) beside each number, and the "
		"probability that the difference is chance. A change is shown when it is at least "
		"2 % and that probability, corrected for all tests of the comparison (Holm), is so "
		"small that any false change would be shown in at most 1 of 100 comparisons of "
		"equal recordings. Lower is better for waits; other numbers are only called more "
		"or less. A number with values in fewer than 6 parts is not tested.\n\n"
		"The first line says whether B is better; then each change that is proved is a sentence, with both intervals, and all "
		"numbers are a table. On a terminal it is one screen; with -n, with --all and elsewhere it is as long as it takes.\n\n"
		"With --a and --b sets are compared, such as recordings of all hosts before a change and after it: each "
		"host is one value then, and the spread is that between hosts.\n\n"
		"--from and --to count from the start of each recording.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
