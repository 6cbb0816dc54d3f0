/* Traces themselves: load, list, unload, what one is, and what two differ in. */
#include <errno.h>
#include <string.h>

#include "analyses/summary_facts.h"
#include "analyze/diff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "mcp/tools/choose_file.h"
#include "mcp/tools/core_findings.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"
#include "mcp/traces/trace_relay.h"
#include "mcp/traces/trace_store.h"
#include "mcp/world.h"

#define SHOWN_BYTES 256 /* of a path */

static const struct arg load_args[] = {
	{ .name = "file_path",
	  .type = ARG_STRING,
	  .description = "the trace: Perfetto's format of any recorder, plain, gzip or zstd",
	  .is_required = true },
	{ .name = "trace_id",
	  .type = ARG_STRING,
	  .description = "its name from now on; by default the file's, without extension" },
	{ 0 },
};

static const struct out_field load_output[] = {
	{ "trace_id", "string", "for all other tools" },
	{ "file_path", "string", "after symbolic links" },
	{ "time_range", "array", "first and last nanosecond on the trace's clock" },
	{ "duration_ms", "number", NULL },
	{ "num_processes", "integer", NULL },
	{ "num_cpus", "integer", NULL },
	{ "total_events", "integer", NULL },
	{ "lost_events", "integer", "that the recorder reported" },
	{ "is_scx_trace", "boolean", "has sched_ext data" },
	{ "trace_source", "string", "the recorder" },
	{ "load_time_ms", "number", NULL },
	{ "evicted", "integer", "other traces that were unloaded to make room" },
	{ 0 },
};

static bool on_load(void *ctx, uint64_t done, uint64_t total)
{
	struct tool_call *call = ctx;

	call_progress(call, (double)done, (double)total, "loading the trace");
	return !call_is_cancelled(call);
}

/* As in the summary. */
static int put_processes(struct tool_call *call, const struct source *s)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	double nr = 0;
	int err;

	if (!r)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	err = summary_facts(s, r, call->d);
	report_end_object(r);
	if (err || !report_number(report_at(report_root(r), "num_processes"), &nr))
		return diag_set(call->d, err ? err : -ENOMEM, NULL, "out of memory");
	jw_u64(call->out, "num_processes", (uint64_t)nr);
	return 0;
}

static void put_loaded(struct json_writer *w, const struct source *s)
{
	jw_string(w, "file_path", s->facts->name);
	jw_begin_array(w, "time_range");
	jw_u64(w, NULL, s->start_ns);
	jw_u64(w, NULL, s->end_ns);
	jw_end_array(w);
	jw_double(w, "duration_ms", (double)(s->end_ns - s->start_ns) / 1e6, 3);
	jw_u64(w, "num_cpus", s->facts->nr_cpus);
	jw_u64(w, "total_events", s->facts->nr_events);
	jw_u64(w, "lost_events", s->facts->lost);
	jw_string(w, "incomplete", s->facts->incomplete);
	jw_string(w, "recorded_tasks", s->facts->filter ? s->facts->filter : "all");
	jw_bool(w, "is_scx_trace", s->facts->has_scx);
	jw_string(w, "trace_source", s->facts->producer);
}

/* Where the trace is. */
static int report_loaded(struct tool_call *call)
{
	put_loaded(call->out, call->s);
	return put_processes(call, call->s);
}

void call_log_loaded(struct tool_call *call, const char *path, const char *id, size_t nr_evicted)
{
	char shown[SHOWN_BYTES];

	call_log(call, MCP_INFO, "'%s' is loaded as trace %s",
	         text_printable(shown, sizeof(shown), path, strlen(path)), id);
	if (nr_evicted)
		call_log(call, MCP_WARNING,
		         "the limit on loaded traces was reached: %zu that were not used for longest "
		         "are unloaded",
		         nr_evicted);
}

