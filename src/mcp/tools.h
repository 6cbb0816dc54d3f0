/* mcp/tools — every tool, by the file that holds it; the table in tools.c gives the order. */
#pragma once

#include "mcp/tool.h"

/* tools_system.c */
extern const struct tool tool_get_topology;

/* tools_live.c */
extern const struct tool tool_query_stats;
extern const struct tool tool_control_event_tracking;
extern const struct tool tool_control_stats_collection;

/* tools_live_events.c */
extern const struct tool tool_list_event_subsystems;
extern const struct tool tool_list_events;
extern const struct tool tool_get_events;

/* tools_live_analyzers.c */
extern const struct tool tool_control_analyzers;
extern const struct tool tool_analyze_waker_wakee;
extern const struct tool tool_analyze_softirq;
extern const struct tool tool_get_analyzer_report;
