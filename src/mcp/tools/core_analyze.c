/* explain, blame, timeline, and analyze, which has all analyses by name. */
#include <errno.h>
#include <string.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "mcp/tools/core_findings.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/tools_analyze.h"
#include "mcp/tools/trace_call.h"

/* clang-format off */
static const char *const explain_choices[] = { "wait", "sleep", "task", NULL };
static const struct arg explain_args[] = { ARG_TRACE_ID,
	{ .name = "what", .type = ARG_STRING, .description = "waits for a CPU, sleeps, or both with the states of a task; if not given, the "
	  "wait, else the sleep, at at_time_ns, or the longest waits", .choices = explain_choices },
	ARG_TID, ARG_PID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_WINDOW,
	{ .name = "at_time_ns", .type = ARG_INTEGER, .description = "only those at this moment", .max = INT64_MAX },
	{ .name = "limit", .type = ARG_INTEGER, .description = "how many, the longest first", .min = 1, .max = 20, .fallback = "3" },
	ARG_DETAIL, { 0 } };
static const struct arg blame_args[] = { ARG_TRACE_ID, ARG_PID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_WINDOW, ARG_MODE("per_comm"), ARG_LIMIT,
	ARG_OFFSET, { 0 } };
static const struct arg timeline_args[] = { ARG_TRACE_ID,
	{ .name = "pid", .type = ARG_INTEGER, .description = "of this process, or", .min = 1, .max = UINT32_MAX - 1 },
	{ .name = "cpu", .type = ARG_INTEGER, .description = "of this CPU", .min = 0, .max = UINT16_MAX - 1 },
	ARG_WINDOW, ARG_LIMIT, ARG_OFFSET, { 0 } };
/* clang-format on */

static void copy_keys(struct report *r, const struct report_node *n, const char *const *keys,
                      size_t nr)
{
	report_begin_object(r, NULL);
	for (size_t i = 0; i < nr; i++) {
		const struct report_node *m = report_at(n, keys[i]);

		if (m && !(m->type == REPORT_BOOL && !m->b))
			report_copy(r, keys[i], m);
	}
	report_end_object(r);
}

/* What a summary of a wait or sleep has; the rest with detail. */
static void copy_list(struct report *r, const struct report_node *root, const char *key)
{
	static const char *const keys[] = {
		"comm", "tid", "wait_ns", "sleep_ns", "start_timestamp", "is_open", "sentences"
	};
	const struct report_node *list = report_at(root, key);

	if (!list)
		return;
	report_begin_array(r, key);
	for (const struct report_node *n = list->first; n; n = n->next)
		copy_keys(r, n, keys, sizeof(keys) / sizeof(keys[0]));
	report_end_array(r);
}

/* Under key, unless it is the only one. */
static void copy_short(struct report *r, const char *key, const struct report_node *root)
{
	if (key)
		report_begin_object(r, key);
	if (report_at(root, "in_all"))
		report_copy(r, "in_all", report_at(root, "in_all"));
	copy_list(r, root, "waits");
	copy_list(r, root, "sleeps");
	if (report_at(root, "incomplete"))
		report_copy(r, "incomplete", report_at(root, "incomplete"));
	if (key)
		report_end_object(r);
}

static int add_explained(struct tool_call *call, struct pass_args *args, const char *category,
                         const char *key, struct report *r)
{
	SCOPED(scoped_report) struct report *one = NULL;
	int err;

	args->category = category;
	err = trace_pass_run(call, &pass_explain, call->s, args, &one);
	if (!err && !call_bool(call, "detail"))
		copy_short(r, key, report_root(one));
	else if (!err && key)
		report_copy(r, key, report_root(one));
	else if (!err)
		for (const struct report_node *n = report_root(one)->first; n; n = n->next)
			report_copy(r, n->key, n);
	return err;
}

static int add_states(struct tool_call *call, const struct pass_args *args, struct report *r)
{
	static const char *const keys[] = { "pid",
		                            "comm",
		                            "thread_count",
		                            "total_time_ns",
		                            "running_percent",
		                            "runnable_percent",
		                            "sleeping_percent",
		                            "blocked_percent",
		                            "max_scheduler_latency_ns" };
	SCOPED(scoped_report) struct report *one = NULL;
	int err = trace_pass_run(call, pass_find("task_states"), call->s, args, &one);

	if (err)
		return err;
	report_begin_array(r, "states");
	for (const struct report_node *n = report_at(report_root(one), "processes")->first; n;
	     n = n->next)
		copy_keys(r, n, keys, sizeof(keys) / sizeof(keys[0]));
	report_end_array(r);
	return 0;
}

static int explain_task(struct tool_call *call, struct pass_args *args, struct report *r)
{
	int err;

	if (!args->tid && !args->pid && !args->comm && !args->cgroup)
		return diag_set(call->d, -EINVAL, "give tid, pid, comm or cgroup",
		                "which task is to be explained?");
	err = add_states(call, args, r);
	if (!err)
		err = add_explained(call, args, "waits", "waiting", r);
	return err ? err : add_explained(call, args, "sleeps", "sleeping", r);
}

