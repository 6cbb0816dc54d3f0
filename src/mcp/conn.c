/* Connections: messages in, answers out, each request answered once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "mcp/resource.h"
#include "mcp/server_priv.h"

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

/* Those that are open wait for their client. */
static bool is_busy(const struct mcp_conn *c)
{
	for (const struct mcp_request *r = c->requests; r; r = r->next)
		if (!r->is_open)
			return true;
	return false;
}

bool mcp_conn_drain(struct mcp_conn *c, unsigned int timeout_ms)
{
	bool is_idle;

	pthread_mutex_lock(&c->lock);
	while (is_busy(c)) {
		if (!timeout_ms)
			pthread_cond_wait(&c->is_idle, &c->lock);
		else if (thread_cond_wait_ms(&c->is_idle, &c->lock, timeout_ms) == -ETIMEDOUT)
			break;
	}
	is_idle = !is_busy(c);
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

bool mcp_conn_is_initialized(const struct mcp_conn *c)
{
	return atomic_load(&c->version) != NULL;
}

const char *mcp_conn_version(const struct mcp_conn *c)
{
	return atomic_load(&c->version);
}

bool mcp_conn_is_stateless(const struct mcp_conn *c)
{
	return atomic_load(&c->is_stateless);
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
	if (!is_busy(c))
		pthread_cond_broadcast(&c->is_idle);
	pthread_mutex_unlock(&c->lock);
	json_decref(r->input_requests);
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

/* From now on the request waits for its end alone, and may be gone; false if it was cancelled before. */
static bool stay_open(struct mcp_request *r)
{
	struct mcp_conn *c = r->conn;
	bool is_open;

	pthread_mutex_lock(&c->lock);
	is_open = r->is_open = !atomic_load(&r->is_cancelled);
	if (!is_busy(c))
		pthread_cond_broadcast(&c->is_idle);
	pthread_mutex_unlock(&c->lock);
	return is_open;
}

/* Writes the object of the answer; what run() of the method returns. */
static int put_answer(struct mcp_request *r, struct json_writer *w, struct rpc_error *e)
{
	struct era_result result = { .cache = r->method->cache };
	int code;

	jw_begin_object(w, NULL);
	jw_string(w, "jsonrpc", "2.0");
	rpc_put_id(w, "id", r->id);
	jw_begin_object(w, "result");
	code = r->method->run(r, w, e);
	result.is_input_required = r->input_requests != NULL;
	result.subscription = request_listens(r) ? r->id : NULL;
	era_put_result(w, r->said.era, &result);
	jw_end_object(w);
	jw_end_object(w);
	return code;
}

/* Runs the method and answers; a request that was cancelled meanwhile gets no answer. */
static void run(void *ctx)
{
	struct mcp_request *r = ctx;
	struct answer a = { r->batch, r->exchange, MCP_LAST };
	struct rpc_error e = { .code = RPC_INTERNAL, .message = "out of memory" };
	struct outgoing o = { 0 };
	bool is_good = !atomic_load(&r->is_cancelled) && outgoing_begin(&o) == 0;
	int code = -1;

	if (is_good) {
		code = put_answer(r, &o.w, &e);
		is_good = outgoing_end(&o) == 0 && code == 0;
	}
	if (code == METHOD_STAYS_OPEN && stay_open(r)) {
		outgoing_done(&o);
		return;
	}
	if (code == METHOD_STAYS_OPEN)
		subscriptions_end(r->conn, r);
	if (!begin_answer(r)) {
		answer_send(r->conn, &a, NULL, 0);
		rpc_error_done(&e);
	} else if (is_good) {
		answer_send(r->conn, &a, o.text, o.len);
	} else {
		a.end = era_end_of_error(r->said.era, e.code, false);
		answer_error(r->conn, &a, r->id, &e);
	}
	outgoing_done(&o);
	finish(r);
}

/* An open request whose end has come; its client learns of it unless it asked for it. */
static void close_request(struct mcp_request *r, bool is_silent)
{
	struct answer a = { NULL, r->exchange, MCP_LAST };
	struct era_result result = { .subscription = r->id };
	struct outgoing o = { 0 };

	subscriptions_end(r->conn, r);
	if (!is_silent && outgoing_begin(&o) == 0) {
		jw_begin_object(&o.w, NULL);
		jw_string(&o.w, "jsonrpc", "2.0");
		rpc_put_id(&o.w, "id", r->id);
		jw_begin_object(&o.w, "result");
		era_put_result(&o.w, r->said.era, &result);
		jw_end_object(&o.w);
		jw_end_object(&o.w);
		if (outgoing_end(&o) == 0)
			answer_send(r->conn, &a, o.text, o.len);
	} else {
		answer_send(r->conn, &a, NULL, 0);
	}
	outgoing_done(&o);
	finish(r);
}

typedef bool match_fn(const struct mcp_request *r, const void *what);

/*
 * Cancels what matches and does not answer yet: what runs notices it, what is open is closed here. initialize must not be
 * cancelled.
 */
static void cancel_matching(struct mcp_conn *c, match_fn *match, const void *what, bool is_silent)
{
	struct mcp_request *open;

	do {
		open = NULL;
		pthread_mutex_lock(&c->lock);
		for (struct mcp_request *r = c->requests; r && !open; r = r->next) {
			if (r->is_answering || r->method->must_be_alone || !match(r, what))
				continue;
			atomic_store(&r->is_cancelled, true);
			if (r->is_open)
				open = r;
		}
		if (open)
			open->is_open = false;
		if (open)
			open->is_answering = true;
		pthread_mutex_unlock(&c->lock);
		if (open)
			close_request(open, is_silent);
	} while (open);
}

static bool has_id(const struct mcp_request *r, const void *id)
{
	return json_equal(r->id, id);
}

static bool has_exchange(const struct mcp_request *r, const void *exchange)
{
	return r->exchange == exchange;
}

static bool is_any(const struct mcp_request *r, const void *what)
{
	(void)r;
	(void)what;
	return true;
}

static void cancel(struct mcp_conn *c, const json_t *params)
{
	const json_t *id = json_object_get(params, "requestId");

	if (id)
		cancel_matching(c, has_id, id, true);
}

void mcp_conn_abandon(struct mcp_conn *c, const void *exchange)
{
	cancel_matching(c, has_exchange, exchange, true);
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
	cancel_matching(c, is_any, NULL, false);
	forget(c);
	subscriptions_end(c, NULL);
	mcp_world_forget(&c->server->world, c->id);
	pthread_cond_destroy(&c->is_idle);
	pthread_mutex_destroy(&c->subscribe_lock);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/*
 * Whole before it is listed: from then on another thread may find it, to cancel it. A message has
 * one owner, since jansson counts references without memory ordering: value goes to the request,
 * unless it belongs to a batch.
 */
static struct mcp_request *new_request(struct mcp_conn *c, json_t *value, const struct message *m,
                                       const struct era_facts *said, const struct answer *a)
{
	const json_t *token = json_object_get(json_object_get(m->params, "_meta"), "progressToken");
	struct mcp_request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->conn = c;
	r->owner = said->era == ERA_STATELESS ? c->stateless_owner : c->id;
	r->method = method_find(said->era, m->method);
	r->said = *said;
	r->batch = a->batch;
	r->exchange = a->exchange;
	r->value = a->batch ? NULL : value;
	r->id = m->id;
	r->params = m->params;
	r->progress_token = json_is_string(token) || json_is_integer(token) ? token : NULL;
	pthread_mutex_lock(&c->lock);
	r->next = c->requests;
	c->requests = r;
	pthread_mutex_unlock(&c->lock);
	return r;
}

/* Whether a request may run. */
static int check_request(const struct mcp_conn *c, const struct message *m, enum mcp_era era,
                         bool is_in_batch, struct rpc_error *e)
{
	const struct method *method = method_find(era, m->method);

	if (!method)
		return rpc_fail(e, RPC_NO_METHOD, "there is no method %.64s", m->method);
	if (era == ERA_SESSION && !method->is_early && !mcp_conn_is_initialized(c))
		return rpc_fail(e, RPC_INVALID_REQUEST, "%.64s comes before initialize", m->method);
	if (is_in_batch && (era == ERA_STATELESS || method->must_be_alone))
		return rpc_fail(e, RPC_INVALID_REQUEST, "%.64s must not be part of a batch",
		                m->method);
	return 0;
}

static void take_request(struct mcp_conn *c, json_t *value, const struct message *m,
                         const struct mcp_headers *headers, struct answer *a)
{
	struct rpc_error e = { .code = RPC_INTERNAL, .message = "out of memory" };
	struct mcp_request *r = NULL;
	struct era_facts said;
	bool is_refused = era_read(m, headers, &said, &e) != 0;

	if (said.era == ERA_STATELESS)
		atomic_store(&c->is_stateless, true);
	if (!is_refused && !check_request(c, m, said.era, a->batch != NULL, &e))
		r = new_request(c, value, m, &said, a);
	if (!r) {
		a->end = era_end_of_error(said.era, e.code, is_refused);
		answer_error(c, a, m->id, &e);
		if (!a->batch)
			json_decref(value);
		return;
	}
	if (!r->method->is_slow) {
		run(r);
		return;
	}
	if (pool_do(c->server->pool, run, r)) {
		rpc_fail(&e, RPC_INTERNAL, "too many calls are queued; try again later");
		(void)begin_answer(r);
		answer_error(c, a, m->id, &e);
		finish(r);
	}
}

static void refuse(struct mcp_conn *c, void *exchange, int code, const char *why)
{
	struct answer a = { NULL, exchange, MCP_LAST_REFUSED };
	struct rpc_error e = { 0 };

	rpc_fail(&e, code, "%s", why);
	answer_error(c, &a, NULL, &e);
}

/* Of its errors only those are reported that a transport can report. */
static enum mcp_taken take_notification(struct mcp_conn *c, const struct message *m,
                                        const struct mcp_headers *headers, void *exchange)
{
	struct rpc_error e = { 0 };
	struct era_facts said;
	int err = era_read(m, headers, &said, &e);

	if (said.era == ERA_STATELESS)
		atomic_store(&c->is_stateless, true);
	if (err && headers) {
		refuse(c, exchange, e.code, e.message);
		rpc_error_done(&e);
		return MCP_REFUSED;
	}
	rpc_error_done(&e);
	if (strcmp(m->method, "notifications/cancelled") == 0)
		cancel(c, m->params);
	return MCP_NO_ANSWER;
}

/* One message, alone (and then it is given away) or of a batch. */
static enum mcp_taken take_one(struct mcp_conn *c, json_t *value, const struct message *m,
                               const struct mcp_headers *headers, struct answer *a)
{
	enum mcp_taken taken = MCP_NO_ANSWER; /* of a response: we ask nothing */
	struct rpc_error e = { 0 };

	if (m->kind == MESSAGE_REQUEST) {
		take_request(c, value, m, headers, a);
		return MCP_ANSWERED;
	}
	if (m->kind == MESSAGE_NOTIFICATION) {
		taken = take_notification(c, m, a->batch ? NULL : headers, a->exchange);
	} else if (m->kind == MESSAGE_BAD) {
		rpc_fail(&e, m->code, "%s", m->why);
		a->end = MCP_LAST_REFUSED;
		answer_error(c, a, m->id, &e);
		taken = MCP_REFUSED;
	}
	if (!a->batch)
		json_decref(value);
	return taken;
}

static bool wants_answer(const struct message *m)
{
	return m->kind == MESSAGE_REQUEST || m->kind == MESSAGE_BAD;
}

static const char *why_no_batch(const struct mcp_conn *c, const json_t *values)
{
	const char *version = mcp_conn_version(c);

	if (!era_has_batches(version))
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
		struct answer a = { b, exchange, MCP_LAST };

		message_read(value, &m);
		(void)take_one(c, value, &m, NULL, &a);
	}
	answer_batch(c, b, NULL, 0);
	return nr ? MCP_ANSWERED : MCP_NO_ANSWER;
}

enum mcp_taken mcp_conn_take(struct mcp_conn *c, const char *text, size_t len,
                             const struct mcp_headers *headers, void *exchange)
{
	struct answer a = { NULL, exchange, MCP_LAST };
	const char *why;
	json_t *value = message_parse(text, len, &why);
	struct message m;

	if (!value) {
		refuse(c, exchange, RPC_PARSE_ERROR, why);
		return MCP_REFUSED;
	}
	if (json_is_array(value))
		return take_batch(c, value, exchange);
	message_read(value, &m);
	return take_one(c, value, &m, headers, &a);
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
		c->link.send(c->link.ctx, exchange, o.text, o.len, MCP_MORE);
	outgoing_done(&o);
}
