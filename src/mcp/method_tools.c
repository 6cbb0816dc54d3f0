/* tools/list and tools/call. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mcp/server_priv.h"
#include "mcp/traces/trace_child_priv.h"
#include "mcp/traces/trace_relay.h"

#define PROGRESS_NS 100000000ULL
#define LOG_BYTES   512

/* What a client assumes otherwise is left out. */
static void put_annotations(struct json_writer *w, const struct tool *t)
{
	jw_begin_object(w, "annotations");
	jw_bool(w, "readOnlyHint", !t->changes_something);
	if (t->changes_something && !t->is_destructive)
		jw_bool(w, "destructiveHint", false);
	if (t->changes_something && t->is_idempotent)
		jw_bool(w, "idempotentHint", true);
	jw_bool(w, "openWorldHint", false);
	jw_end_object(w);
}

static void put_tool(struct json_writer *w, const struct tool *t)
{
	jw_begin_object(w, NULL);
	jw_string(w, "name", t->name);
	jw_string(w, "title", t->title);
	jw_string(w, "description", t->description);
	schema_put_args(w, "inputSchema", t->args);
	if (t->output)
		schema_put_output(w, "outputSchema", t->output);
	put_annotations(w, t);
	jw_end_object(w);
}

void mcp_conn_choose_tools(struct mcp_conn *c, unsigned int toolsets)
{
	atomic_store(&c->toolsets, toolsets);
}

/* By the request, the address of the client, or how the server was started. */
static int choose_sets(const struct mcp_request *r, unsigned int *sets, struct rpc_error *e)
{
	const json_t *words = json_object_get(json_object_get(r->params, "_meta"),
	                                      "schedscope/toolsets");

	*sets = atomic_load(&r->conn->toolsets);
	if (!*sets)
		*sets = r->conn->server->world.cfg.toolsets;
	if (!*sets)
		*sets = TOOLSET_CORE;
	if (words && (!json_is_string(words) || !toolset_parse(json_string_value(words), sets)))
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "\"schedscope/toolsets\" takes core, live, trace, profile, full, "
		                "with commas between them");
	return 0;
}

static bool is_listed(const struct mcp_server *s, const struct tool *t, unsigned int sets)
{
	return (t->set & sets) && server_offers_tool(s, t);
}

int method_tools_list(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	const struct mcp_server *s = r->conn->server;
	size_t from, to, nr = 0, at = 0;
	unsigned int sets;

	if (choose_sets(r, &sets, e))
		return -1;
	for (size_t i = 0; i < nr_tools; i++)
		nr += is_listed(s, tools[i], sets);
	if (list_page(r, nr, &from, &to, e))
		return -1;
	jw_begin_array(w, "tools");
	for (size_t i = 0; i < nr_tools; i++) {
		if (!is_listed(s, tools[i], sets))
			continue;
		if (at >= from && at < to)
			put_tool(w, tools[i]);
		at++;
	}
	jw_end_array(w);
	list_put_next(w, to, nr);
	return 0;
}

static const struct tool *find_tool(const struct mcp_server *s, const char *name)
{
	for (size_t i = 0; i < nr_tools; i++)
		if (strcmp(tools[i]->name, name) == 0)
			return server_offers_tool(s, tools[i]) ? tools[i] : NULL;
	return NULL;
}

static void put_text(struct json_writer *w, const char *text, size_t len)
{
	jw_begin_array(w, "content");
	jw_begin_object(w, NULL);
	jw_string(w, "type", "text");
	jw_bytes(w, "text", text, len);
	jw_end_object(w);
	jw_end_array(w);
}

static void put_failure(struct json_writer *w, const struct diag *d)
{
	char line[sizeof(d->what) + sizeof(d->hint) + 128];

	diag_format(d, line, sizeof(line));
	put_text(w, line, strlen(line));
	jw_bool(w, "isError", true);
}

static void put_questions(struct json_writer *w, const json_t *questions)
{
	char *text = json_dumps(questions, JSON_COMPACT);

	if (text)
		jw_raw(w, "inputRequests", text, strlen(text));
	free(text);
}

/* What the tool wrote is kept apart until it has succeeded. */
static int run_tool(struct tool_call *call, struct json_writer *w, struct rpc_error *e)
{
	const struct mcp_request *r = call->request;
	struct outgoing o;
	int err, ending;

	if (outgoing_begin(&o))
		return rpc_fail(e, RPC_INTERNAL, "out of memory");
	jw_begin_object(&o.w, NULL);
	call->out = &o.w;
	err = call->tool->run ? call->tool->run(call) : trace_relay_call(call);
	jw_end_object(&o.w);
	ending = outgoing_end(&o);
	if (!err && ending)
		err = diag_set(call->d, ending, "ask for less", "the answer could not be written");
	if (err && !call->d->what[0])
		diag_set(call->d, err, NULL, "%s failed: %s", call->tool->name, strerror(-err));
	if (err && r->input_requests) {
		put_questions(w, r->input_requests);
	} else if (err) {
		put_failure(w, call->d);
	} else {
		put_text(w, o.text, o.len);
		jw_raw(w, "structuredContent", o.text, o.len);
	}
	outgoing_done(&o);
	return 0;
}