static int explain(struct tool_call *call)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	const char *what = call_string(call, "what");
	struct pass_args args;
	int err;

	if (!r)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	err = trace_pass_args(call, call->s, &args);
	if (err)
		return err;
	args.limit = (uint32_t)call_u64(call, "limit");
	report_begin_object(r, NULL);
	if (what && strcmp(what, "task") == 0)
		err = explain_task(call, &args, r);
	else
		err = add_explained(call, &args,
		                    !what                       ? NULL
		                    : strcmp(what, "wait") == 0 ? "waits"
		                                                : "sleeps",
		                    NULL, r);
	report_end_object(r);
	return err ? err : call_put_report(call, report_root(r));
}

const struct tool tool_explain = {
	.name = "explain",
	.title = "Why a task waited or slept",
	.description =
		"In sentences: what had the CPU meanwhile, which quota, interrupts or idle CPUs there were, what woke it; of sleeps the call, "
		"who held the lock or ended it, and what that task did. One moment, one task, or all. Use it on what summary names. "
		"Example: {\"tid\":4242,\"at_time_ns\":6179264068577}.",
	.set = TOOLSET_CORE,
	.args = explain_args,
	.read = explain,
};

const struct analyze_tool core_blame = {
	.tool = { .name = "blame",
	          .title = "Who kept whom waiting",
	          .description =
	                  "The time of all waits by victim and by culprit, with throttling, interrupts, stolen and unknown time apart. Use it "
	                  "for the whole picture; for one wait: explain. Example: {\"aggregation_mode\":\"per_cgroup\"}.",
	          .set = TOOLSET_CORE,
	          .args = blame_args,
	          .read = analyze_tool_read },
	.pass = "blame",
	.list = "victims",
	.total = "total_victims",
};

static int timeline(struct tool_call *call)
{
	if (call_has(call, "pid") == call_has(call, "cpu"))
		return diag_set(call->d, -EINVAL, NULL, "give one of \"pid\" and \"cpu\"");
	return analyze_tool_answer(call,
	                           &analyze_tools[call_has(call, "pid") ? ANALYZE_PROCESS_TIMELINE
	                                                                : ANALYZE_CPU_TIMELINE],
	                           NULL);
}

const struct tool tool_timeline = {
	.name = "timeline",
	.title = "What happened in order",
	.description =
		"Events of one process or CPU in order: switches, wakeups, migrations, forks. Narrow the time first; for totals: "
		"analyze. Example: {\"cpu\":0,\"start_time_ns\":6179264000000,\"end_time_ns\":6179265000000}.",
	.set = TOOLSET_CORE,
	.args = timeline_args,
	.read = timeline,
};

/* clang-format off */
static const char *const types[] = {
	"cpu_utilization", "process_runtime", "task_states", "wakeup_latency", "latency_breakdown", "correlation", "runqueue_depth",
	"wasted_cores", "preemptions", "fairness", "outliers", "pressure", "scheduling_bottlenecks", "migration_patterns", "llc_locality",
	"wakeup_chains", "wakeup_relations", "compound_delay", "sleeps", "locks", "lifecycle", "oncpu_slices", "requests", "flamegraph",
	"perf_counters", "irq_analysis", "softirq_analysis", "ipi_analysis", "workqueue", "block_io", "network_io", "memory_pressure",
	"file_io", "cpu_frequency", "cpu_idle", "power_state", "dsq_summary", "dsq_latency", "scx_layer_behavior", "discover", NULL };

static const struct arg analyze_args[] = {
	{ .name = "type", .type = ARG_STRING, .is_required = true, .choices = types, .description =
	  "process_runtime: CPU time by task; task_states: run, wait, sleep; wakeup_latency: percentiles; correlation: worst wakeups; "
	  "runqueue_depth: overload; wasted_cores: idle CPUs while tasks wait; preemptions: by whom; pressure: PSI with names; "
	  "sleeps: by call; locks: futexes, holders; lifecycle: forks, exits; compound_delay: along chains of wakers; "
	  "flamegraph: stacks; dsq_*, scx_*: sched_ext; discover: which apply to this trace" },
	ARG_TRACE_ID, ARG_PID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_WINDOW,
	{ .name = "aggregation_mode", .type = ARG_STRING, .description = "rows", .choices = trace_modes },
	{ .name = "category", .type = ARG_STRING, .description = "of outliers: latency, runtime, cpu; of flamegraph: cpu, off-cpu, waker, wall" },
	ARG_LIMIT, ARG_OFFSET, { 0 } };
/* clang-format on */

static int analyze(struct tool_call *call)
{
	return analyze_tool_answer(call, analyze_tool_find(call_string(call, "type")), "type");
}

const struct tool tool_analyze = {
	.name = "analyze",
	.title = "One analysis by name",
	.description =
		"Figures of one question, as tables. Use it when summary and explain leave a question open; for joins and "
		"other filters: query. Example: {\"type\":\"runqueue_depth\"}.",
	.set = TOOLSET_CORE,
	.args = analyze_args,
	.read = analyze,
};
