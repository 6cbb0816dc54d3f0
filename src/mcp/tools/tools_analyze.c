#include "mcp/tools/tools_analyze.h"

#include <errno.h>
#include <string.h>

#include "analyses/passes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/tools/tools.h"
#include "mcp/tools/trace_call.h"

static const char *const methods[] = { "IQR", "MAD", "StdDev", "Percentile", NULL };
static const char *const outlier_categories[] = { "latency", "runtime", "cpu", "all", NULL };
static const char *const stack_kinds[] = { "cpu", "off-cpu", "waker", "wall", NULL };
static const char *const categories[] = { "scheduling", "interrupt", "io", "power",
	                                  "extended",   "query",     NULL };

/* clang-format off */
#define ARG_ROWS ARG_TRACE_ID, ARG_PID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_WINDOW, ARG_LIMIT, ARG_OFFSET
#define ARG_PARALLEL { .name = "use_parallel", .type = ARG_BOOL, .description = "ignored", .fallback = "true" }

static const struct arg row_args[] = { ARG_ROWS, { 0 } };
static const struct arg use_args[] = { ARG_TRACE_ID, ARG_CPU, ARG_WINDOW, ARG_LIMIT, ARG_OFFSET, ARG_PARALLEL, { 0 } };
static const struct arg runtime_args[] = { ARG_ROWS, ARG_PARALLEL, ARG_MODE("per_thread"), { 0 } };
static const struct arg mode_args[] = { ARG_ROWS, ARG_MODE("per_thread"), { 0 } };
static const struct arg blame_args[] = { ARG_ROWS, ARG_MODE("per_comm"), { 0 } };
/* Whole-machine lists that no task owns. */
static const struct arg machine_args[] = { ARG_TRACE_ID, ARG_CPU, ARG_WINDOW, ARG_LIMIT, ARG_OFFSET, { 0 } };
static const struct arg slices_args[] = { ARG_ROWS, ARG_MODE("per_thread"),
	{ .name = "extract_scx_metadata", .type = ARG_BOOL, .description = "also by layer and dispatch queue",
	  .fallback = "true" }, { 0 } };
static const struct arg layer_args[] = { ARG_TRACE_ID,
	{ .name = "layer_id", .type = ARG_INTEGER, .description = "only this layer", .min = 0, .max = UINT32_MAX - 1 },
	ARG_WINDOW, ARG_LIMIT, ARG_OFFSET, { 0 } };
static const struct arg process_args[] = { ARG_TRACE_ID,
	{ .name = "pid", .type = ARG_INTEGER, .description = "the process", .is_required = true, .min = 1,
	  .max = UINT32_MAX - 1 },
	ARG_WINDOW, ARG_LIMIT, ARG_OFFSET, { 0 } };
static const struct arg cpu_args[] = { ARG_TRACE_ID,
	{ .name = "cpu", .type = ARG_INTEGER, .description = "the CPU", .is_required = true, .min = 0,
	  .max = UINT16_MAX - 1 },
	ARG_WINDOW, ARG_LIMIT, ARG_OFFSET, { 0 } };
static const struct arg outlier_args[] = { ARG_TRACE_ID,
	{ .name = "method", .type = ARG_STRING, .description = "how outliers are found", .choices = methods,
	  .fallback = "\"IQR\"" },
	{ .name = "category", .type = ARG_STRING, .description = "of what", .choices = outlier_categories,
	  .fallback = "\"all\"" },
	{ .name = "limit", .type = ARG_INTEGER, .description = "rows of each list, fewer if they do not fit", .min = 1,
	  .max = 1000, .fallback = "20" },
	ARG_WINDOW, ARG_OFFSET, { 0 } };
static const char *const explain_categories[] = { "waits", "sleeps", NULL };
static const struct arg explain_args[] = { ARG_TRACE_ID, ARG_PID, ARG_TID, ARG_COMM, ARG_CGROUP, ARG_CPU, ARG_WINDOW,
	{ .name = "at_time_ns", .type = ARG_INTEGER, .description = "only those at this moment", .max = INT64_MAX },
	{ .name = "category", .type = ARG_STRING, .description = "waits for a CPU, or sleeps; by default waits, and the sleep "
	  "at a moment at which there is no wait", .choices = explain_categories },
	ARG_LIMIT, ARG_OFFSET, { 0 } };
