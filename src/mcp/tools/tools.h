/* mcp/tools/tools — every tool, by the file that holds it; the table in tools.c gives the order. */
#pragma once

#include "mcp/tool.h"

struct analyze_tool;

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

/* tools_trace.c */
extern const struct tool tool_diff_traces;
extern const struct tool tool_get_trace_summary;
extern const struct tool tool_list_traces;
extern const struct tool tool_load_perfetto_trace;
extern const struct tool tool_unload_trace;
extern const struct tool tool_diff;
extern const struct tool tool_list;
extern const struct tool tool_load;
extern const struct tool tool_summary;
/* Messages to the client: a trace is loaded, others were unloaded for it. */
void call_log_loaded(struct tool_call *call, const char *path, const char *id, size_t nr_evicted);
/* core_analyze.c */
extern const struct analyze_tool core_blame;
extern const struct tool tool_explain;
extern const struct tool tool_analyze;
extern const struct tool tool_timeline;
/* tools_query.c */
extern const struct tool tool_query_trace;
extern const struct tool tool_query_trace_events;
/* tools_analyze.c; the others are in mcp/tools/tools_analyze.h */
extern const struct tool tool_analyze_trace_scheduling;
/* tools_batch.c */
extern const struct tool tool_export_trace_analysis;
extern const struct tool tool_run_all_analyzers;
/* tools_record.c */
extern const struct tool tool_record_and_analyze;
extern const struct tool tool_record;
/* core_live.c */
extern const struct tool tool_live;
/* core_doctor.c */
extern const struct tool tool_doctor;
/* core_profile.c */
extern const struct tool tool_profile;
/* core_query.c */
extern const struct tool tool_query;
/* core_report.c */
extern const struct tool tool_report;
/* tools_profile.c */
extern const struct tool tool_get_perf_results;
extern const struct tool tool_start_perf_profiling;
extern const struct tool tool_stop_perf_profiling;
