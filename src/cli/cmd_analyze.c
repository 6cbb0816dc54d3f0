#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/batch.h"
#include "analyze/passes.h"
#include "analyze/source_profile.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/command.h"
#include "cli/profile_files.h"
#include "cli/trace_args.h"
#include "render/report_json.h"
#include "render/report_text.h"
#include "render/summary_text.h"

#define MAX_CHOSEN 64

struct analyze_args {
	struct trace_args rows;
	bool wants_list;
	bool wants_all;
	bool is_json;
	bool is_per_process;
	const char *method;
	const char *category;
	uint64_t layer;
	bool has_layer;
	struct profile_files files;
};

static const struct analyze_args defaults = { 0 };

/* clang-format off */
static const struct opt options[] = {
	OPT_FLAG('l', "list", struct analyze_args, wants_list, "list all analyses, with FILE those that apply to it",
		.heading = "What to do"),
	OPT_FLAG('a', "all", struct analyze_args, wants_all, "run every analysis that applies"),
	OPT_FLAG(0, "json", struct analyze_args, is_json, "one JSON object, for programs"),
	TRACE_ARGS_OPTIONS(struct analyze_args, rows),
	OPT_FLAG(0, "per-process", struct analyze_args, is_per_process, "add up the threads of each process",
		.heading = "For single analyses"),
	OPT_STRING(0, "method", "METHOD", struct analyze_args, method, "of outliers: IQR, MAD, StdDev, Percentile"),
	OPT_STRING(0, "category", "CATEGORY", struct analyze_args, category,
		"of outliers: latency, runtime, cpu, all; of flamegraph: cpu, off-cpu, waker; of --list and --all: scheduling, interrupt, io, power, extended"),
	OPT_U64(0, "layer", "LAYER", struct analyze_args, layer, 0, UINT32_MAX - 1,
		"only this layer of scx_layered", OPT_GIVEN(struct analyze_args, has_layer)),
	PROFILE_FILES_OPTIONS(struct analyze_args, files),
	OPT_END,
};
/* clang-format on */

static const struct opt_example examples[] = {
	{ "schedscope analyze trace.pftrace",
	  "one screen: what it is, who ran, who waited, what went wrong" },
	{ "schedscope analyze trace.pftrace wakeup_latency",
	  "from being woken to running, in percentiles" },
	{ "schedscope analyze --list", "what can be asked" },
	{ "schedscope analyze trace.pftrace --all --json", "all answers, for a program" },
	{ "schedscope analyze t.pftrace flamegraph --category off-cpu --flamegraph sleep.svg",
	  "where tasks slept, and for how long, as a picture" },
	{ "schedscope analyze t.pftrace task_states -c 'nginx*' --from 2s --to 3s",
	  "one second of some threads" },
	{ 0 },
};

struct analyzer {
	const struct analyze_args *args;
	const struct source *s; /* NULL without a file */
	struct pass_args pass;
	const struct pass *chosen[MAX_CHOSEN];
	size_t nr;
	struct json_writer json;
	struct diag *d;
};

static bool is_listed(const struct analyzer *a, const struct pass *p)
{
	return !a->args->category || !strcmp(a->args->category, p->category);
}

static void list_json(struct analyzer *a)
{
	char missing[160];

	jw_begin_array(&a->json, "analyses");
	for (size_t i = 0; i < nr_passes; i++) {
		const struct pass *p = passes[i];

		if (!is_listed(a, p))
			continue;
		jw_begin_object(&a->json, NULL);
		jw_string(&a->json, "id", p->id);
		jw_string(&a->json, "name", p->name);
		jw_string(&a->json, "category", p->category);
		jw_string(&a->json, "description", p->what);
		if (a->s) {
			bool applies = pass_applies(p, a->s);

			jw_bool(&a->json, "applies", applies);
			jw_string(&a->json, "missing",
			          applies ? NULL : pass_missing(p, a->s, missing, sizeof(missing)));
		}
		jw_end_object(&a->json);
	}
	jw_end_array(&a->json);
}

static void list_one(const struct analyzer *a, const struct pass *p)
{
	char missing[160];

	printf("  %-24s %s\n", p->id, p->what);
	if (a->s && !pass_applies(p, a->s))
		printf("  %-24s - %s, which the trace does not have\n", "",
		       pass_missing(p, a->s, missing, sizeof(missing)));
}

static bool is_first_of_category(const struct analyzer *a, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_listed(a, passes[i]) &&
		    !strcmp(passes[i]->category, passes[index]->category))
			return false;
	return is_listed(a, passes[index]);
}

static void list_text(const struct analyzer *a)
{
	const char *blank = "";

	for (size_t i = 0; i < nr_passes; i++) {
		if (!is_first_of_category(a, i))
			continue;
		printf("%s%s:\n", blank, passes[i]->category);
		for (size_t k = i; k < nr_passes; k++)
			if (!strcmp(passes[k]->category, passes[i]->category))
				list_one(a, passes[k]);
		blank = "\n";
	}
}

