/* Connections: messages in, answers out, each request answered once. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "mcp/resource.h"
#include "mcp/server_priv.h"
#include "mcp/traces/trace_store.h"

int mcp_conn_new(struct mcp_server *s, const struct mcp_link *link, struct mcp_conn **out)
{
	struct mcp_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->server = s;
	c->link = *link;
	atomic_init(&c->level, MCP_WARNING);
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->subscribe_lock, NULL);
	thread_cond_init(&c->is_idle);
	pthread_mutex_lock(&s->lock);
	c->id = c->stateless_owner = ++s->nr_owners;
	c->next = s->conns;
	s->conns = c;
	pthread_mutex_unlock(&s->lock);
	*out = c;
	return 0;
}

void mcp_conn_set_owner(struct mcp_conn *c, uint64_t owner)
{
	c->stateless_owner = owner;
}

bool mcp_conn_drain(struct mcp_conn *c, unsigned int timeout_ms)
{
	bool is_idle;

	pthread_mutex_lock(&c->lock);
	while (c->requests) {
		if (!timeout_ms)
			pthread_cond_wait(&c->is_idle, &c->lock);
		else if (thread_cond_wait_ms(&c->is_idle, &c->lock, timeout_ms) == -ETIMEDOUT)
			break;
	}
	is_idle = !c->requests;
	pthread_mutex_unlock(&c->lock);
	return is_idle;
}

static void forget(struct mcp_conn *c)
{
	struct mcp_conn **at = &c->server->conns;

	pthread_mutex_lock(&c->server->lock);
	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	pthread_mutex_unlock(&c->server->lock);
}

void mcp_conn_free(struct mcp_conn *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	atomic_store(&c->is_closing, true);
	for (struct mcp_request *r = c->requests; r; r = r->next)
		atomic_store(&r->is_cancelled, true);
	pthread_mutex_unlock(&c->lock);
	(void)mcp_conn_drain(c, 0);
	forget(c);
	subscriptions_end(c);
	trace_store_forget(c->server->world.traces, c->id);
	pthread_cond_destroy(&c->is_idle);
	pthread_mutex_destroy(&c->subscribe_lock);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

bool mcp_conn_is_initialized(const struct mcp_conn *c)
{
	return atomic_load(&c->version) != NULL;
}

const char *mcp_conn_version(const struct mcp_conn *c)
{
	return atomic_load(&c->version);
}

int rpc_fail(struct rpc_error *e, int code, const char *fmt, ...)
{
	va_list args;

	e->code = code;
	va_start(args, fmt);
	vsnprintf(e->message, sizeof(e->message), fmt, args);
	va_end(args);
	return -1;
}

static void put_id(struct json_writer *w, const json_t *id)
{
	if (json_is_string(id))
		jw_bytes(w, "id", json_string_value(id), json_string_length(id));
	else if (json_is_integer(id))
		jw_i64(w, "id", json_integer_value(id));
	else
		jw_null(w, "id");
}

static void put_error(struct json_writer *w, const json_t *id, const struct rpc_error *e)
{
	jw_begin_object(w, NULL);
	jw_string(w, "jsonrpc", "2.0");
	put_id(w, id);
	jw_begin_object(w, "error");
	jw_i64(w, "code", e->code);
	jw_string(w, "message", e->message);
	jw_end_object(w);
	jw_end_object(w);
}

/* The answer of one of a batch; with the last one the batch is freed. */
static void answer_batch(struct mcp_conn *c, struct rpc_batch *b, const char *text, size_t len)
{
	bool is_last;

	pthread_mutex_lock(&c->lock);
	if (len) {
		jw_raw(&b->out.w, NULL, text, len);
		b->nr_answers++;
	}
	is_last = --b->nr_pending == 0;
	pthread_mutex_unlock(&c->lock);
	if (!is_last)
		return;
	jw_end_array(&b->out.w);
	if (!b->is_silent && (outgoing_end(&b->out) || !b->nr_answers))
		c->link.send(c->link.ctx, b->exchange, NULL, 0, true);
	else if (!b->is_silent)
		c->link.send(c->link.ctx, b->exchange, b->out.text, b->out.len, true);
	outgoing_done(&b->out);
	json_decref(b->values);
	free(b);
}

static void send_answer(struct mcp_conn *c, struct rpc_batch *b, void *exchange, const char *text,
                        size_t len)
{
	if (b)
		answer_batch(c, b, text, len);
	else
		c->link.send(c->link.ctx, exchange, text, len, true);
}

static void answer_error(struct mcp_conn *c, struct rpc_batch *b, void *exchange, const json_t *id,
                         const struct rpc_error *e)
{
	struct outgoing o;

	if (outgoing_begin(&o)) {
		send_answer(c, b, exchange, NULL, 0);
		return;
	}
	put_error(&o.w, id, e);
	if (outgoing_end(&o))
		send_answer(c, b, exchange, NULL, 0);
	else
		send_answer(c, b, exchange, o.text, o.len);
	outgoing_done(&o);
}