static const struct arg stack_args[] = { ARG_ROWS,
	{ .name = "category", .type = ARG_STRING, .description = "which stacks; by default what the trace has",
	  .choices = stack_kinds }, { 0 } };
static const struct arg discover_args[] = { ARG_TRACE_ID,
	{ .name = "category", .type = ARG_STRING, .description = "only these", .choices = categories },
	ARG_LIMIT, ARG_OFFSET, { 0 } };
/* clang-format on */

static const struct out_field analysis_output[] = {
	OUT_TRACE_ID,
	{ "analysis_type", "string", NULL },
	OUT_PAGE,
	{ 0 },
};

/* A member that is a count; UINT64_MAX if it is not there. */
static uint64_t count_at(const struct report_node *root, const char *path)
{
	const struct report_node *n = path ? report_at(root, path) : NULL;

	return n && n->type == REPORT_U64 ? n->u64 : UINT64_MAX;
}

static int put_answer(struct tool_call *call, const struct analyze_tool *t,
                      const struct report_node *root)
{
	struct call_list known = { .key = t->list, .total = count_at(root, t->total) };
	const struct report_node *list = t->list ? report_at(root, t->list) : NULL;

	if (!list || known.total == UINT64_MAX || known.total < list->nr)
		return call_put_report(call, root);
	return call_put_list(call, root, &known);
}

/* What is left out unless requested: layers and queues, and the tests of each metric where there are many. */
static bool is_unwanted(const struct tool_call *call, const char *key)
{
	const char *category = call_string(call, "category");

	if (strcmp(key, "by_layer") == 0 || strcmp(key, "by_dsq") == 0)
		return call_has(call, "extract_scx_metadata") &&
		       !call_bool(call, "extract_scx_metadata");
	return strcmp(key, "detection_results") == 0 && category && strcmp(category, "all") == 0;
}

static void copy_wanted(const struct tool_call *call, const struct report_node *object,
                        struct report *r)
{
	for (const struct report_node *n = object->first; n; n = n->next) {
		if (is_unwanted(call, n->key))
			continue;
		if (n->type == REPORT_OBJECT) {
			report_begin_object(r, n->key);
			copy_wanted(call, n, r);
			report_end_object(r);
		} else {
			report_copy(r, n->key, n);
		}
	}
}

static int put_wanted(struct tool_call *call, const struct analyze_tool *t,
                      const struct report_node *root)
{
	SCOPED(scoped_report) struct report *r = report_new(0);

	if (!r)
		return diag_set(call->d, -ENOMEM, NULL, "out of memory");
	report_begin_object(r, NULL);
	copy_wanted(call, root, r);
	report_end_object(r);
	return put_answer(call, t, report_root(r));
}

static int analyze(struct tool_call *call, const struct analyze_tool *t, const struct pass *p)
{
	SCOPED(scoped_report) struct report *r = NULL;
	uint64_t start_ns;
	struct pass_args args;
	int err = trace_pass_args(call, call->s, &args);

	if (err)
		return err;
	if (t->most_rows && args.limit > t->most_rows)
		args.limit = t->most_rows;
	start_ns = clock_boot_ns();
	err = trace_pass_run(call, p, call->s, &args, &r);
	if (err)
		return err;
	jw_double(call->out, "analysis_time_ms", (double)(clock_boot_ns() - start_ns) / 1e6, 3);
	return put_wanted(call, t, report_root(r));
}

int analyze_tool_read(struct tool_call *call)
{
	const struct analyze_tool *t = (const struct analyze_tool *)(const void *)call->tool;
	const struct pass *p = pass_find(t->pass);

	return p ? analyze(call, t, p) : diag_set(call->d, -EINVAL, NULL, "no such analysis");
}

