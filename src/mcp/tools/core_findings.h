/* mcp/tools/core_findings — what the answers of record, load and summary begin with: where time was lost, and what to ask next. */
#pragma once

#include "mcp/tool.h"

/* Bytes of the object of such an answer. It comes twice, as structure and, with its quotes escaped, as text: together below 8 kB, as TOOL_BUDGET. */
#define FINDINGS_BUDGET      3400U
#define LIVE_FINDINGS_BUDGET 2900U /* something stands before them */

#define ARG_DETAIL                                                                             \
	{                                                                                      \
		.name = "detail", .type = ARG_BOOL, .description = "figures and metadata too", \
		.fallback = "false"                                                            \
	}

/* Where the trace is: its findings, of the rows that the arguments select. */
MUST_USE int trace_put_findings(struct tool_call *c);
