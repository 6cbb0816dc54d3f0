#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyses/batch.h"
#include "analyses/passes.h"
#include "analyses/side_by_side.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/analyze_list.h"
#include "cli/command.h"
#include "cli/profile_files.h"
#include "cli/trace_args.h"
#include "profile/source_profile.h"
#include "render/bottlenecks_text.h"
#include "render/explain_text.h"
#include "render/report_json.h"
#include "render/report_text.h"
#include "render/summary_text.h"

#define MAX_CHOSEN    64
#define NR_PASSES_MAX 128

struct analyze_args {
	struct trace_args rows;
	bool wants_list;
	bool wants_all;
	bool is_json;
	bool is_per_process;
	const char *by;
	const char *method;
	const char *category;
	uint64_t layer;
	bool has_layer;
	struct profile_files files;
};

static const struct analyze_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	OPT_FLAG(0, "list", struct analyze_args, wants_list, "list all analyses, with FILE those that apply to it",
		.heading = "What to do", .old_name = 'l'),
	OPT_FLAG('a', "all", struct analyze_args, wants_all, "run every analysis that applies"),
	OPT_FLAG(0, "json", struct analyze_args, is_json, "one JSON object, for programs"),
	TRACE_ARGS_OPTIONS(struct analyze_args, rows),
	OPT_STRING(0, "by", "WHAT", struct analyze_args, by, "what a row adds up: thread, process, comm (tasks of one name), cgroup, class (deadline, real-time, fair, idle, ext)",
		.heading = "For single analyses"),
	OPT_FLAG(0, "per-process", struct analyze_args, is_per_process, "the same as --by process"),
	OPT_STRING(0, "method", "METHOD", struct analyze_args, method, "of outliers: IQR, MAD, StdDev, Percentile"),
	OPT_STRING(0, "category", "CATEGORY", struct analyze_args, category,
		"of outliers: latency, runtime, cpu, all; of flamegraph: cpu, off-cpu, waker, wall; of --list and --all: scheduling, interrupt, io, power, extended, query"),
	OPT_U64(0, "layer", "LAYER", struct analyze_args, layer, 0, UINT32_MAX - 1,
		"only this layer of scx_layered", OPT_GIVEN(struct analyze_args, has_layer)),
	PROFILE_FILES_OPTIONS(struct analyze_args, files),
	OPT_END,
};
/* clang-format on */

static const struct opt_example examples[] = {
	{ "schedscope analyze trace.pftrace",
	  "one screen: what it is, what ran, what waited, what went wrong" },
	{ "schedscope analyze trace.pftrace -c 'nginx*'",
	  "the same of some threads: what they wait for" },
	{ "schedscope analyze trace.pftrace wakeup_latency",
	  "from being woken to running, in percentiles" },
	{ "schedscope analyze --list", "the analyses there are" },
	{ "schedscope analyze web1.pftrace web2.pftrace web3.pftrace",
	  "several hosts side by side" },
	{ "schedscope analyze trace.pftrace --all --json", "all answers, for a program" },
	{ "schedscope analyze t.pftrace flamegraph --category off-cpu --flamegraph sleep.svg",
	  "where tasks slept, and for how long, as a picture" },
	{ "schedscope analyze t.pftrace task_states -c 'nginx*' --from 2s --to 3s",
	  "one second of some threads" },
	{ 0 },
};

struct analyzer {
	const struct analyze_args *args;
	const char *file;
	const struct source *s; /* NULL without a file */
	uint64_t start_ns;      /* of the recording whose answers are shown */
	struct pass_args pass;
	const struct pass *chosen[MAX_CHOSEN];
	size_t nr;
	size_t nr_more; /* files besides the first */
	struct json_writer json;
	struct diag *d;
};

/* One answer alone fits the screen; among others each may be as long as it likes, as it may where rows are asked for. */
static struct report_text_cfg text_cfg(const struct analyzer *a, bool is_alone)
{
	return (struct report_text_cfg){
		.width = trace_args_width(),
		.height = is_alone && !a->args->rows.has_limit ? trace_args_height() : 0,
		.is_utf8 = trace_args_is_utf8(),
		.is_colored = trace_args_is_colored(),
		.clock = { true, a->start_ns },
		.file = a->file,
	};
}

