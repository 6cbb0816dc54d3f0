/* All analyses of a trace at once: run_all_analyzers, and export_trace_analysis, which writes them to a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/outgoing.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"
#include "mcp/traces/trace_relay.h"
#include "mcp/traces/trace_store.h"
#include "mcp/world.h"
#include "render/report_json.h"

#define MAX_PASSES  64U
#define MAX_FIGURES 3U

/* The key figures of each analysis; paths into its report. */
static const struct figures {
	const char *pass;
	const char *paths[MAX_FIGURES];
} figures[] = {
	{ "cpu_utilization", { "summary.avg_utilization_percent", "summary.cpus_above_80_pct" } },
	{ "process_runtime", { "processes.0.comm", "processes.0.cpu_time_percent" } },
	{ "wakeup_latency",
	  { "total_wakeups", "global_stats.p99_latency_ns", "global_stats.max_latency_ns" } },
	{ "runqueue_depth", { "global_avg_depth", "global_max_depth" } },
	{ "migration_patterns", { "total_migrations", "cross_llc_migrations" } },
	{ "llc_locality", { "llc_locality_pct" } },
	{ "fairness", { "gini_coefficient", "starved_processes_count" } },
	{ "scheduling_bottlenecks", { "total_bottlenecks", "bottlenecks.0.description" } },
	{ "outliers", { "summary.total_outliers" } },
	{ "wasted_cores", { "wasted_percent" } },
	{ "sleeps", { "sleep_ns", "reasons.0.for", "reasons.0.percent" } },
	{ "locks", { "total_locks", "held_ns", "locks.0.held_by.0.comm" } },
	{ "blame", { "wait_ns", "culprits.0.comm", "culprits.0.percent" } },
	{ "pressure", { "some_percent", "stalled.0.comm", "stalled.0.stalled_percent" } },
	{ "dsq_summary", { "summary.total_dsqs" } },
	{ "dsq_latency", { "per_dsq.0.latency_p99_us" } },
	{ "explain", { "waits.0.comm", "waits.0.wait_ns" } },
	{ "flamegraph", { "category", "functions.0.function" } },
	{ "task_states", { "processes_analyzed" } },
	{ "preemptions", { "total_preemptions" } },
	{ "latency_breakdown", { "stats.total_avg_latency_ns" } },
	{ "wakeup_chains", { "chains.0.total_latency_ns" } },
	{ "wakeup_relations", { "total_relationships" } },
	{ "compound_delay", { "compound_delay.p99", "longest_chain" } },
	{ "oncpu_slices", { "total_slices", "longest_slices.0.duration_ns" } },
	{ "scx_layer_behavior", { "total_layers" } },
	{ "perf_counters", { "total_slices" } },
	{ "requests", { "total_requests" } },
	{ "lifecycle", { "forks", "exits", "short_lived_tasks" } },
	{ "irq_analysis", { "total_interrupts", "handler_time_ns" } },
	{ "softirq_analysis", { "total_events", "total_duration_ns" } },
	{ "ipi_analysis", { "total_ipis" } },
	{ "workqueue", { "total_works", "total_duration_ns" } },
	{ "block_io", { "total_ios" } },
	{ "network_io", { "tx_packets", "rx_packets" } },
	{ "memory_pressure", { "reclaim_count" } },
	{ "file_io", { "sync_count" } },
	{ "cpu_frequency", { "total_transitions" } },
	{ "cpu_idle", { "total_transitions" } },
	{ "power_state", { "suspend_resume_count" } },
};

struct result {
	const struct pass *pass;
	struct report *report; /* NULL where it failed */
	struct diag d;
	uint64_t ns;
	size_t bytes; /* as JSON */
};

struct batch_results {
	struct result *at;
	size_t nr;
	uint64_t ns; /* of all */
};

static void scoped_results(struct batch_results *all)
{
	for (size_t i = 0; i < all->nr; i++)
		report_free(all->at[i].report);
	free(all->at);
}

static bool is_wanted(const struct pass *p, const struct source *s, const char *category)
{
	if (p->is_single || strcmp(p->category, "query") == 0 || !pass_applies(p, s))
		return false;
	return !category || strcmp(category, p->category) == 0;
}