/* The request is over: it can no longer be found and cancelled. */
static void finish(struct mcp_request *r)
{
	struct mcp_conn *c = r->conn;
	struct mcp_request **at = &c->requests;

	pthread_mutex_lock(&c->lock);
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	if (!c->requests)
		pthread_cond_broadcast(&c->is_idle);
	pthread_mutex_unlock(&c->lock);
	json_decref(r->value);
	free(r);
}

/* From now on its answer goes out, if it has not been cancelled before. */
static bool begin_answer(struct mcp_request *r)
{
	bool is_wanted;

	pthread_mutex_lock(&r->conn->lock);
	is_wanted = !atomic_load(&r->is_cancelled);
	r->is_answering = true;
	pthread_mutex_unlock(&r->conn->lock);
	return is_wanted;
}

/* Runs the method and answers; a request that was cancelled meanwhile gets no answer. */
static void run(void *ctx)
{
	struct mcp_request *r = ctx;
	struct rpc_error e = { .code = RPC_INTERNAL, .message = "out of memory" };
	struct outgoing o = { 0 };
	bool is_good = !atomic_load(&r->is_cancelled) && outgoing_begin(&o) == 0;

	if (is_good) {
		jw_begin_object(&o.w, NULL);
		jw_string(&o.w, "jsonrpc", "2.0");
		put_id(&o.w, r->id);
		jw_begin_object(&o.w, "result");
		is_good = r->method->run(r, &o.w, &e) == 0;
		jw_end_object(&o.w);
		jw_end_object(&o.w);
		is_good = outgoing_end(&o) == 0 && is_good;
	}
	if (!begin_answer(r))
		send_answer(r->conn, r->batch, r->exchange, NULL, 0);
	else if (is_good)
		send_answer(r->conn, r->batch, r->exchange, o.text, o.len);
	else
		answer_error(r->conn, r->batch, r->exchange, r->id, &e);
	outgoing_done(&o);
	finish(r);
}

static void cancel(struct mcp_conn *c, const json_t *params)
{
	const json_t *id = json_object_get(params, "requestId");

	pthread_mutex_lock(&c->lock);
	for (struct mcp_request *r = c->requests; id && r; r = r->next)
		/* What already answers cannot be called back; initialize must not be cancelled. */
		if (!r->is_answering && json_equal(r->id, id) && !r->method->must_be_alone)
			atomic_store(&r->is_cancelled, true);
	pthread_mutex_unlock(&c->lock);
}

void mcp_conn_abandon(struct mcp_conn *c, const void *exchange)
{
	pthread_mutex_lock(&c->lock);
	for (struct mcp_request *r = c->requests; r; r = r->next)
		if (r->exchange == exchange && !r->is_answering && !r->method->must_be_alone)
			atomic_store(&r->is_cancelled, true);
	pthread_mutex_unlock(&c->lock);
}

/*
 * Whole before it is listed: from then on another thread may find it, to cancel it. A message has
 * one owner, since jansson counts references without memory ordering: value goes to the request,
 * unless it belongs to a batch.
 */
static struct mcp_request *new_request(struct mcp_conn *c, json_t *value, const struct message *m,
                                       struct rpc_batch *b, void *exchange)
{
	const json_t *token = json_object_get(json_object_get(m->params, "_meta"), "progressToken");
	struct mcp_request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->conn = c;
	r->owner = c->id;
	r->method = method_find(m->method);
	r->batch = b;
	r->exchange = exchange;
	r->value = b ? NULL : value;
	r->id = m->id;
	r->params = m->params;
	r->progress_token = json_is_string(token) || json_is_integer(token) ? token : NULL;
	pthread_mutex_lock(&c->lock);
	r->next = c->requests;
	c->requests = r;
	pthread_mutex_unlock(&c->lock);
	return r;
}

static void take_request(struct mcp_conn *c, json_t *value, const struct message *m,
                         struct rpc_batch *b, void *exchange)
{
	const struct method *method = method_find(m->method);
	struct rpc_error e = { .code = RPC_INTERNAL, .message = "out of memory" };
	struct mcp_request *r = NULL;
	if (!method)
		rpc_fail(&e, RPC_NO_METHOD, "there is no method %.64s", m->method);
	else if (!method->is_early && !mcp_conn_is_initialized(c))
		rpc_fail(&e, RPC_INVALID_REQUEST, "%.64s comes before initialize", m->method);
	else if (b && method->must_be_alone)
		rpc_fail(&e, RPC_INVALID_REQUEST, "%.64s must not be part of a batch", m->method);
	else
		r = new_request(c, value, m, b, exchange);
	if (!r) {
		answer_error(c, b, exchange, m->id, &e);
		if (!b)
			json_decref(value);
		return;
	}
	if (!method->is_slow) {
		run(r);
		return;
	}
	if (pool_do(c->server->pool, run, r)) {
		rpc_fail(&e, RPC_INTERNAL, "too many calls are queued; try again later");
		(void)begin_answer(r);
		answer_error(c, b, exchange, m->id, &e);
		finish(r);
	}
}

