#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/command.h"
#include "cli/export_parquet.h"
#include "cli/output.h"
#include "cli/trace_args.h"
#include "query/chrome.h"
#include "render/report_json.h"

#define MAX_CHOSEN 64

struct export_args {
	struct trace_args rows;
	const char *output;
	bool is_per_process;
	bool is_chrome;
	struct export_parquet parquet;
};

static const struct export_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	OPT_STRING('o', "output", "FILE", struct export_args, output, "where to write; standard output if not given",
		.heading = "Where to", .is_file = true),
	TRACE_ARGS_OPTIONS(struct export_args, rows),
	OPT_FLAG(0, "chrome", struct export_args, is_chrome,
		"the timeline as JSON trace events instead, for chrome://tracing and others",
		.details = "A track per CPU and per thread, wakeups as arrows, interrupts, counters. Of the filters, --from and --to hold."),
	OPT_FLAG(0, "per-process", struct export_args, is_per_process, "add up the threads of each process"),
	EXPORT_PARQUET_OPTIONS(struct export_args, parquet),
	OPT_END,
};
/* clang-format on */

static const struct opt_example examples[] = {
	{ "schedscope export t.pftrace -o t.json", "all analyses that apply" },
	{ "schedscope export t.pftrace -o t.json wakeup_latency bottlenecks", "two answers" },
	{ "schedscope export t.pftrace | jq '.wakeup_latency.global_stats'", "for a program" },
	{ "schedscope export --chrome t.pftrace -o t.trace.json", "for chrome://tracing" },
	{ "schedscope export --parquet fleet *.pftrace",
	  "the tables of many recordings, for DuckDB and others" },
	{ 0 },
};

/* What is written: all reports are made before the first byte, so that a file is whole or not there. */
struct export
{
	const struct source *s;
	const char *trace_id;
	const struct pass *chosen[MAX_CHOSEN];
	struct report *reports[MAX_CHOSEN];
	struct report *summary;
	size_t nr;
};

static void scoped_export(struct export *e)
{
	for (size_t i = 0; i < e->nr; i++)
		report_free(e->reports[i]);
	report_free(e->summary);
}

static bool has(const struct export *e, const struct pass *p)
{
	for (size_t i = 0; i < e->nr; i++)
		if (e->chosen[i] == p)
			return true;
	return false;
}

static int add(struct export *e, const struct pass *p, struct diag *d)
{
	if (has(e, p))
		return 0;
	if (e->nr == MAX_CHOSEN)
		return diag_set(d, -E2BIG, NULL, "too many analyses");
	e->chosen[e->nr++] = p;
	return 0;
}

/* By name, or all that apply and do not need a CPU or task. */
static int choose(struct export *e, const struct opt_list *words, struct diag *d)
{
	int err = 0;

	for (size_t i = 1; i < words->nr && !err; i++) {
		const struct pass *p = pass_find(words->items[i]);

		err = p ? add(e, p, d)
		        : diag_set(d, -EINVAL, "see 'schedscope analyze --list'",
		                   "'%.64s' is not an analysis", words->items[i]);
	}
	return err;
}

static int choose_all(struct export *e, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < nr_passes && !err; i++)
		if (!passes[i]->is_single && pass_applies(passes[i], e->s))
			err = add(e, passes[i], d);
	return err;
}

static int make_reports(struct export *e, const struct pass_args *args, struct diag *d)
{
	int err = pass_run(&pass_summary, e->s, args, d, &e->summary);

	for (size_t i = 0; i < e->nr && !err; i++)
		err = pass_run(e->chosen[i], e->s, args, d, &e->reports[i]);
	return err;
}

static uint64_t count_of(const struct export *e, const char *key)
{
	const struct report_node *at = report_at(report_root(e->summary), key);

	return at && at->type == REPORT_U64 ? at->u64 : 0;
}

static void write_export(const void *ctx, FILE *out)
{
	const struct export *e = ctx;
	struct json_writer w;

	jw_init(&w, out, true);
	jw_begin_object(&w, NULL);
	jw_string(&w, "trace_id", e->trace_id);
	jw_begin_array(&w, "time_range");
	jw_u64(&w, NULL, e->s->start_ns);
	jw_u64(&w, NULL, e->s->end_ns);
	jw_end_array(&w);
	jw_u64(&w, "num_cpus", e->s->facts->nr_cpus);
	jw_u64(&w, "num_processes", count_of(e, "num_processes"));
	jw_u64(&w, "total_events", e->s->facts->nr_events);
	jw_bool(&w, "is_scx_trace", e->s->facts->has_scx);
	jw_u64(&w, "export_timestamp", (uint64_t)time(NULL));
	for (size_t i = 0; i < e->nr; i++)
		report_json(&w, e->chosen[i]->id, report_root(e->reports[i]));
	jw_end_object(&w);
	(void)!jw_finish(&w); /* errors of the stream are the caller's */
}