static size_t json_bytes(const struct report *r)
{
	struct outgoing o;
	size_t len = 0;

	if (outgoing_begin(&o))
		return 0;
	report_json(&o.w, NULL, report_root(r));
	if (outgoing_end(&o) == 0)
		len = o.len;
	outgoing_done(&o);
	return len;
}

/* One after the other, so that a client that gives up is heard between two. */
static int run_chosen(struct tool_call *call, const struct source *s, const struct pass_args *args,
                      struct batch_results *all)
{
	uint64_t start_ns = clock_boot_ns();

	for (size_t i = 0; i < all->nr; i++) {
		struct result *one = &all->at[i];
		uint64_t at_ns = clock_boot_ns();

		if (call_is_cancelled(call))
			return diag_set(call->d, -ECANCELED, NULL, "cancelled");
		call_progress(call, (double)i, (double)all->nr, one->pass->id);
		if (pass_run(one->pass, s, args, &one->d, &one->report))
			one->report = NULL;
		one->ns = clock_boot_ns() - at_ns;
		one->bytes = one->report ? json_bytes(one->report) : 0;
	}
	all->ns = clock_boot_ns() - start_ns;
	return 0;
}

static void add_ms(struct report *r, const char *key, uint64_t ns)
{
	report_double(r, key, (double)ns / 1e6, 3);
}

static void add_analyzer(struct report *r, const struct result *one)
{
	report_begin_object(r, NULL);
	report_string(r, "analyzer", one->pass->name);
	report_string(r, "category", one->pass->category);
	report_bool(r, "success", one->report != NULL);
	add_ms(r, "duration_ms", one->ns);
	report_u64(r, "data_size", one->bytes);
	report_string(r, "error", one->report ? NULL : one->d.what);
	report_end_object(r);
}

