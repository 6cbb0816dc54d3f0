/*
 * mcp/tools/trace_call — what the tools on traces share where the trace is: the arguments that select rows, and answers made of an
 * analysis's report.
 */
#pragma once

#include "analyze/pass.h"
#include "mcp/tool.h"

struct trace_answer;

extern const char *const trace_modes[]; /* of ARG_MODE */

/* Arguments, for tables. Descriptions are short: some forty tools repeat them. */
#define ARG_TRACE_ID                                                                             \
	{                                                                                        \
		.name = "trace_id", .type = ARG_STRING, .description = "the newest if not given" \
	}
#define ARG_PID                                                                                   \
	{                                                                                         \
		.name = "pid", .type = ARG_INTEGER, .description = "only this process", .min = 1, \
		.max = UINT32_MAX - 1                                                             \
	}
#define ARG_TID                                                                                  \
	{                                                                                        \
		.name = "tid", .type = ARG_INTEGER, .description = "only this thread", .min = 1, \
		.max = UINT32_MAX - 1                                                            \
	}
#define ARG_COMM                                                            \
	{                                                                   \
		.name = "comm", .type = ARG_STRING,                         \
		.description = "only matching names; * and ? are wildcards" \
	}
#define ARG_CGROUP                                                                     \
	{                                                                              \
		.name = "cgroup", .type = ARG_STRING,                                  \
		.description = "only while in matching cgroups: path or name, * and ?" \
	}
#define ARG_MODE(mode)                                                                    \
	{                                                                                 \
		.name = "aggregation_mode", .type = ARG_STRING,                           \
		.description = "rows are threads, processes, names, cgroups, or classes", \
		.choices = trace_modes, .fallback = "\"" mode "\""                        \
	}
#define ARG_CPU                                                                               \
	{                                                                                     \
		.name = "cpu", .type = ARG_INTEGER, .description = "only this CPU", .min = 0, \
		.max = UINT16_MAX - 1                                                         \
	}
#define ARG_WINDOW                                                                                 \
	{ .name = "start_time_ns",                                                                 \
	  .type = ARG_INTEGER,                                                                     \
	  .description = "on the trace's clock",                                                   \
	  .max = INT64_MAX },                                                                      \
	{                                                                                          \
		.name = "end_time_ns", .type = ARG_INTEGER, .description = "on the trace's clock", \
		.max = INT64_MAX                                                                   \
	}
#define LIMIT_MAX 10000
#define ARG_LIMIT                                                                          \
	{                                                                                  \
		.name = "limit", .type = ARG_INTEGER,                                      \
		.description = "rows of each list; as many as fit if not given", .min = 1, \
		.max = LIMIT_MAX                                                           \
	}
#define ARG_OFFSET                                                                              \
	{                                                                                       \
		.name = "offset", .type = ARG_INTEGER, .description = "rows to skip", .min = 0, \
		.max = UINT32_MAX - LIMIT_MAX - 1, .fallback = "0"                              \
	}

/* Members of answers that are pages of a report. */
#define OUT_TRACE_ID                       \
	{                                  \
		"trace_id", "string", NULL \
	}
#define OUT_PAGE                                             \
	{ "truncated", "boolean", NULL },                    \
	{                                                    \
		"page", "object", "next_offset of each list" \
	}

/* Which rows count, by the arguments that the tool has. -EINVAL for times that make no sense. */
MUST_USE int trace_pass_args(struct tool_call *c, const struct source *s, struct pass_args *out);
/* pass_run(), with a hint for assistants where it does not apply, and not if the call was cancelled. */
MUST_USE int trace_pass_run(struct tool_call *c, const struct pass *p, const struct source *s,
                            const struct pass_args *args, struct report **out);

/* The tool's read() on two traces, which share a process then; NULL = the newest that is not the other one. -EINVAL if they are the same. */
MUST_USE int trace_pair_run(struct tool_call *call, const char *const given[2],
                            struct trace_answer *out);
/*
 * run() of a tool that writes what its read() puts into call->file to "output_path". With an argument "after_trace_id" its read() also
 * gets that trace.
 */
MUST_USE int trace_export_run(struct tool_call *c);
/* Such a read(): the results of "analysis_types", or of all analyses that apply. */
MUST_USE int trace_export_json(struct tool_call *c);

/* Old names answer with everything; those of the core only if asked to. */
bool call_wants_metadata(const struct tool_call *c);

/* The members of the summary that an assistant needs first, without those that have a tool of their own. */
MUST_USE int trace_put_summary(struct tool_call *c, const struct source *s, const char *key);
