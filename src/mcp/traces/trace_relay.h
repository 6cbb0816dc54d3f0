/* mcp/traces/trace_relay — calls of tools on traces, as the server sees them: it finds the trace and relays what its process answers. */
#pragma once

#include "mcp/tool.h"
#include "mcp/traces/trace_child.h"

/* The tool's read() on the trace of that id (NULL = the only one); with_id writes "trace_id". */
MUST_USE int trace_relay(struct tool_call *c, const char *id, bool with_id,
                         struct trace_answer *out);
/* A tool that has nothing but read(): its whole answer. */
MUST_USE int trace_relay_call(struct tool_call *c);