static const char *last_word(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

static const struct figures *figures_of(const struct pass *p)
{
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (strcmp(figures[i].pass, p->id) == 0)
			return &figures[i];
	return NULL;
}

/* One line of each analysis. */
static void add_findings(struct report *r, const struct batch_results *all)
{
	report_begin_object(r, "findings");
	for (size_t i = 0; i < all->nr; i++) {
		const struct figures *f = figures_of(all->at[i].pass);

		if (!all->at[i].report || !f)
			continue;
		report_begin_object(r, f->pass);
		for (size_t k = 0; k < MAX_FIGURES && f->paths[k]; k++) {
			const struct report_node *n = report_at(report_root(all->at[i].report),
			                                        f->paths[k]);

			if (n)
				report_copy(r, last_word(f->paths[k]), n);
		}
		report_end_object(r);
	}
	report_end_object(r);
}

static void add_full(struct report *r, const struct batch_results *all)
{
	report_begin_array(r, "full_results");
	for (size_t i = 0; i < all->nr; i++) {
		const struct result *one = &all->at[i];

		report_begin_object(r, NULL);
		report_string(r, "analyzer_id", one->pass->id);
		report_bool(r, "success", one->report != NULL);
		if (one->report)
			report_copy(r, "data", report_root(one->report));
		else
			report_null(r, "data");
		add_ms(r, "duration_ms", one->ns);
		report_string(r, "error", one->report ? NULL : one->d.what);
		report_end_object(r);
	}
	report_end_array(r);
}

static void add_totals(struct report *r, const struct batch_results *all)
{
	uint64_t nr_good = 0, sum_ns = 0;

	for (size_t i = 0; i < all->nr; i++) {
		nr_good += all->at[i].report != NULL;
		sum_ns += all->at[i].ns;
	}
	report_u64(r, "total_analyzers", all->nr);
	report_u64(r, "successful", nr_good);
	report_u64(r, "failed", all->nr - nr_good);
	add_ms(r, "total_time_ms", all->ns);
	add_ms(r, "analysis_time_ms", sum_ns);
}

static int put_results(struct tool_call *call, const struct batch_results *all)
{
	SCOPED(scoped_report) struct report *r = report_new(0);

	if (!r)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	add_totals(r, all);
	add_findings(r, all);
	report_begin_array(r, "analyzers");
	for (size_t i = 0; i < all->nr; i++)
		add_analyzer(r, &all->at[i]);
	report_end_array(r);
	if (!call_bool(call, "summary_only"))
		add_full(r, all);
	report_end_object(r);
	return call_put_report(call, report_root(r));
}

static const char *const batch_categories[] = { "scheduling", "interrupt", "io",
	                                        "power",      "extended",  NULL };

static const struct arg batch_args[] = {
	ARG_TRACE_ID,
	{ .name = "category",
	  .type = ARG_STRING,
	  .description = "only these analyses",
	  .choices = batch_categories },
	{ .name = "summary_only",
	  .type = ARG_BOOL,
	  .description = "key figures of each; false adds full_results, a few per page",
	  .fallback = "true" },
	ARG_PID,
	ARG_COMM,
	ARG_CGROUP,
	ARG_CPU,
	ARG_WINDOW,
	ARG_LIMIT,
	ARG_OFFSET,
	{ 0 },
};

static const struct out_field batch_output[] = {
	OUT_TRACE_ID,
	{ "total_analyzers", "integer", "that apply" },
	{ "successful", "integer", NULL },
	{ "failed", "integer", NULL },
	{ "total_time_ms", "number", NULL },
	{ "analysis_time_ms", "number", NULL },
	{ "findings", "object", "by analysis: its key figures" },
	{ "analyzers", "array", "analyzer, category, success, duration_ms, data_size, error" },
	{ "full_results", "array", "analyzer_id, success, data, duration_ms, error" },
	OUT_PAGE,
	{ 0 },
};

static int choose_applicable(struct tool_call *call, const struct source *s,
                             struct batch_results *all)
{
	all->at = calloc(nr_passes, sizeof(*all->at));
	if (!all->at)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	for (size_t i = 0; i < nr_passes; i++)
		if (is_wanted(passes[i], s, call_string(call, "category")))
			all->at[all->nr++].pass = passes[i];
	return 0;
}

static int run_all(struct tool_call *call)
{
	SCOPED(scoped_results) struct batch_results all = { 0 };
	struct pass_args args;
	int err = trace_pass_args(call, call->s, &args);

	if (!err)
		err = choose_applicable(call, call->s, &all);
	if (err)
		return err;
	args.limit = (uint32_t)call_u64(call, "limit"); /* else what each thinks best */
	args.category = NULL;                           /* of outliers: all */
	err = run_chosen(call, call->s, &args, &all);
	return err ? err : put_results(call, &all);
}

const struct tool tool_run_all_analyzers = {
	.name = "run_all_analyzers",
	.title = "All analyses",
	.description =
		"Key figures of every analysis that applies to a trace, in one call. Use it for a broad overview, then "
		"the analyze_* tool of whatever stands out.",
	.set = TOOLSET_TRACE,
	.args = batch_args,
	.output = batch_output,
	.read = run_all,
};

/* clang-format off */
static const struct arg export_args[] = { ARG_TRACE_ID,
	{ .name = "output_path", .type = ARG_STRING, .description = "the file to write, below an allowed directory",
	  .is_required = true },
	{ .name = "analysis_types", .type = ARG_STRINGS,
	  .description = "ids from discover_analyzers; all that apply if not given" },
	ARG_PID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_WINDOW, { 0 } };
/* clang-format on */

static const struct out_field export_output[] = {
	OUT_TRACE_ID,
	{ "output_path", "string", NULL },
	{ "analysis_types", "array", "that were written" },
	{ "bytes", "integer", NULL },
	{ "export_time_ms", "number", NULL },
	{ 0 },
};

static int choose_named(struct tool_call *call, const struct source *s, const json_t *names,
                        struct batch_results *all)
{
	all->at = calloc(json_array_size(names), sizeof(*all->at));
	if (!all->at)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		const struct pass *p = pass_find(name);
		char missing[160];

		if (!p || p->is_single)
			return diag_set(call->d, -EINVAL, "discover_analyzers lists them",
			                "'%.64s' is not an analysis that can be exported", name);
		if (!pass_applies(p, s))
			return diag_set(call->d, -ENODATA, "leave it out",
			                "%s %s, which this trace does not have", p->id,
			                pass_missing(p, s, missing, sizeof(missing)));
		for (size_t k = 0; k < all->nr && p; k++)
			if (all->at[k].pass == p)
				p = NULL; /* named twice */
		if (p)
			all->at[all->nr++].pass = p;
	}
	return 0;
}