static int print(const struct analyzer *a, const struct pass *p, const struct report_node *root,
                 bool is_alone)
{
	struct report_text_cfg cfg = text_cfg(a, is_alone);

	if (p == &pass_summary)
		return summary_text(root,
		                    &(struct summary_text_cfg){
					    .width = cfg.width,
					    .height = is_alone ? trace_args_height() : 0,
					    .is_utf8 = cfg.is_utf8,
					    .is_colored = cfg.is_colored,
					    .clock = cfg.clock },
		                    stdout);
	if (p == &pass_scheduling_bottlenecks)
		return bottlenecks_text(root, &cfg, stdout);
	if (p == &pass_explain)
		return explain_text(root,
		                    &(struct explain_text_cfg){ .is_utf8 = cfg.is_utf8,
		                                                .is_colored = cfg.is_colored,
		                                                .width = cfg.width,
		                                                .height = cfg.height,
		                                                .clock = cfg.clock,
		                                                .file = cfg.file },
		                    stdout);
	return report_text(root, &cfg, stdout);
}

static int show_report(struct analyzer *a, const struct pass *p, const struct report *r,
                       bool is_titled)
{
	int err;

	if (a->args->is_json) {
		report_json(&a->json, is_titled ? p->id : NULL, report_root(r));
		return 0;
	}
	if (is_titled)
		printf("== %s: %s\n\n", p->id, p->what);
	err = print(a, p, report_root(r), !is_titled);
	if (is_titled)
		printf("\n");
	return cli_written(err, a->d);
}

/* An object around several reports, or around the list. Nothing is written before all that it holds is there. */
static void begin_object(struct analyzer *a)
{
	if (a->args->is_json)
		jw_begin_object(&a->json, NULL);
}

static void end_object(struct analyzer *a)
{
	if (a->args->is_json)
		jw_end_object(&a->json);
}

/* Those that were asked for by name, or the summary. */
static int show_chosen(struct analyzer *a)
{
	struct report *reports[MAX_CHOSEN] = { NULL };
	bool is_many = a->nr > 1;
	int err = 0;

	if (!a->nr)
		a->chosen[a->nr++] = &pass_summary;
	for (size_t i = 0; i < a->nr && !err; i++)
		err = pass_run(a->chosen[i], a->s, &a->pass, a->d, &reports[i]);
	if (!err && is_many)
		begin_object(a);
	for (size_t i = 0; i < a->nr && !err; i++)
		err = show_report(a, a->chosen[i], reports[i], is_many);
	if (!err && is_many)
		end_object(a);
	for (size_t i = 0; i < a->nr; i++)
		report_free(reports[i]);
	return err;
}

static int show_all(struct analyzer *a)
{
	struct batch b;
	int err = batch_run(a->s, &a->pass, a->args->category, a->d, &b);

	if (err)
		return err;
	for (size_t i = 0; i < b.nr && !err; i++)
		if (!b.results[i].report)
			err = diag_set(a->d, b.results[i].d.code, b.results[i].d.hint, "%s",
			               b.results[i].d.what);
	if (!err)
		begin_object(a);
	for (size_t i = 0; i < b.nr && !err; i++)
		err = show_report(a, b.results[i].pass, b.results[i].report, true);
	if (!err)
		end_object(a);
	batch_done(&b);
	return err;
}

/* The files of the options, from the same profile as that of the analysis. */
static int write_files(struct analyzer *a)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	struct profile_outputs outputs;
	enum source_stack_kind kind;
	int err = profile_files_open(&a->args->files, &outputs, a->d);

	if (!err)
		err = source_stack_kind(a->s, a->args->category, a->d, &kind);
	if (!err)
		err = source_profile(a->s, &a->pass, kind, a->d, &p);
	if (!err)
		err = profile_files_write(&a->args->files, &outputs, p, NULL, a->d);
	profile_outputs_done(&outputs);
	return err;
}

static bool is_chosen(const struct analyzer *a, const struct pass *p)
{
	for (size_t i = 0; i < a->nr; i++)
		if (a->chosen[i] == p)
			return true;
	return false;
}

