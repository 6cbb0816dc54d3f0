/*
 * mcp/traces/trace_child — a process without rights (sys/rights/sandbox) that holds one trace, or two to be compared,
 * and runs tools on it.
 *
 * The server opens files and relays answers; it never parses a trace. Answers are checked to be JSON. A
 * child that dies, hangs or uses too much memory is an error of the call, and then only its trace is
 * gone. One call at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/rights/sandbox_msg.h"

struct tool_call;
struct trace_child;

struct trace_child_load {
	int fd;                                       /* lent */
	const char *name;                             /* for people */
	int (*open_part)(void *ctx, unsigned int nr); /* of a folder: its next files; NULL = none */
	void *part_ctx;
	bool (*progress)(void *ctx, uint64_t done, uint64_t total); /* false gives up: -ECANCELED */
	void *ctx;
};

/* max_bytes: of memory, for a trace and while it loads. */
MUST_USE int trace_child_new(uint64_t max_bytes, struct diag *d, struct trace_child **out);
void trace_child_free(struct trace_child *c); /* NULL is fine */
/* The second one is compared with the first. */
MUST_USE int trace_child_load(struct trace_child *c, const struct trace_child_load *load,
                              struct diag *d);

struct trace_answer {
	struct sandbox_msg m;
	const char *json; /* an object; lent by m */
	size_t len;
	const char *file; /* what the tool wants written; NULL = nothing */
	size_t file_len;
};
void scoped_trace_answer(struct trace_answer *a);

/* What the tool's read() makes of the trace, which is called id. */
MUST_USE int trace_child_run(struct trace_child *c, struct tool_call *call, const char *id,
                             struct trace_answer *out);

bool trace_child_is_dead(const struct trace_child *c);
uint64_t trace_child_bytes(const struct trace_child *c);  /* of the tables, as of the last answer */
uint64_t trace_child_events(const struct trace_child *c); /* of all traces that it has */
