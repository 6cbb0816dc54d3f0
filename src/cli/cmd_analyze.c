#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyses/batch.h"
#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "cli/command.h"
#include "cli/profile_files.h"
#include "cli/trace_args.h"
#include "profile/source_profile.h"
#include "render/bottlenecks_text.h"
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
	OPT_FLAG('l', "list", struct analyze_args, wants_list, "list all analyses, with FILE those that apply to it",
		.heading = "What to do"),
	OPT_FLAG('a', "all", struct analyze_args, wants_all, "run every analysis that applies"),
	OPT_FLAG(0, "json", struct analyze_args, is_json, "one JSON object, for programs"),
	TRACE_ARGS_OPTIONS(struct analyze_args, rows),
	OPT_STRING(0, "by", "WHAT", struct analyze_args, by, "what a row adds up: thread, process, comm (tasks of one name), cgroup, class (deadline, real-time, fair, idle, ext)",
		.heading = "For single analyses"),
	OPT_FLAG(0, "per-process", struct analyze_args, is_per_process, "the same as --by process"),
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
	  "one screen: what it is, what ran, what waited, what went wrong" },
	{ "schedscope analyze trace.pftrace wakeup_latency",
	  "from being woken to running, in percentiles" },
	{ "schedscope analyze --list", "the analyses there are" },
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
static int print(const struct analyzer *a, const struct pass *p, const struct report_node *root,
                 bool is_alone)
{
	struct summary_text_cfg screen = { .width = trace_args_width(),
		                           .height = is_alone ? trace_args_height() : 0,
		                           .is_utf8 = trace_args_is_utf8() };
	struct report_text_cfg cfg = { .width = screen.width, .is_utf8 = screen.is_utf8 };

	if (p == &pass_summary)
		return summary_text(root, &screen, stdout);
	if (p == &pass_scheduling_bottlenecks)
		return bottlenecks_text(root,
		                        &(struct bottlenecks_text_cfg){ .width = screen.width,
		                                                        .file = a->s->facts->name },
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

static void show_list(struct analyzer *a)
{
	if (!a->args->is_json) {
		list_text(a);
		return;
	}
	begin_object(a);
	list_json(a);
	end_object(a);
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
			                "'%.64s' is not an analysis", words->items[i]);
		if (a->nr == MAX_CHOSEN)
			return diag_set(a->d, -EINVAL, "use --all", "too many analyses");
		a->chosen[a->nr++] = p;
	}
	return 0;
}

static int answer(struct analyzer *a)
{
	int err = 0;

	jw_init(&a->json, stdout, true);
	if (a->args->wants_list)
		show_list(a);
	else
		err = a->args->wants_all ? show_all(a) : show_chosen(a);
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
		if (fill_by(&a))
			return cli_usage_error(self, &d);
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
	.summary = "analyze a recorded trace: what ran, waited and slept, and why",
	.operands = "FILE [ANALYSIS...]",
	.description =
		"Loads a Perfetto trace of any recorder (schedscope, Perfetto, wprof, systing, "
		"scxtop), plain or compressed, and answers questions about it. Without the name of "
		"an analysis it shows one screen: what the trace is, how long it is, which tasks "
		"were busy, which waited longest, what was lost, which analyses apply. FILE may be "
		"- for standard input. Needs no privilege.\n\n"
		"Damage in a trace is counted and shown, never fatal. Time in gaps where events "
		"were lost is unknown and not attributed to any task.",
	.options = options,
	.defaults = &defaults,
	.examples = examples,
	.operand = OPT_OPERAND_FILE,
	.run = run,
};
