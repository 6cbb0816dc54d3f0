/* mcp/traces/trace_child_priv — the messages between a server and the process that holds a trace. */
#pragma once

#include "sys/rights/sandbox.h"

enum trace_msg {
	TRACE_LOAD = 1, /* name, most bytes, whether it is the first file of a folder; the file */
	TRACE_RUN,      /* tool, id of the trace, arguments, arguments as given */
	TRACE_CANCEL,   /* nothing; no answer */
	TRACE_PROGRESS, /* done, total, message; before an answer, any number of them */
	TRACE_ANSWER,   /* errno, what, hint, bytes of memory, events, JSON, text of a file */
	TRACE_NEXT,     /* nothing: asks for the next file of the folder, while it loads */
	TRACE_PART,     /* the answer: errno; the file */
	TRACE_PLACES,   /* asks for names of functions, once while it loads (trace_names) */
	TRACE_NAMES,    /* the answer */
};

#define TRACE_REQUEST_MAX ((size_t)8 << 20)

struct tool_call;
struct trace_serve;

extern const struct sandbox_job trace_job;

/* Of a call that runs in the child. */
bool trace_serve_is_cancelled(struct trace_serve *s);
void trace_serve_progress(struct trace_serve *s, double done, double total, const char *message);