/* clang-format off */
#define TOOL(name_, title_, args_, text) \
	.tool = { .name = (name_), .title = (title_), .description = (text), .set = TOOLSET_TRACE, .args = (args_), \
		  .output = analysis_output, .read = analyze_tool_read }

const struct analyze_tool analyze_tools[NR_ANALYZE_TOOLS] = {
	[ANALYZE_CPU_UTILIZATION] = { TOOL("analyze_cpu_utilization", "CPU utilization", use_args,
		"How busy each CPU was and how long its slices were. Use it for hot or idle CPUs. Not for which tasks ran: "
		"analyze_process_runtime."), .pass = "cpu_utilization" },
	[ANALYZE_PROCESS_RUNTIME] = { TOOL("analyze_process_runtime", "Process runtime", runtime_args,
		"CPU time, switches and slice lengths of each task, most time first. Not for time spent waiting: "
		"analyze_task_states."), .pass = "process_runtime", .list = "processes", .total = "total_processes" },
	[ANALYZE_WAKEUP_LATENCY] = { TOOL("analyze_wakeup_latency", "Wakeup latency", row_args,
		"From being woken to running: percentiles, histogram, worst CPUs and pairs. Start here when something is slow "
		"to respond. For single waits: correlate_wakeup_to_schedule; for their causes: explain_wait."),
		.pass = "wakeup_latency" },
	[ANALYZE_MIGRATION_PATTERNS] = { TOOL("analyze_migration_patterns", "Migrations", mode_args,
		"How often tasks change CPUs, across which caches and nodes, and which tasks most. For cache domains in detail: "
		"analyze_llc_locality."), .pass = "migration_patterns", .list = "top_migrating_processes",
		.total = "total_processes_migrated" },
	[ANALYZE_DSQ] = { TOOL("analyze_dsq", "Dispatch queues", machine_args,
		"Which sched_ext dispatch queues were used and how much. Only for traces with sched_ext data."),
		.pass = "dsq_summary" },
	[ANALYZE_DSQ_LATENCY] = { TOOL("analyze_dsq_latency", "Dispatch queue latency", machine_args,
		"How long tasks waited in each sched_ext dispatch queue, and how deep it was. Only for traces with sched_ext "
		"data."), .pass = "dsq_latency", .list = "per_dsq", .total = "total_dsqs" },
	[ANALYZE_LLC_LOCALITY] = { TOOL("analyze_llc_locality", "Cache locality", mode_args,
		"How many migrations stay within a last-level cache or node. Needs the machine's topology in the trace."),
		.pass = "llc_locality" },
	[ANALYZE_RUNQUEUE_DEPTH] = { TOOL("analyze_runqueue_depth", "Run queue depth", machine_args,
		"How many tasks were runnable on each CPU over time. Use it to tell overload from bad placement "
		"(analyze_wasted_cores)."), .pass = "runqueue_depth" },
	[ANALYZE_FAIRNESS] = { TOOL("analyze_fairness", "Fairness", mode_args,
		"How evenly CPU time was shared: Gini, starved and hogging tasks, and which got the smallest part of "
		"the CPU time they wanted."),
		.pass = "fairness" },
	[ANALYZE_TASK_STATES] = { TOOL("analyze_task_states", "Task states", mode_args,
		"How long each task ran, was runnable, slept and was blocked. Use it to see how a task spends its time."),
		.pass = "task_states", .list = "processes", .total = "processes_analyzed" },
	[ANALYZE_PREEMPTIONS] = { TOOL("analyze_preemptions", "Preemptions", row_args,
		"Which tasks lost the CPU while still runnable, to which, and how long it took to get it back."),
		.pass = "preemptions", .list = "processes", .total = "total_processes" },
	[ANALYZE_WAKEUP_CHAINS] = { TOOL("analyze_wakeup_chains", "Wakeup chains", row_args,
		"Chains of tasks that woke each other, by latency along the chain. Use it for pipelines of threads; "
		"for pairs: analyze_wakeup_relations."), .pass = "wakeup_chains", .list = "chains", .total = "total_chains_found",
		.most_rows = 500 },
	[ANALYZE_LATENCY_BREAKDOWN] = { TOOL("analyze_latency_breakdown", "Latency breakdown", row_args,
		"Which stage of a wakeup takes the time: waking to wakeup, wakeup to running, and waits after preemption."),
		.pass = "latency_breakdown" },
	[ANALYZE_IRQ] = { TOOL("analyze_irq", "Interrupts", machine_args,
		"Hardware interrupts by number and CPU: count, time, percentiles. For softirqs: analyze_trace_softirq."),
		.pass = "irq_analysis", .list = "top_irqs", .total = "irq_count" },
	[ANALYZE_IPI] = { TOOL("analyze_ipi", "Inter-processor interrupts", machine_args,
		"Interrupts between CPUs: which sent, which handled them, how long."), .pass = "ipi_analysis", .list = "top_reasons",
		.total = "reason_count" },
	[ANALYZE_BLOCK_IO] = { TOOL("analyze_block_io", "Block I/O", machine_args,
		"Latency of requests to block devices, in the queue and in the device. Needs block events in the trace."),
		.pass = "block_io" },
	[ANALYZE_NETWORK_IO] = { TOOL("analyze_network_io", "Network I/O", machine_args,
		"Packets and bandwidth sent and received. Needs network events in the trace."), .pass = "network_io" },
	[ANALYZE_MEMORY_PRESSURE] = { TOOL("analyze_memory_pressure", "Memory pressure", machine_args,
		"Page allocations and frees, and the time of direct reclaim. Needs memory events in the trace."),
		.pass = "memory_pressure" },
	[ANALYZE_FILE_IO] = { TOOL("analyze_file_io", "File synchronisation", machine_args,
		"How long fsync took. Needs file system events in the trace."), .pass = "file_io" },
	[ANALYZE_CPU_FREQUENCY] = { TOOL("analyze_cpu_frequency", "CPU frequency", machine_args,
		"Frequencies of each CPU and how long it had them. Needs cpu_frequency events."), .pass = "cpu_frequency",
		.list = "cpu_stats", .total = "cpu_count" },
	[ANALYZE_CPU_IDLE] = { TOOL("analyze_cpu_idle", "CPU idle states", machine_args,
		"Idle states of each CPU and how long it was in them. Needs cpu_idle events; for plain idle time: "
		"analyze_cpu_utilization."), .pass = "cpu_idle", .list = "cpu_stats", .total = "cpu_count" },
	[ANALYZE_POWER_STATE] = { TOOL("analyze_power_state", "Suspend and resume", machine_args,
		"When the machine was suspended and resumed. Needs suspend_resume events."), .pass = "power_state" },
	[ANALYZE_ONCPU_SLICES] = { TOOL("analyze_oncpu_slices", "Slices on CPUs", slices_args,
		"How long tasks ran at a time, with sched_ext's layer and dispatch queue where the trace has them. For totals: "
		"analyze_process_runtime."), .pass = "oncpu_slices", .list = "processes", .total = "total_processes" },
	[ANALYZE_SCX_LAYER_BEHAVIOR] = { TOOL("analyze_scx_layer_behavior", "Layers of scx_layered", layer_args,
		"What each layer of scx_layered ran: tasks, time, waits, migrations, queues. Only for traces with layer ids."),
		.pass = "scx_layer_behavior", .list = "layers", .total = "total_layers" },
	[ANALYZE_WAKEUP_RELATIONS] = { TOOL("analyze_wakeup_relations", "Which tasks wake which", row_args,
		"Pairs of waker and woken task in a trace: how often, how fast, over which distance. For live data: "
		"analyze_waker_wakee."), .pass = "wakeup_relations", .list = "relationships",
		.total = "total_relationships" },
	[ANALYZE_PERF_COUNTERS] = { TOOL("analyze_perf_counters", "Counters per slice", mode_args,
		"Cycles, instructions, cache misses and other counters of each task. Needs a trace recorded with counters."),
		.pass = "perf_counters" },
	[ANALYZE_COMPOUND_DELAY] = { TOOL("analyze_compound_delay", "Compound delay", row_args,
		"Delays that add up along chains of wakeups: a wait, and the waits of the wakers before it. Use it when single "
		"waits look harmless."), .pass = "compound_delay", .most_rows = 500 },
	[ANALYZE_LIFECYCLE] = { TOOL("analyze_lifecycle", "Life cycle of tasks", row_args,
		"Forks, execs and exits: rates, parents, lifetimes, short-lived tasks."), .pass = "lifecycle" },
	[ANALYZE_REQUESTS] = { TOOL("analyze_requests", "Requests", row_args,
		"Latency of requests that the application marked in the trace, and where they spent it."),
		.pass = "requests" },
	[ANALYZE_WASTED_CORES] = { TOOL("analyze_wasted_cores", "Wasted cores", row_args,
		"Time in which a task waited although a CPU that it may use was idle. Use it to judge load balancing."),
		.pass = "wasted_cores", .list = "cpu_pairs", .total = "total_pairs" },
	[ANALYZE_BLAME] = { TOOL("analyze_blame", "Who kept whom waiting", blame_args,
		"The time of all waits by victim and by culprit, with interrupts, idle CPUs and unknown time apart. Use it to "
		"find who hurts whom overall; for single waits: explain_wait."), .pass = "blame", .list = "victims",
		.total = "total_victims" },
	[ANALYZE_PRESSURE] = { TOOL("analyze_pressure", "CPU pressure with names", blame_args,
		"CPU pressure as the kernel counts it (PSI): for how long some task waited for a CPU, who, and behind whom. "
		"Use it to explain a high /proc/pressure/cpu."), .pass = "pressure", .list = "stalled",
		.total = "total_stalled" },
	[ANALYZE_SLEEPS] = { TOOL("analyze_sleeps", "What tasks sleep for", blame_args,
		"Sleeps by the system call in which they began (a timer, a lock, data, a child) and by what ended them. Needs a "
		"recording with the events default,sleep."), .pass = "sleeps", .list = "sleepers", .total = "total_sleepers" },
	[ANALYZE_LOCKS] = { TOOL("analyze_locks", "Locks on which tasks sleep", row_args,
		"Futexes by process and address: who waits for each and who held it meanwhile. Needs a recording with the events "
		"default,sleep."), .pass = "locks", .list = "locks", .total = "total_locks" },
	[ANALYZE_WORKQUEUE] = { TOOL("analyze_workqueue", "Work queues", row_args,
		"Which kernel work ran, for how long, on which worker. Needs workqueue events."), .pass = "workqueue" },
	[ANALYZE_TRACE_SOFTIRQ] = { TOOL("analyze_trace_softirq", "Softirqs of a trace", row_args,
		"Softirqs by type, CPU and interrupted task. For live data: analyze_softirq."), .pass = "softirq_analysis" },
	[ANALYZE_PROCESS_TIMELINE] = { TOOL("get_process_timeline", "Timeline of a process", process_args,
		"What happened to one process in order: scheduled, preempted, woken, migrated, forked, exited. Narrow the time "
		"first; for totals: analyze_task_states."), .pass = "process_timeline", .list = "events",
		.total = "total_events" },
	[ANALYZE_CPU_TIMELINE] = { TOOL("get_cpu_timeline", "Timeline of a CPU", cpu_args,
		"Switches and softirqs of one CPU in order. Narrow the time first; for totals: analyze_cpu_utilization."),
		.pass = "cpu_timeline", .list = "events", .total = "total_events" },
	[ANALYZE_BOTTLENECKS] = { TOOL("find_scheduling_bottlenecks", "Bottlenecks", row_args,
		"Who lost most time waiting for a CPU, a lock or a disk, to whom or what, and a remedy, the worst first. A good "
		"second question after get_trace_summary; then explain_wait with tid and at_time_ns of max_wait."), .pass = "scheduling_bottlenecks", .list = "bottlenecks",
		.total = "total_bottlenecks" },
	[ANALYZE_CORRELATION] = { TOOL("correlate_wakeup_to_schedule", "Wakeups and what followed", row_args,
		"Single wakeups with the time until the task ran, longest first; percentiles are of all. For why: "
		"explain_wait."), .pass = "correlation", .list = "correlations", .total = "total_correlations" },
	[ANALYZE_OUTLIERS] = { TOOL("detect_outliers", "Outliers", outlier_args,
		"Tasks and CPUs that differ from the rest, by latency, runtime or use. For the longest waits in "
		"absolute terms: correlate_wakeup_to_schedule."), .pass = "outliers" },
	[ANALYZE_EXPLAIN] = { TOOL("explain_wait", "Why a task waited or slept", explain_args,
		"For the longest waits, or those of a task or moment: what ran meanwhile, which interrupts ran, which "
		"CPUs were idle, what woke it, in sentences. With category sleeps: in which call it slept, which task had the lock or "
		"ended the sleep, and what that task did meanwhile. Use it after a latency tool has named a suspect."), .pass = "explain",
		.most_rows = 20 },
	[ANALYZE_FLAMEGRAPH] = { TOOL("analyze_flamegraph", "Where time was spent, by stack", stack_args,
		"In which functions CPUs were busy, tasks slept, or wakers woke them, as far as the trace has stacks. For live "
		"profiles: start_perf_profiling."), .pass = "flamegraph" },
	[ANALYZE_DISCOVER] = { TOOL("discover_analyzers", "Which analyses apply", discover_args,
		"All analyses with their needs, and whether this trace meets them. Use it when an analysis says that data is "
		"missing; the list of names alone is in get_trace_summary."), .pass = "discover" },
};
/* clang-format on */