/* One message, alone (and then it is given away) or of a batch. */
static void take_one(struct mcp_conn *c, json_t *value, const struct message *m,
                     struct rpc_batch *b, void *exchange)
{
	struct rpc_error e;

	switch (m->kind) {
	case MESSAGE_REQUEST:
		take_request(c, value, m, b, exchange);
		return;
	case MESSAGE_NOTIFICATION:
		if (strcmp(m->method, "notifications/cancelled") == 0)
			cancel(c, m->params);
		break;
	case MESSAGE_BAD:
		rpc_fail(&e, m->code, "%s", m->why);
		answer_error(c, b, exchange, m->id, &e);
		break;
	case MESSAGE_RESPONSE:
		break; /* we ask nothing */
	}
	if (!b)
		json_decref(value);
}

static void refuse(struct mcp_conn *c, void *exchange, int code, const char *why)
{
	struct rpc_error e;

	rpc_fail(&e, code, "%s", why);
	answer_error(c, NULL, exchange, NULL, &e);
}

static bool wants_answer(const struct message *m)
{
	return m->kind == MESSAGE_REQUEST || m->kind == MESSAGE_BAD;
}

static const char *why_no_batch(const struct mcp_conn *c, const json_t *values)
{
	const char *version = mcp_conn_version(c);

	/* Only one revision of the protocol has batches. */
	if (!version || strcmp(version, "2025-03-26") != 0)
		return "this revision of the protocol has no batches";
	if (!json_array_size(values))
		return "an empty batch";
	return json_array_size(values) > BATCH_MAX ? "a batch of more than 64 messages" : NULL;
}

static struct rpc_batch *new_batch(json_t *values, unsigned int nr, void *exchange)
{
	struct rpc_batch *b = calloc(1, sizeof(*b));

	if (!b || outgoing_begin(&b->out)) {
		free(b);
		return NULL;
	}
	b->exchange = exchange;
	b->values = values;
	b->nr_pending = nr + 1;
	b->is_silent = nr == 0;
	jw_begin_array(&b->out.w, NULL);
	return b;
}

static unsigned int count_answers(const json_t *values)
{
	unsigned int nr = 0;
	struct message m;
	json_t *value;
	size_t i;

	json_array_foreach((json_t *)values, i, value)
	{
		message_read(value, &m);
		nr += wants_answer(&m);
	}
	return nr;
}

/* The batch is given away. It waits for one more than its answers: for us, because we still read it. */
static enum mcp_taken take_batch(struct mcp_conn *c, json_t *values, void *exchange)
{
	const char *why = why_no_batch(c, values);
	unsigned int nr = why ? 0 : count_answers(values);
	struct rpc_batch *b = why ? NULL : new_batch(values, nr, exchange);
	struct message m;
	json_t *value;
	size_t i;

	if (!b) {
		refuse(c, exchange, why ? RPC_INVALID_REQUEST : RPC_INTERNAL,
		       why ? why : "out of memory");
		json_decref(values);
		return MCP_REFUSED;
	}
	json_array_foreach(values, i, value)
	{
		message_read(value, &m);
		take_one(c, value, &m, b, exchange);
	}
	answer_batch(c, b, NULL, 0);
	return nr ? MCP_ANSWERED : MCP_NO_ANSWER;
}

enum mcp_taken mcp_conn_take(struct mcp_conn *c, const char *text, size_t len, void *exchange)
{
	const char *why;
	json_t *value = message_parse(text, len, &why);
	enum mcp_taken taken = MCP_NO_ANSWER;
	struct message m;

	if (!value) {
		refuse(c, exchange, RPC_PARSE_ERROR, why);
		return MCP_REFUSED;
	}
	if (json_is_array(value)) {
		taken = take_batch(c, value, exchange);
	} else {
		message_read(value, &m);
		if (wants_answer(&m))
			taken = m.kind == MESSAGE_BAD ? MCP_REFUSED : MCP_ANSWERED;
		take_one(c, value, &m, NULL, exchange);
	}
	return taken;
}

void conn_notify(struct mcp_conn *c, void *exchange, const char *method, notification_fn *fill,
                 void *ctx)
{
	struct outgoing o;

	if (outgoing_begin(&o))
		return;
	jw_begin_object(&o.w, NULL);
	jw_string(&o.w, "jsonrpc", "2.0");
	jw_string(&o.w, "method", method);
	jw_begin_object(&o.w, "params");
	if (fill)
		fill(ctx, &o.w);
	jw_end_object(&o.w);
	jw_end_object(&o.w);
	if (outgoing_end(&o) == 0)
		c->link.send(c->link.ctx, exchange, o.text, o.len, false);
	outgoing_done(&o);
}
