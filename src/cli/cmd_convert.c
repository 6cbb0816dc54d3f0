#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/trace_args.h"
#include "record/convert.h"

struct convert_args {
	bool is_compressed;
};

static const struct convert_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	OPT_FLAG(0, "gzip", struct convert_args, is_compressed, "compress the packets; the file still loads directly"),
	OPT_END,
};
/* clang-format on */

static const struct opt_example examples[] = {
	{ "schedscope convert in.pftrace out.pftrace", "for ui.perfetto.dev" },
	{ "zcat in.gz | schedscope convert - - >out.pftrace", "in a pipe" },
	{ 0 },
};

/* Beside a file that is written to standard output there is nothing to say, but for what it lacks. */
static void report(const struct convert_stats *stats, const char *to)
{
	if (strcmp(to, "-") != 0)
		printf("%" PRIu64 " records and %" PRIu64 " stacks, %.1f MB: %s\n",
		       stats->nr_records, stats->nr_stacks, (double)stats->nr_bytes / 1e6, to);
	if (stats->nr_skipped)
		fprintf(stderr,
		        "%s: %" PRIu64
		        " records have no place in a Perfetto trace, and are left out\n",
		        cli_program.name, stats->nr_skipped);
}

/* "412 of 90113 perf records damaged" */
static void unread(const char *what, uint64_t count, uint64_t of)
{
	char words[80];

	(void)snprintf(words, sizeof(words), "%s", what);
	for (char *c = words; *c; c++)
		if (*c == '_')
			*c = ' ';
	fprintf(stderr, "%s: %" PRIu64 " of %" PRIu64 " %s\n", cli_program.name, count, of, words);
}

static int run_args(const struct opt_command *self, const void *given, const struct opt_list *words)
{
	const struct convert_args *args = given;
	struct convert_stats stats = { 0 };
	struct trace_progress progress;
	struct convert_cfg cfg = { .is_compressed = args->is_compressed, .unread = unread };
	struct diag d = { 0 };
	int err;

	if (words->nr != 2) {
		diag_set(&d, -EINVAL,
		         "write 'schedscope convert IN OUT'; - is standard input or output",
		         "a file to read and one to write are needed, and %zu words are given",
		         words->nr);
		return cli_usage_error(self, &d);
	}
	cfg.from = words->items[0];
	cfg.to = words->items[1];
	if (trace_progress_begin(&progress, "converting")) {
		cfg.progress = trace_progress_show;
		cfg.progress_ctx = &progress;
	}
	err = convert_file(&cfg, &d, &stats);
	trace_progress_end(&progress);
	if (err)
		return cli_fail(&d);
	report(&stats, cfg.to);
	return CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct convert_args args = defaults;

	return cli_run(self, argc, argv, &args, run_args);
}

const struct opt_command cmd_convert = {
	.name = "convert",
	.summary = "a recorded trace of any format that is read, as a Perfetto trace",
	.operands = "IN OUT",
	.description =
		"Reads a trace, whatever recorded it, and writes what is known of it as a Perfetto trace, as record does: it "
		"opens in ui.perfetto.dev, with names, wakeups, interrupts and stacks, and all commands give the same answers "
		"on it. The file says in attributes what it was converted from. What was lost, and a recording that was cut "
		"short, stay so. \"-\" is standard input or standard output. A file that has the name is replaced; it is readable "
		"by its owner only.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