/* Loads it; what read() makes of it is the answer. */
static int load_file(struct tool_call *call)
{
	SCOPED(scoped_trace_answer) struct trace_answer answer = { 0 };
	SCOPED(scoped_free) char *path = NULL;
	char id[TRACE_ID_LEN];
	struct trace_load what = { .owner = call->owner,
		                   .id = call_string(call, "trace_id"),
		                   .progress = on_load,
		                   .ctx = call };
	uint64_t start_ns = clock_boot_ns();
	size_t nr_evicted = 0;
	int err = call_choose_file(call, call_string(call, "file_path"), &path);
	double ms;

	what.path = path;
	if (!err)
		err = trace_store_load(call->world->traces, &what, call->d, id, &nr_evicted);
	ms = (double)(clock_boot_ns() - start_ns) / 1e6;
	if (!err)
		err = trace_relay(call, id, true, &answer);
	if (err)
		return err;
	call_log_loaded(call, what.path, id, nr_evicted);
	if (call_wants_metadata(call))
		jw_double(call->out, "load_time_ms", ms, 3);
	if (nr_evicted || call_wants_metadata(call))
		jw_u64(call->out, "evicted", nr_evicted);
	jw_raw_members(call->out, answer.json, answer.len);
	return 0;
}

const struct tool tool_load_perfetto_trace = {
	.name = "load_perfetto_trace",
	.title = "Load a trace",
	.description =
		"Loads a recorded trace file, so that the other trace tools can answer about it. Do this first; then "
		"get_trace_summary. To record one now, use record_and_analyze instead.",
	.set = TOOLSET_TRACE,
	.args = load_args,
	.output = load_output,
	.run = load_file,
	.read = report_loaded,
};

/* clang-format off */
static const struct arg core_load_args[] = {
	{ .name = "file_path", .type = ARG_STRING, .description = "of schedscope, Perfetto, perf, trace-cmd or ftrace; a relative one "
	  "is below the allowed directory", .is_required = true },
	{ .name = "trace_id", .type = ARG_STRING, .description = "its name from now on; the file's if not given" },
	ARG_DETAIL, { 0 } };
/* clang-format on */

const struct tool tool_load = {
	.name = "load",
	.title = "Load a recording",
	.description =
		"Loads a recorded file and answers with its findings, the worst first. Start here for a file; for this machine "
		"now: record. Example: {\"file_path\":\"web.pftrace\"}.",
	.set = TOOLSET_CORE,
	.args = core_load_args,
	.run = load_file,
	.read = trace_put_findings,
};

static const struct out_field list_output[] = {
	{ "traces", "array",
	  "trace_id, file_path, total_events, memory_bytes, file_bytes, is_temporary" },
	{ "total", "integer", NULL },
	{ 0 },
};

struct trace_listing {
	struct json_writer *w;
	uint64_t nr;
};

static void put_entry(void *ctx, const struct trace_entry *e)
{
	struct trace_listing *l = ctx;

	l->nr++;
	jw_begin_object(l->w, NULL);
	jw_string(l->w, "trace_id", e->id);
	jw_string(l->w, "file_path", e->path);
	jw_u64(l->w, "total_events", e->nr_events);
	jw_u64(l->w, "memory_bytes", e->memory_bytes);
	jw_u64(l->w, "file_bytes", e->file_bytes);
	jw_bool(l->w, "is_temporary", e->is_ours);
	jw_end_object(l->w);
}

static int list(struct tool_call *call)
{
	struct trace_listing l = { .w = call->out };
	const char *unwanted = call_string(call, "unload");
	int err = unwanted ? trace_store_unload(call->world->traces, call->owner, unwanted, call->d)
	                   : 0;

	if (err)
		return err;

	jw_begin_array(call->out, "traces");
	trace_store_each(call->world->traces, call->owner, put_entry, &l);
	jw_end_array(call->out);
	jw_u64(call->out, "total", l.nr);
	return 0;
}

const struct tool tool_list_traces = {
	.name = "list_traces",
	.title = "Loaded traces",
	.description =
		"Which traces this session has loaded, under which trace_id, and how much memory each takes. Not what is in one: that "
		"is get_trace_summary.",
	.set = TOOLSET_TRACE,
	.output = list_output,
	.run = list,
};

static const struct arg core_list_args[] = {
	{ .name = "unload",
	  .type = ARG_STRING,
	  .description =
	          "a trace_id to unload first; its file stays unless record made it without output_path" },
	{ 0 },
};