/* The summary alone is a screen; among others it may be as long as it likes. */
static int print(const struct pass *p, const struct report_node *root, bool is_alone)
{
	struct summary_text_cfg screen = { .width = trace_args_width(),
		                           .height = is_alone ? trace_args_height() : 0,
		                           .is_utf8 = trace_args_is_utf8() };
	struct report_text_cfg cfg = { .width = screen.width, .is_utf8 = screen.is_utf8 };

	return p == &pass_summary ? summary_text(root, &screen, stdout)
	                          : report_text(root, &cfg, stdout);
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
	err = print(p, report_root(r), !is_titled);
	if (is_titled)
		printf("\n");
	return cli_written(err, a->d);
}

static int show(struct analyzer *a, const struct pass *p, bool is_titled)
{
	SCOPED(scoped_report) struct report *r = NULL;
	int err = pass_run(p, a->s, &a->pass, a->d, &r);

	return err ? err : show_report(a, p, r, is_titled);
}

static int show_all(struct analyzer *a)
{
	struct batch b;
	int err = batch_run(a->s, &a->pass, a->args->category, a->d, &b);

	if (err)
		return err;
	for (size_t i = 0; i < b.nr && !err; i++) {
		struct batch_result *one = &b.results[i];

		if (one->report)
			err = show_report(a, one->pass, one->report, true);
		else
			err = diag_set(a->d, one->d.code, one->d.hint, "%s", one->d.what);
	}
	batch_done(&b);
	return err;
}

/* The files of the options, from the same profile as that of the analysis. */
static int write_files(struct analyzer *a)
{
	SCOPED(scoped_profile) struct profile *p = NULL;
	enum source_stack_kind kind;
	int err = source_stack_kind(a->s, a->args->category, a->d, &kind);

	if (!err)
		err = source_profile(a->s, &a->pass, kind, a->d, &p);
	return err ? err : profile_files_write(&a->args->files, p, NULL, a->d);
}

/* Files of stacks come with the analysis of stacks only. */
static int check_files(const struct analyzer *a)
{
	bool is_asked = false;

	for (size_t i = 0; i < a->nr; i++)
		is_asked |= a->chosen[i] == &pass_flamegraph;
	if (profile_files_any(&a->args->files) && !is_asked)
		return diag_set(a->d, -EINVAL, "write 'schedscope analyze FILE flamegraph ...'",
		                "files of stacks are for the analysis flamegraph");
	return profile_files_check(&a->args->files, a->d);
}

static int find_passes(const struct opt_list *words, struct analyzer *a)
{
	for (size_t i = 1; i < words->nr; i++) {
		const struct pass *p = pass_find(words->items[i]);

		if (!p)
			return diag_set(a->d, -EINVAL, "see 'schedscope analyze --list'",
			                "'%.64s' is no analysis", words->items[i]);
		if (a->nr == MAX_CHOSEN)
			return diag_set(a->d, -EINVAL, "use --all", "too many analyses");
		a->chosen[a->nr++] = p;
	}
	return 0;
}

static int answer(struct analyzer *a)
{
	size_t nr = a->nr;
	bool is_many = a->args->wants_all || nr > 1;
	int err = 0;

	jw_init(&a->json, stdout, true);
	if (a->args->is_json && (is_many || a->args->wants_list))
		jw_begin_object(&a->json, NULL);
	if (a->args->wants_list && a->args->is_json)
		list_json(a);
	else if (a->args->wants_list)
		list_text(a);
	else if (a->args->wants_all)
		err = show_all(a);
	else if (nr == 0)
		err = show(a, &pass_summary, false);
	for (size_t i = 0; i < nr && !err && !a->args->wants_all && !a->args->wants_list; i++)
		err = show(a, a->chosen[i], is_many);
	if (err)
		return err;
	if (a->args->is_json && (is_many || a->args->wants_list))
		jw_end_object(&a->json);
	err = a->args->is_json ? jw_finish(&a->json) : 0;
	return cli_written(err, a->d);
}

static int run_args(const struct opt_command *self, const void *given, const struct opt_list *words)
{
	const struct analyze_args *args = given;
	SCOPED(scoped_recording) struct recording *rec = NULL;
	struct diag d = { 0 };
	struct analyzer a = { .args = args, .d = &d };

	if (!words->nr && !args->wants_list) {
		diag_set(&d, -EINVAL, NULL, "which file?");
		return cli_usage_error(self, &d);
	}
	if (find_passes(words, &a) || check_files(&a))
		return cli_usage_error(self, &d);
	if (words->nr) {
		if (trace_args_open(words->items[0], &d, &rec))
			return cli_fail(&d);
		a.s = recording_source(rec);
		if (trace_args_fill(&args->rows, a.s, &d, &a.pass))
			return cli_usage_error(self, &d);
		a.pass.is_per_process = args->is_per_process;
		a.pass.method = args->method;
		a.pass.category = args->category;
		a.pass.layer = args->has_layer ? (uint32_t)args->layer : EV_NO_LAYER;
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
	.summary = "what a recorded trace tells: who ran, waited, slept, and why",
	.operands = "FILE [ANALYSIS...]",
	.description =
		"Loads a Perfetto trace, of whichever recorder (schedscope, Perfetto, wprof, systing, scxtop), plain or "
		"compressed, and answers questions about it. Without the name of an analysis it shows one screen: what "
		"the trace is, how long, who was busy, who waited longest, what was lost, which analyses apply. FILE may be - "
		"for standard input. Needs no privilege.\n\n"
		"Damage in a trace is counted and shown, never fatal. Times between which events were lost are unknown, and "
		"belong to nobody.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