static const char *const analysis_types[] = {
	"cpu_utilization",
	"process_runtime",
	"wakeup_latency",
	"migration_patterns",
	"dsq_summary",
	"dsq_latency",
	"llc_locality",
	"runqueue_depth",
	"fairness",
	"task_states",
	"preemptions",
	"wakeup_chains",
	"latency_breakdown",
	"irq_analysis",
	"ipi_analysis",
	"block_io",
	"network_io",
	"memory_pressure",
	"file_io",
	"cpu_frequency",
	"cpu_idle",
	"power_state",
	NULL,
};

/* clang-format off */
static const struct arg scheduling_args[] = { ARG_ROWS, ARG_PARALLEL, ARG_MODE("per_thread"),
	{ .name = "analysis_type", .type = ARG_STRING, .description = "the question", .is_required = true,
	  .choices = analysis_types }, { 0 } };
/* clang-format on */

const struct analyze_tool *analyze_tool_find(const char *pass)
{
	for (size_t i = 0; i < NR_ANALYZE_TOOLS; i++)
		if (strcmp(analyze_tools[i].pass, pass) == 0)
			return &analyze_tools[i];
	return NULL;
}

/* The tool of that analysis knows how its answer is cut. */
static int analyze_by_type(struct tool_call *call)
{
	const char *type = call_string(call, "analysis_type");

	return analyze(call, analyze_tool_find(type), pass_find(type));
}

int analyze_tool_answer(struct tool_call *call, const struct analyze_tool *t, const char *chosen_by)
{
	const struct tool *asked = call->tool;
	const json_t *asked_args = call->args;
	json_t *given = call->given ? json_copy((json_t *)call->given) : json_object();
	json_t *args = NULL;
	int err = given ? 0 : diag_set(call->d, -ENOMEM, NULL, "out of memory");

	if (!err && chosen_by)
		(void)json_object_del(given, chosen_by);
	if (!err)
		err = schema_check(t->tool.args, given, call->d, &args);
	if (!err) {
		call->tool = &t->tool;
		call->args = args;
		err = t->tool.read(call);
		call->tool = asked;
		call->args = asked_args;
	}
	json_decref(args);
	json_decref(given);
	return err;
}

const struct tool tool_analyze_trace_scheduling = {
	.name = "analyze_trace_scheduling",
	.title = "One analysis by name",
	.description =
		"The same as the analyze_* tool of that analysis_type; use it when the type is chosen by a program. For all "
		"at once: run_all_analyzers.",
	.set = TOOLSET_TRACE,
	.args = scheduling_args,
	.output = analysis_output,
	.read = analyze_by_type,
};