const struct tool tool_list = {
	.name = "list",
	.title = "Loaded traces",
	.description =
		"Your loaded traces, the newest first, which is the default of all tools. Unloading is "
		"seldom needed: the one unused longest goes when there is no room. Example: {}.",
	.set = TOOLSET_CORE,
	.args = core_list_args,
	.run = list,
};

static const struct arg unload_args[] = {
	{ .name = "trace_id",
	  .type = ARG_STRING,
	  .description = "from list_traces",
	  .is_required = true },
	{ 0 },
};

static const struct out_field unload_output[] = {
	{ "trace_id", "string", NULL },
	{ "unloaded", "boolean", NULL },
	{ 0 },
};

static int unload(struct tool_call *call)
{
	const char *id = call_string(call, "trace_id");
	int err = trace_store_unload(call->world->traces, call->owner, id, call->d);

	if (err)
		return err;
	jw_string(call->out, "trace_id", id);
	jw_bool(call->out, "unloaded", true);
	return 0;
}

const struct tool tool_unload_trace = {
	.name = "unload_trace",
	.title = "Unload a trace",
	.description =
		"Frees the memory of a loaded trace. Files stay, except recordings of record_and_analyze without an "
		"output_path. Seldom needed: the trace unused longest is unloaded automatically.",
	.set = TOOLSET_TRACE,
	.args = unload_args,
	.output = unload_output,
	.run = unload,
};

static const struct arg summary_args[] = { ARG_TRACE_ID, ARG_LIMIT, ARG_OFFSET, { 0 } };

static const struct out_field summary_output[] = {
	{ "bottlenecks", "array",
	  "who lost most time to what, with a remedy; find_scheduling_bottlenecks says more" },
	OUT_TRACE_ID,
	{ "trace_duration_ms", "number", NULL },
	{ "num_cpus", "integer", NULL },
	{ "num_processes", "integer", NULL },
	{ "total_events", "integer", NULL },
	{ "is_scx_trace", "boolean", NULL },
	{ "capabilities", "object", "which events it has, and its time_range" },
	{ "applicable_analyzers", "integer", NULL },
	{ "cpus", "array", "how busy each was" },
	{ "busiest_tasks", "array", NULL },
	{ "longest_waits", "array", NULL },
	OUT_PAGE,
	{ 0 },
};

static int summary(struct tool_call *call)
{
	return trace_put_summary(call, call->s, NULL);
}

const struct tool tool_get_trace_summary = {
	.name = "get_trace_summary",
	.title = "Summary of a trace",
	.description =
		"What a trace is: duration, CPUs, events, losses, busiest tasks, longest waits, bottlenecks, and which "
		"analyses apply. Use it right after loading. For figures of all analyses: run_all_analyzers.",
	.set = TOOLSET_TRACE,
	.args = summary_args,
	.output = summary_output,
	.read = summary,
};

/* clang-format off */
static const struct arg core_summary_args[] = { ARG_TRACE_ID, ARG_PID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_WINDOW,
	{ .name = "limit", .type = ARG_INTEGER, .description = "findings; as many as fit if not given", .min = 1, .max = 100 },
	ARG_DETAIL, { 0 } };
/* clang-format on */

const struct tool tool_summary = {
	.name = "summary",
	.title = "Where time was lost",
	.description =
		"Findings of a trace, the worst first: quotas, neighbours, real-time hogs, locks, disks, fork storms, steal, "
		"wasted cores, wrong affinity. Each has a sentence, evidence, confidence (proved, likely, unknown), a remedy and the next "
		"call. Example: {\"comm\":\"nginx*\"}.",
	.set = TOOLSET_CORE,
	.args = core_summary_args,
	.read = trace_put_findings,
};

static const struct arg diff_args[] = {
	{ .name = "trace_id_a",
	  .type = ARG_STRING,
	  .description = "the trace before",
	  .is_required = true },
	{ .name = "trace_id_b",
	  .type = ARG_STRING,
	  .description = "the trace after",
	  .is_required = true },
	{ .name = "include_unchanged",
	  .type = ARG_BOOL,
	  .description = "also rows that differ by no more than noise",
	  .fallback = "false" },
	ARG_PID,
	ARG_COMM,
	ARG_CGROUP,
	ARG_CPU,
	ARG_MODE("per_comm"),
	ARG_LIMIT,
	ARG_OFFSET,
	{ 0 },
};