int method_tools_call(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	struct mcp_server *s = r->conn->server;
	const char *name = json_string_value(json_object_get(r->params, "name"));
	const json_t *given = json_object_get(r->params, "arguments");
	const struct tool *t = name ? find_tool(s, name) : NULL;
	struct diag d = { 0 };
	json_t *args = NULL;
	struct tool_call call = { .tool = t,
		                  .world = &s->world,
		                  .owner = r->owner,
		                  .given = given,
		                  .d = &d,
		                  .request = r };
	int err;

	if (!name)
		return rpc_fail(e, RPC_INVALID_PARAMS, "tools/call needs a text \"name\"");
	if (!t)
		return rpc_fail(e, RPC_INVALID_PARAMS,
		                "there is no tool %.64s; tools/list lists them", name);
	if (given && !json_is_object(given))
		return rpc_fail(e, RPC_INVALID_PARAMS, "\"arguments\" must be an object");
	if (check_input_responses(r, e))
		return -1;
	if (t->needs_daemon && !s->world.cfg.is_daemon) {
		diag_set(&d, -EINVAL, "start 'schedscope mcp --daemon', or use record",
		         "%s needs live data, which this server does not collect", t->name);
		put_failure(w, &d);
		return 0;
	}
	if (schema_check(t->args, given, &d, &args)) {
		put_failure(w, &d);
		return 0;
	}
	call.args = args;
	err = run_tool(&call, w, e);
	json_decref(args);
	if (t->needs_daemon)
		server_log_losses(s);
	return err;
}

bool call_has(const struct tool_call *c, const char *name)
{
	return json_object_get(c->args, name) != NULL;
}

bool call_was_given(const struct tool_call *c, const char *name)
{
	const json_t *value = json_object_get(c->given, name);

	return value && !json_is_null(value);
}

int64_t call_i64(const struct tool_call *c, const char *name)
{
	return json_integer_value(json_object_get(c->args, name));
}

uint64_t call_u64(const struct tool_call *c, const char *name)
{
	return (uint64_t)call_i64(c, name);
}

double call_double(const struct tool_call *c, const char *name)
{
	return json_number_value(json_object_get(c->args, name));
}

bool call_bool(const struct tool_call *c, const char *name)
{
	return json_is_true(json_object_get(c->args, name));
}

const char *call_string(const struct tool_call *c, const char *name)
{
	return json_string_value(json_object_get(c->args, name));
}

bool call_is_cancelled(const struct tool_call *c)
{
	const struct mcp_request *r = c->request;

	if (c->serve)
		return trace_serve_is_cancelled(c->serve);
	return r && atomic_load(&r->is_cancelled);
}

void call_log(struct tool_call *c, enum mcp_level level, const char *fmt, ...)
{
	struct mcp_request *r = c->request;
	char text[LOG_BYTES];
	va_list args;

	if (!r)
		return;
	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	request_log(r, level, c->tool->name, text);
}

struct call_progress {
	const json_t *token;
	double done, total;
	const char *message;
};

static void put_progress(void *ctx, struct json_writer *w)
{
	const struct call_progress *p = ctx;

	if (json_is_string(p->token))
		jw_string(w, "progressToken", json_string_value(p->token));
	else
		jw_i64(w, "progressToken", json_integer_value(p->token));
	jw_double(w, "progress", p->done, 3);
	if (p->total > 0)
		jw_double(w, "total", p->total, 3);
	if (p->message)
		jw_string(w, "message", p->message);
}

/* The protocol wants numbers that only grow. */
void call_progress(struct tool_call *c, double done, double total, const char *message)
{
	struct mcp_request *r = c->request;
	struct call_progress p = { r ? r->progress_token : NULL, done, total, message };
	uint64_t now_ns = clock_boot_ns();

	if (c->serve) {
		trace_serve_progress(c->serve, done, total, message);
		return;
	}
	if (!p.token || call_is_cancelled(c) || done <= r->progress_done ||
	    now_ns - r->progress_ns < PROGRESS_NS)
		return;
	r->progress_ns = now_ns;
	r->progress_done = done;
	conn_notify(r->conn, r->exchange, "notifications/progress", put_progress, &p);
}