/* Files of stacks come with the analysis of stacks only. */
static int check_files(const struct analyzer *a)
{
	if (profile_files_any(&a->args->files) && !is_chosen(a, &pass_flamegraph))
		return diag_set(a->d, -EINVAL, "write 'schedscope analyze FILE flamegraph ...'",
		                "files of stacks are for the analysis flamegraph");
	return profile_files_check(&a->args->files, a->d);
}

/* A word that is no analysis, but looks like a file or is one, is another recording; the first is always one. */
static bool is_file(const char *word)
{
	return strpbrk(word, "/.") || access(word, F_OK) == 0;
}

static int not_an_analysis(const char *word, struct diag *d)
{
	const char *ids[NR_PASSES_MAX + 1] = { NULL }, *near;
	char hint[96], shown[65];

	for (size_t i = 0; i < nr_passes && i < NR_PASSES_MAX; i++)
		ids[i] = passes[i]->id;
	near = opt_nearest(word, ids);
	snprintf(hint, sizeof(hint), "did you mean '%s'?", near ? near : "");
	return diag_set(d, -EINVAL, near ? hint : "'schedscope analyze --list' lists them",
	                "'%s' is not an analysis",
	                text_printable(shown, sizeof(shown), word, SIZE_MAX));
}

static int find_passes(const struct opt_list *words, struct analyzer *a)
{
	for (size_t i = 1; i < words->nr; i++) {
		const struct pass *p = pass_find(words->items[i]);

		if (!p && !a->nr && is_file(words->items[i])) {
			a->nr_more++;
			continue;
		}
		if (!p)
			return not_an_analysis(words->items[i], a->d);
		if (a->nr == MAX_CHOSEN)
			return diag_set(a->d, -EINVAL, "use --all", "too many analyses");
		a->chosen[a->nr++] = p;
	}
	return 0;
}

/* What only some analyses take; their own words are checked by these. */
static int check_category(const struct analyzer *a)
{
	const char *category = a->args->category;
	bool is_list = a->args->wants_list || a->args->wants_all;
	char shown[33];

	if (a->args->method && !a->args->wants_all && !is_chosen(a, &pass_outliers))
		return diag_set(a->d, -EINVAL, "write 'schedscope analyze FILE outliers ...'",
		                "--method is for the analysis outliers");
	if (!category || is_chosen(a, &pass_outliers) || is_chosen(a, &pass_flamegraph))
		return 0;
	if (!is_list)
		return diag_set(a->d, -EINVAL, "name one of these",
		                "--category is for outliers, flamegraph, --list and --all");
	for (size_t i = 0; i < nr_passes; i++)
		if (strcmp(passes[i]->category, category) == 0)
			return 0;
	return diag_set(a->d, -EINVAL,
	                "there are scheduling, interrupt, io, power, extended and query",
	                "no analysis is of the category '%s'",
	                text_printable(shown, sizeof(shown), category, SIZE_MAX));
}

static int answer(struct analyzer *a)
{
	int err = 0;

	jw_init(&a->json, stdout, true);
	if (!a->args->wants_list)
		err = a->args->wants_all ? show_all(a) : show_chosen(a);
	else if (a->args->is_json)
		analyze_list_json(a->s, a->args->category, &a->json);
	else
		analyze_list_text(a->s, a->args->category, trace_args_width());
	if (err)
		return err;
	err = a->args->is_json ? jw_finish(&a->json) : 0;
	return cli_written(err, a->d);
}

static int fill_by(struct analyzer *a)
{
	a->pass.by = a->args->is_per_process ? PASS_BY_PROCESS : PASS_BY_DEFAULT;
	return a->args->by ? trace_args_by(a->args->by, a->d, &a->pass.by) : 0;
}

/* The recording at hand: what the options say of it. */
static int take_source(struct analyzer *a, const struct recording *rec)
{
	const struct analyze_args *args = a->args;
	int err;

	a->s = recording_source(rec);
	a->start_ns = a->s->start_ns;
	err = trace_args_fill(&args->rows, a->s, a->d, &a->pass);
	if (!err)
		err = fill_by(a);
	a->pass.method = args->method;
	a->pass.category = args->category;
	a->pass.layer = args->has_layer ? (uint32_t)args->layer : EV_NO_LAYER;
	return err;
}