static const struct out_field diff_output[] = {
	{ "summary", "string", "what changed, in one sentence" },
	{ "a", "object", "file, scheduler, duration_ns, cpus, lost_events" },
	{ "b", "object", NULL },
	{ "overall", "array",
	  "metric, a, b, their confidence intervals, change_percent, p_corrected, verdict" },
	{ "changes_found", "integer", NULL },
	{ "changes", "array", "the same by task name, or as aggregation_mode says" },
	{ "only_in_a", "array", "their names" },
	{ "only_in_b", "array", "their names" },
	{ "tests", "integer", "that were made, and corrected for" },
	{ "note", "string", NULL },
	OUT_PAGE,
	{ 0 },
};

/* Where both traces are. */
static int compare(struct tool_call *call)
{
	SCOPED(scoped_report) struct report *r = NULL;
	struct pass_args args;
	struct diff_cfg cfg = { .args_a = &args,
		                .args_b = &args,
		                .has_noise = call_bool(call, "include_unchanged"),
		                .a = call->s,
		                .b = call->other };
	int err = trace_pass_args(call, call->s, &args);

	if (err)
		return err;
	cfg.limit = args.limit;
	err = diff_run(&cfg, call->d, &r);
	return err ? err : call_put_report(call, report_root(r));
}

/* Each trace has a process of its own: a third one loads both. */
int trace_pair_run(struct tool_call *call, const char *const given[2], struct trace_answer *out)
{
	const char *ids[] = { given[0], given[1] };
	char newest[2][TRACE_ID_LEN];
	struct trace_child *both = NULL;
	struct trace_load load = { .owner = call->owner, .progress = on_load, .ctx = call };
	int err = 0;

	for (size_t i = 0; i < 2 && !err; i++) {
		if (ids[i])
			continue;
		err = trace_store_newest(call->world->traces, call->owner, 1 - i, newest[i],
		                         call->d);
		ids[i] = newest[i];
	}
	if (err)
		return err;
	if (strcmp(ids[0], ids[1]) == 0)
		return diag_set(call->d, -EINVAL, "load the other one first",
		                "both traces are the same");
	err = trace_store_pair(call->world->traces, ids, &load, call->d, &both);
	if (!err)
		err = trace_child_run(both, call, ids[0], out);
	trace_child_free(both);
	return err;
}

static int diff(struct tool_call *call)
{
	SCOPED(scoped_trace_answer) struct trace_answer answer = { 0 };
	const char *ids[] = { call_string(call, "trace_id_a"), call_string(call, "trace_id_b") };
	int err = trace_pair_run(call, ids, &answer);

	if (!err)
		jw_raw_members(call->out, answer.json, answer.len);
	return err;
}

const struct tool tool_diff_traces = {
	.name = "diff_traces",
	.title = "Compare two traces",
	.description =
		"What got better or worse from one loaded trace to another, beyond noise: waits, slices, runtime, switches "
		"and migrations, overall and by task name, cgroup or other rows. For one trace alone use run_all_analyzers.",
	.set = TOOLSET_TRACE,
	.args = diff_args,
	.output = diff_output,
	.run = diff,
	.read = compare,
};

/* clang-format off */
static const struct arg core_diff_args[] = {
	{ .name = "trace_id_a", .type = ARG_STRING, .description = "before; the second newest if not given" },
	{ .name = "trace_id_b", .type = ARG_STRING, .description = "after; the newest if not given" },
	ARG_PID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_MODE("per_comm"), ARG_LIMIT, ARG_OFFSET, { 0 } };
/* clang-format on */

const struct tool tool_diff = {
	.name = "diff",
	.title = "Compare two traces",
	.description =
		"What got better or worse from one trace to another, beyond noise: waits, slices, runtime, switches, migrations. "
		"Use it after a change. Example: {\"trace_id_a\":\"before\",\"trace_id_b\":\"after\"}.",
	.set = TOOLSET_CORE,
	.args = core_diff_args,
	.run = diff,
	.read = compare,
};
