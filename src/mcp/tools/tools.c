#include "mcp/tools/tools.h"

#include "mcp/tools/tools_analyze.h"

/* clang-format off */
const struct tool *const tools[] = {
	/* core: what an assistant sees first */
	&tool_record,
	&tool_load,
	&tool_list,
	&tool_summary,
	&tool_explain,
	&core_blame.tool,
	&tool_analyze,
	&tool_query,
	&tool_timeline,
	&tool_diff,
	&tool_profile,
	&tool_live,
	&tool_doctor,
	&tool_report,

	/* live */
	&tool_query_stats,
	&tool_get_topology,
	&tool_list_event_subsystems,
	&tool_list_events,
	&tool_control_event_tracking,
	&tool_control_stats_collection,
	&tool_control_analyzers,
	&tool_analyze_waker_wakee,
	&tool_analyze_softirq,
	&tool_get_analyzer_report,
	&tool_get_events,

	/* traces */
	&tool_load_perfetto_trace,
	&tool_record_and_analyze,
	&tool_list_traces,
	&tool_unload_trace,
	&tool_get_trace_summary,
	&tool_run_all_analyzers,
	&tool_query_trace_events,
	&tool_query_trace,
	&tool_analyze_trace_scheduling,
#define X(name) &analyze_tools[ANALYZE_##name].tool,
	ANALYZE_TOOLS(X)
#undef X
	&tool_diff_traces,
	&tool_export_trace_analysis,

	/* profiles */
	&tool_start_perf_profiling,
	&tool_stop_perf_profiling,
	&tool_get_perf_results,
};
/* clang-format on */

const size_t nr_tools = sizeof(tools) / sizeof(tools[0]);
