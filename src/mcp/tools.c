#include "mcp/tools.h"

#include "mcp/tools_analyze.h"

const struct tool *const tools[] = {
	&tool_get_topology,

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
		& tool_diff_traces,
	&tool_export_trace_analysis,

	/* profiles */
	&tool_start_perf_profiling,
	&tool_stop_perf_profiling,
	&tool_get_perf_results,
};

const size_t nr_tools = sizeof(tools) / sizeof(tools[0]);
