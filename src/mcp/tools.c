#include "mcp/tools.h"

const struct tool *const tools[] = {
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
};

const size_t nr_tools = sizeof(tools) / sizeof(tools[0]);