static void write_results(const struct tool_call *call, const struct batch_results *all,
                          const struct report *summary, struct json_writer *w)
{
	const struct report_node *nr = report_at(report_root(summary), "num_processes");

	jw_begin_object(w, NULL);
	jw_string(w, "trace_id", call->trace_id);
	jw_begin_array(w, "time_range");
	jw_u64(w, NULL, call->s->start_ns);
	jw_u64(w, NULL, call->s->end_ns);
	jw_end_array(w);
	jw_u64(w, "num_cpus", call->s->facts->nr_cpus);
	if (nr)
		report_json(w, "num_processes", nr);
	jw_u64(w, "total_events", call->s->facts->nr_events);
	jw_bool(w, "is_scx_trace", call->s->facts->has_scx);
	jw_u64(w, "export_timestamp", (uint64_t)time(NULL));
	for (size_t i = 0; i < all->nr; i++)
		if (all->at[i].report)
			report_json(w, all->at[i].pass->id, report_root(all->at[i].report));
	jw_end_object(w);
}

static int make_text(struct tool_call *call, const struct batch_results *all)
{
	SCOPED(scoped_report) struct report *summary = NULL;
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };
	int err = trace_pass_run(call, &pass_summary, call->s, &args, &summary);

	if (err)
		return err;
	call->file->w.is_pretty = true;
	write_results(call, all, summary, &call->file->w);
	return 0;
}

static void put_exported(struct tool_call *call, const struct batch_results *all)
{
	jw_begin_array(call->out, "analysis_types");
	for (size_t i = 0; i < all->nr; i++)
		if (all->at[i].report)
			jw_string(call->out, NULL, all->at[i].pass->id);
	jw_end_array(call->out);
	jw_double(call->out, "export_time_ms", (double)all->ns / 1e6, 3);
}

int trace_export_json(struct tool_call *call)
{
	SCOPED(scoped_results) struct batch_results all = { 0 };
	const json_t *names = json_object_get(call->args, "analysis_types");
	struct pass_args args;
	int err = json_array_size(names) ? choose_named(call, call->s, names, &all)
	                                 : choose_applicable(call, call->s, &all);

	if (!err)
		err = trace_pass_args(call, call->s, &args);
	if (err)
		return err;
	args.limit = 0; /* what each thinks best, as the command line does */
	err = run_chosen(call, call->s, &args, &all);
	if (!err)
		err = make_text(call, &all);
	if (!err)
		put_exported(call, &all);
	return err;
}

int trace_export_run(struct tool_call *call)
{
	SCOPED(scoped_trace_answer) struct trace_answer answer = { 0 };
	SCOPED(scoped_free) char *path = NULL;
	const char *ids[] = { call_string(call, "trace_id"), call_string(call, "after_trace_id") };
	int err = trace_store_allow(call->world->traces, call->owner,
	                            call_string(call, "output_path"), true, call->d, &path);

	if (!err && ids[1])
		err = trace_pair_run(call, ids, &answer);
	else if (!err)
		err = trace_relay(call, call_string(call, "trace_id"), true, &answer);
	if (err)
		return err;
	err = trace_store_write(call->world->traces, path, answer.file, answer.file_len);
	if (err)
		return diag_set(call->d, err, "check the directory and its permissions",
		                "cannot write '%.128s'", path);
	jw_string(call->out, "output_path", path);
	jw_u64(call->out, "bytes", answer.file_len);
	jw_raw_members(call->out, answer.json, answer.len);
	return 0;
}

const struct tool tool_export_trace_analysis = {
	.name = "export_trace_analysis",
	.title = "Write analyses to a file",
	.description =
		"Writes the full results of analyses as one JSON file for other programs. Not for reading here: use the "
		"analyze_* tools.",
	.set = TOOLSET_TRACE,
	.changes_something = true,
	.is_destructive = true, /* an older file of that name is replaced */
	.is_idempotent = true,
	.args = export_args,
	.output = export_output,
	.run = trace_export_run,
	.read = trace_export_json,
};