struct chrome_export {
	const struct source *s;
	struct chrome_cfg cfg;
	int *err;
};

static void write_chrome(const void *ctx, FILE *out)
{
	const struct chrome_export *e = ctx;

	*e->err = chrome_write(e->s, &e->cfg, out);
}

/* The stream's own errors are those of the file; to standard output, main() checks them. */
static int export_chrome(const struct export_args *args, const struct source *s,
                         const struct pass_args *cut, struct diag *d)
{
	int made = 0, err = 0;
	const struct chrome_export e = { .s = s,
		                         .cfg = { .from_ns = cut->from_ns, .to_ns = cut->to_ns },
		                         .err = &made };

	if (args->output)
		err = output_write(args->output, write_chrome, &e, d);
	else
		write_chrome(&e, stdout);
	if (!err && made == -ENOMEM)
		err = diag_set(d, made, NULL, "out of memory");
	return err;
}

static bool has_filters(const struct trace_args *rows)
{
	return rows->pid || rows->tid || rows->comm || rows->cgroup || rows->has_cpu ||
	       rows->has_limit;
}

/* What columns have no place for. */
static int check_parquet(const struct export_args *args, struct diag *d)
{
	const struct trace_args *rows = &args->rows;

	if (!args->parquet.dir)
		return export_parquet_check(&args->parquet, d);
	if (args->is_chrome || args->output || args->is_per_process)
		return diag_set(
			d, -EINVAL, NULL,
			"--parquet writes tables into its folder: no --chrome, --output or --per-process");
	if (has_filters(rows) || rows->from || rows->to)
		return diag_set(d, -EINVAL, "choose rows in the query",
		                "--parquet writes all rows");
	return export_parquet_check(&args->parquet, d);
}

/* What the timeline has no place for. */
static int check_chrome(const struct export_args *args, const struct opt_list *words,
                        struct diag *d)
{
	const struct trace_args *rows = &args->rows;

	if (!args->is_chrome)
		return 0;
	if (words->nr > 1 || args->is_per_process)
		return diag_set(d, -EINVAL, NULL, "--chrome writes the timeline, no analyses");
	if (has_filters(rows))
		return diag_set(d, -EINVAL, NULL, "of the filters, --chrome takes --from and --to");
	return 0;
}

static int run_args(const struct opt_command *self, const void *given, const struct opt_list *words)
{
	const struct export_args *args = given;
	SCOPED(scoped_recording) struct recording *rec = NULL;
	SCOPED(scoped_export) struct export e = { 0 };
	struct diag d = { 0 };
	struct pass_args pass;
	char trace_id[256];

	if (!words->nr)
		(void)!trace_args_one(words, "export", &d);
	if (d.code || check_parquet(args, &d))
		return cli_usage_error(self, &d);
	if (args->parquet.dir)
		return export_parquet(&args->parquet, words, &d) ? cli_fail(&d) : CLI_OK;
	if (check_chrome(args, words, &d) || choose(&e, words, &d))
		return cli_usage_error(self, &d);
	if (trace_args_open(words->items[0], &d, &rec))
		return cli_fail(&d);
	e.s = recording_source(rec);
	if (trace_args_fill(&args->rows, e.s, &d, &pass))
		return cli_usage_error(self, &d);
	if (trace_args_find(&pass, e.s, &d))
		return cli_fail(&d);
	if (args->is_chrome)
		return export_chrome(args, e.s, &pass, &d) ? cli_fail(&d) : CLI_OK;
	pass.by = args->is_per_process ? PASS_BY_PROCESS : PASS_BY_DEFAULT;
	export_name(words->items[0], trace_id, sizeof(trace_id));
	e.trace_id = trace_id;
	if ((!e.nr && choose_all(&e, &d)) || make_reports(&e, &pass, &d))
		return cli_fail(&d);
	if (!args->output)
		write_export(&e, stdout); /* main() checks the stream */
	else if (output_write(args->output, write_export, &e, &d))
		return cli_fail(&d);
	return CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct export_args args = defaults;

	return cli_run(self, argc, argv, &args, run_args);
}

const struct opt_command cmd_export = {
	.name = "export",
	.summary =
		"the answers of analyses on a recorded trace as one JSON file, or its tables as Parquet files",
	.operands = "FILE [ANALYSIS...] | --parquet DIR FILE...",
	.description =
		"Writes facts about the trace (trace_id, time_range, num_cpus, num_processes, total_events, is_scx_trace, "
		"export_timestamp in seconds of Unix time) and one member per analysis, named by its id. Without names, "
		"it holds every analysis that applies and is not about one CPU or task. The file appears complete or not "
		"at all. With --chrome it holds the timeline instead, as JSON trace events.\n\n"
		"With --parquet DIR all words are recordings, and the tables of each (those of 'query --tables') become "
		"DIR/TABLE/date=YYYY-MM-DD/host=NAME/RECORDING.parquet. A recording's files appear all together or not at all.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
