/*
 * mcp/tool — a tool: one entry of one table. Schema, checks, defaults, list and documentation follow from it.
 *
 * A tool on traces has read(), which runs in the process that holds the trace (mcp/traces/trace_serve) and has no
 * rights there; all others, and those that also do something in the server, have run(). Both get checked arguments
 * and write the members of the result's object; what they write becomes structuredContent and, as compact JSON, the
 * text. A failure is a negative errno with a sentence that says what to do next: the client gets it as a result with
 * isError, and whatever was written is dropped. Unknown is null, never 0. A default answer stays below TOOL_BUDGET:
 * use call_put_report(), which cuts lists and says so.
 *
 * Tools run on several threads at once; what they share is in struct mcp_world, which locks.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/json_write.h"
#include "mcp/schema.h"
#include "mcp/toolset.h"

/* Bytes of the object in a default answer: it comes twice, as structure and as text, which together stay below 8 kB. */
#define TOOL_BUDGET 3300U

struct mcp_world;
struct outgoing;
struct report_node;
struct source;
struct tool_call;
struct trace_serve;

/* Of messages to clients, as the protocol has them; each chooses from which on. */
enum mcp_level {
	MCP_DEBUG,
	MCP_INFO,
	MCP_NOTICE,
	MCP_WARNING,
	MCP_ERROR,
	MCP_CRITICAL,
	MCP_ALERT,
	MCP_EMERGENCY,
};

struct tool {
	const char *name;
	const char *title;
	const char *description; /* what it answers, when to use it and when not */
	enum toolset set;
	bool changes_something; /* else readOnlyHint */
	bool is_destructive;    /* of those that change: loses something */
	bool is_idempotent;
	bool needs_daemon; /* live data: without --daemon it says so */
	const struct arg *args;
	const struct out_field *output;
	int (*run)(struct tool_call *call);  /* in the server; NULL = read() is all */
	int (*read)(struct tool_call *call); /* where the trace is; NULL = it is about none */
};

extern const struct tool *const tools[];
extern const size_t nr_tools;

/* What a tool sees of a call. */
struct tool_call {
	const struct tool *tool;
	struct mcp_world *world;
	/*
	 * Of what the call makes and may use: the connection or session; of requests without a session the
	 * holder of the token. 0 = none: a client that only a handle connects with what it made.
	 */
	uint64_t owner;
	const json_t *args;      /* checked, with defaults */
	const json_t *given;     /* as the client sent them; NULL = none */
	struct json_writer *out; /* the object of the result is open */
	struct diag *d;
	void *request; /* for call_is_cancelled() and call_progress(); NULL where the trace is */
	/* Of read() alone. */
	struct trace_serve *serve;
	const char *trace_id;
	const struct source *s;     /* the trace */
	const struct source *other; /* with which it is compared; NULL = none */
	struct outgoing *file; /* what is to be written to a file, if there is anything in it */
};

/* Arguments. Absent ones are 0, NULL, false. */
bool call_has(const struct tool_call *c, const char *name);
bool call_was_given(const struct tool_call *c, const char *name); /* not a default */
uint64_t call_u64(const struct tool_call *c, const char *name);
int64_t call_i64(const struct tool_call *c, const char *name);
double call_double(const struct tool_call *c, const char *name);
bool call_bool(const struct tool_call *c, const char *name);
const char *call_string(const struct tool_call *c, const char *name);

/* Check it now and then in anything that takes longer than a moment, and end with -ECANCELED. */
bool call_is_cancelled(const struct tool_call *c);
/* Sent to clients that asked for it, ten times a second at most. total 0 = unknown. */
void call_progress(struct tool_call *c, double done, double total, const char *message);

/* A message to the client of the call, if it wants those of the level. */
void call_log(struct tool_call *c, enum mcp_level level, const char *fmt, ...) PRINTF_LIKE(3, 4);

/*
 * A question to the person at the client, in the middle of a call. call_ask() ends the call: return what it returns. The client
 * repeats the call with the same arguments, and then call_answer() has what the person said; nothing is kept between the two. Only
 * where call_can_ask() says so: other clients get an error that says which argument to give.
 */
struct call_question {
	const char *key;            /* of the answer */
	const char *message;        /* what is asked, as a sentence */
	const char *const *choices; /* of which one is to be chosen; NULL = any text */
	size_t nr_choices;
};
enum call_reply { CALL_NOT_ASKED, CALL_ANSWERED, CALL_DECLINED };
bool call_can_ask(const struct tool_call *c);
int call_ask(struct tool_call *c, const struct call_question *q);
/* *out is the text, untrusted and not checked against the choices, where it was answered. */
enum call_reply call_answer(const struct tool_call *c, const char *key, const char **out);

/*
 * The members of a report. Lists of rows are cut to the argument "limit" (or, if the client gave none, to as many as the
 * budget allows) from "offset" on; lists inside of rows are only cut, and short lists of plain values stay whole. If anything
 * was left out, "truncated" is true and "page" has offset, limit, and for each list its name, total and next_offset. A number
 * called events_shown beside a list events says how many are shown.
 */
MUST_USE int call_put_report(struct tool_call *c, const struct report_node *root);

/* Of one list more is known than the report holds. */
struct call_list {
	const char *key;
	uint64_t total;      /* rows that there are */
	bool is_from_offset; /* its first row is that at the offset */
};
MUST_USE int call_put_list(struct tool_call *c, const struct report_node *root,
                           const struct call_list *known);
