/* Answers of requests: alone, or collected for a batch. */
#include <stdlib.h>
#include <string.h>

#include "mcp/server_priv.h"

static void put_data(struct json_writer *w, const json_t *data)
{
	char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;

	if (text)
		jw_raw(w, "data", text, strlen(text));
	free(text);
}

static void put_error(struct json_writer *w, const json_t *id, const struct rpc_error *e)
{
	jw_begin_object(w, NULL);
	jw_string(w, "jsonrpc", "2.0");
	rpc_put_id(w, "id", id);
	jw_begin_object(w, "error");
	jw_i64(w, "code", e->code);
	jw_string(w, "message", e->message);
	put_data(w, e->data);
	jw_end_object(w);
	jw_end_object(w);
}

void answer_batch(struct mcp_conn *c, struct rpc_batch *b, const char *text, size_t len)
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
		c->link.send(c->link.ctx, b->exchange, NULL, 0, MCP_LAST);
	else if (!b->is_silent)
		c->link.send(c->link.ctx, b->exchange, b->out.text, b->out.len, MCP_LAST);
	outgoing_done(&b->out);
	json_decref(b->values);
	free(b);
}

void answer_send(struct mcp_conn *c, const struct answer *a, const char *text, size_t len)
{
	if (a->batch)
		answer_batch(c, a->batch, text, len);
	else
		c->link.send(c->link.ctx, a->exchange, text, len, a->end);
}

void answer_error(struct mcp_conn *c, const struct answer *a, const json_t *id, struct rpc_error *e)
{
	struct outgoing o = { 0 };
	bool is_good = outgoing_begin(&o) == 0;

	if (is_good) {
		put_error(&o.w, id, e);
		is_good = outgoing_end(&o) == 0;
	}
	answer_send(c, a, is_good ? o.text : NULL, is_good ? o.len : 0);
	outgoing_done(&o);
	rpc_error_done(e);
}