/* Answers about one recording of several, which is closed by the time that they are shown. */
struct answers {
	struct report *about; /* which it is */
	uint64_t start_ns;
	struct report *reports[MAX_CHOSEN];
};

static void answers_done(struct answers *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		report_free(all[i].about);
		for (size_t k = 0; k < MAX_CHOSEN; k++)
			report_free(all[i].reports[k]);
	}
	free(all);
}

static int describe(struct analyzer *a, struct report **out)
{
	const struct source_facts *f = a->s->facts;
	struct report *r = report_new(0);

	if (!r)
		return diag_set(a->d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	report_string(r, "file", f->name);
	report_string(r, "host", source_host(f));
	report_string(r, "boot_id", f->boot_id);
	report_begin_object(r, "metadata");
	for (size_t i = 0; i < f->nr_labels; i++)
		report_string(r, report_printf(r, "%s", f->labels[i].key), f->labels[i].value);
	report_end_object(r);
	report_end_object(r);
	*out = r;
	return report_error(r) ? diag_set(a->d, -ENOMEM, NULL, "out of memory") : 0;
}

static int ask(struct analyzer *a, const char *path, struct answers *out)
{
	SCOPED(scoped_recording) struct recording *rec = NULL;
	int err = trace_args_open(path, a->d, &rec);

	if (!err)
		err = take_source(a, rec);
	out->start_ns = a->start_ns;
	if (!err)
		err = describe(a, &out->about);
	for (size_t i = 0; i < a->nr && !err; i++)
		err = pass_run(a->chosen[i], a->s, &a->pass, a->d, &out->reports[i]);
	a->s = NULL;
	return err;
}

static void show_whose(const struct report_node *about)
{
	const char *host = report_text_at(about, "host");
	char file[PATH_MAX], name[256];

	text_printable(file, sizeof(file), report_text_at(about, "file"), sizeof(file));
	text_printable(name, sizeof(name), host ? host : "", sizeof(name));
	printf("== %s%s%s\n\n", file, *name ? ", of " : "", name);
}

static int show_answers(struct analyzer *a, const struct answers *of, const char *path)
{
	int err = 0;

	a->file = path;
	a->start_ns = of->start_ns;
	if (a->args->is_json) {
		jw_begin_object(&a->json, NULL);
		report_json(&a->json, "recording", report_root(of->about));
	} else {
		show_whose(report_root(of->about));
	}
	for (size_t i = 0; i < a->nr && !err; i++)
		err = show_report(a, a->chosen[i], of->reports[i], true);
	if (a->args->is_json)
		jw_end_object(&a->json);
	return err;
}

/* The analyses that were named, of each recording. */
static int compare_answers(struct analyzer *a, const struct opt_list *words)
{
	size_t nr = 1 + a->nr_more;
	struct answers *all = calloc(nr, sizeof(*all));
	int err = 0;

	if (!all)
		return diag_set(a->d, -ENOMEM, NULL, "out of memory");
	for (size_t i = 0; i < nr && !err; i++)
		err = ask(a, words->items[i], &all[i]);
	jw_init(&a->json, stdout, true);
	if (!err && a->args->is_json) {
		jw_begin_object(&a->json, NULL);
		jw_begin_array(&a->json, "recordings");
	}
	for (size_t i = 0; i < nr && !err; i++)
		err = show_answers(a, &all[i], words->items[i]);
	if (!err && a->args->is_json) {
		jw_end_array(&a->json);
		jw_end_object(&a->json);
		err = cli_written(jw_finish(&a->json), a->d);
	}
	answers_done(all, nr);
	return err;
}

/* Without the name of an analysis: a table with a row for each. */
static int compare_rows(struct analyzer *a, const struct opt_list *words)
{
	SCOPED(scoped_side_by_side) struct side_by_side *t = side_by_side_new();
	SCOPED(scoped_report) struct report *r = NULL;
	struct report_text_cfg cfg = text_cfg(a, true);
	int err = t ? 0 : diag_set(a->d, -ENOMEM, NULL, "out of memory");

	for (size_t i = 0; i <= a->nr_more && !err; i++) {
		SCOPED(scoped_recording) struct recording *rec = NULL;

		err = trace_args_open(words->items[i], a->d, &rec);
		if (!err)
			err = take_source(a, rec);
		if (!err)
			err = side_by_side_add(t, a->s, &a->pass, a->d);
	}
	if (!err)
		err = side_by_side_report(t, a->d, &r);
	if (err)
		return err;
	if (!a->args->is_json)
		return cli_written(report_text(report_root(r), &cfg, stdout), a->d);
	jw_init(&a->json, stdout, true);
	report_json(&a->json, NULL, report_root(r));
	return cli_written(jw_finish(&a->json), a->d);
}

static int run_many(const struct opt_command *self, struct analyzer *a,
                    const struct opt_list *words)
{
	const char *lonely = a->args->wants_list                  ? "--list"
	                     : a->args->wants_all                 ? "--all"
	                     : profile_files_any(&a->args->files) ? "a file of stacks"
	                                                          : NULL;

	if (lonely) {
		diag_set(a->d, -EINVAL, "name analyses, or one file",
		         "%s is of one recording, and %zu are named", lonely, 1 + a->nr_more);
		return cli_usage_error(self, a->d);
	}
	return (a->nr ? compare_answers(a, words) : compare_rows(a, words)) ? cli_fail(a->d)
	                                                                    : CLI_OK;
}

static int run_args(const struct opt_command *self, const void *given, const struct opt_list *words)
{
	const struct analyze_args *args = given;
	SCOPED(scoped_recording) struct recording *rec = NULL;
	struct diag d = { 0 };
	struct analyzer a = { .args = args, .d = &d };

	if (!words->nr && !args->wants_list) {
		(void)!trace_args_one(words, "analyze", &d);
		return cli_usage_error(self, &d);
	}
	if (find_passes(words, &a) || check_files(&a) || check_category(&a))
		return cli_usage_error(self, &d);
	if (a.nr_more)
		return run_many(self, &a, words);
	if (words->nr) {
		a.file = words->items[0];
		if (trace_args_open(a.file, &d, &rec))
			return cli_fail(&d);
		if (take_source(&a, rec))
			return cli_usage_error(self, &d);
		if (trace_args_find(&a.pass, a.s, &d))
			return cli_fail(&d);
	}
	if (profile_files_any(&args->files) && write_files(&a))
		return cli_fail(&d);
	if (profile_files_take_stdout(&args->files))
		return CLI_OK;
	return answer(&a) ? cli_fail(&d) : CLI_OK;
}

static int run(const struct opt_command *self, int argc, char **argv)
{
	struct analyze_args args = defaults;

	return cli_run(self, argc, argv, &args, run_args);
}

const struct opt_command cmd_analyze = {
	.name = "analyze",
	.summary = "analyze a recorded trace: what ran, waited and slept, and why",
	.operands = "FILE... [ANALYSIS...]",
	.description =
		"Loads a Perfetto trace of any recorder (schedscope, Perfetto, wprof, systing, "
		"scxtop), plain or compressed, and answers questions about it. Without the name of "
		"an analysis it shows one screen: what the trace is, how long it is, which tasks "
		"were busy, which waited longest, what was lost, which analyses apply. FILE may be "
		"- for standard input. Needs no privilege.\n\n"
		"Of several files, such as recordings of several hosts at one moment (record --start-at), it shows a table with a row for each: "
		"host, start, CPUs in use, wakeup latencies, time lost, and the first finding; with names of analyses, the answers about each "
		"file after the other.\n\n"
		"An answer begins with a sentence and ends with the command to run next. On a terminal its tables are cut to the screen: -n shows "
		"more rows. Moments are times after the start of the recording, as --from, --to and explain --at take them; --json has those of the "
		"trace's clock.\n\n"
		"Damage in a trace is counted and shown, never fatal. Time in gaps where events "
		"were lost is unknown and not attributed to any task.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.operand_list = "analyses",
	.run = run,
};
