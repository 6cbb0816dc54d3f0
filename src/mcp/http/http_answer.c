/* Answers of the HTTP server: refusals, plain JSON, streams of events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/log.h"
#include "mcp/http/http_priv.h"
#include "mcp/outgoing.h"

#define BLOCK_BYTES 16384U
#define RETRY_MS    1000         /* before a client takes up a stream again */
#define RESUMING    "2025-11-25" /* the first revision whose clients accept an event without data */

/* Says when a silent connection is closed, so that no client sends its next request at that moment. */
static void add_keep_alive(const struct http_request *r, struct MHD_Response *response)
{
	char text[32];

	snprintf(text, sizeof(text), "timeout=%u",
	         (unsigned int)(r->http->timeout_ns / HTTP_NS_PER_SECOND));
	MHD_add_response_header(response, "Keep-Alive", text);
}

static enum MHD_Result queue(struct http_request *r, unsigned int status,
                             struct MHD_Response *response, const char *type)
{
	enum MHD_Result is_queued;

	if (!response)
		return MHD_NO;
	if (type)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (r->session && !r->session->is_ending && !r->session->is_stateless && !r->is_refused)
		MHD_add_response_header(response, "Mcp-Session-Id", r->session->id);
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
		                        r->is_stateless ? "POST" : "GET, POST, DELETE");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	add_keep_alive(r, response);
	is_queued = MHD_queue_response(r->connection, status, response);
	MHD_destroy_response(response);
	return is_queued;
}

enum MHD_Result http_answer_empty(struct http_request *r, unsigned int status)
{
	return queue(r, status, MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT),
	             NULL);
}

/* In the form of an error of the protocol, which clients show. */
enum MHD_Result http_refuse(struct http_request *r, unsigned int status, const char *why)
{
	struct outgoing o;
	struct MHD_Response *response = NULL;

	log_warn("HTTP %u: %s", status, why);
	if (outgoing_begin(&o))
		return MHD_NO;
	jw_begin_object(&o.w, NULL);
	jw_string(&o.w, "jsonrpc", "2.0");
	jw_null(&o.w, "id");
	jw_begin_object(&o.w, "error");
	jw_i64(&o.w, "code", -32000);
	jw_string(&o.w, "message", why);
	jw_end_object(&o.w);
	jw_end_object(&o.w);
	if (outgoing_end(&o) == 0)
		response = MHD_create_response_from_buffer(o.len, o.text, MHD_RESPMEM_MUST_COPY);
	outgoing_done(&o);
	return queue(r, status, response, "application/json");
}

static ssize_t read_prelude(struct http_request *r, char *buf, size_t size)
{
	size_t len = strlen(r->prelude + r->prelude_at);

	if (len > size)
		len = size;
	memcpy(buf, r->prelude + r->prelude_at, len);
	r->prelude_at += len;
	return (ssize_t)len;
}

/* 0 = sleep until something comes. */
static ssize_t read_some(struct http_request *r, char *buf, size_t size)
{
	static const char comment[] = { ':', '\n', '\n' };
	ssize_t nr;

	if (r->is_dropped || r->http->is_stopping || r->session->is_ending || !r->stream)
		return MHD_CONTENT_READER_END_OF_STREAM;
	nr = read_prelude(r, buf, size);
	if (!nr)
		nr = http_stream_read(r->stream, &r->cursor, buf, size);
	if (nr < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (!nr && r->stream->is_ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!nr && r->wants_beat && size >= sizeof(comment)) {
		memcpy(buf, comment, sizeof(comment));
		nr = sizeof(comment);
	}
	return nr;
}

static ssize_t read_events(void *ctx, uint64_t pos, char *buf, size_t size)
{
	struct http_request *r = ctx;
	ssize_t nr;

	(void)pos;
	pthread_mutex_lock(&r->http->lock);
	nr = read_some(r, buf, size);
	r->wants_beat = false;
	r->written_ns = clock_boot_ns();
	if (!nr)
		http_suspend(r);
	pthread_mutex_unlock(&r->http->lock);
	return nr;
}

/* Clients of this revision learn at once where to go on; others just see that the stream is there. */
static void make_prelude(struct http_request *r)
{
	const char *version = mcp_conn_version(r->session->conn);

	if (!r->stream->has_no_ids && version && strcmp(version, RESUMING) >= 0)
		snprintf(r->prelude, sizeof(r->prelude), "id: %u-%llu\nretry: %d\ndata: \n\n",
		         r->stream->id, (unsigned long long)(r->cursor.seq - 1), RETRY_MS);
	else
		snprintf(r->prelude, sizeof(r->prelude), ":\n\n");
}

enum MHD_Result http_answer_events(struct http_request *r)
{
	r->stream->is_events = true;
	r->written_ns = clock_boot_ns();
	make_prelude(r);
	return queue(r, MHD_HTTP_OK,
	             MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_events,
	                                               r, NULL),
	             "text/event-stream");
}

static unsigned int status_of(const struct http_stream *stream)
{
	switch (stream->end) {
	case MCP_LAST_REFUSED:
		return MHD_HTTP_BAD_REQUEST;
	case MCP_LAST_NO_METHOD:
		return MHD_HTTP_NOT_FOUND;
	case MCP_MORE:
	case MCP_LAST:
		break;
	}
	return MHD_HTTP_OK;
}

enum MHD_Result http_answer(struct http_request *r)
{
	struct http_stream *stream = r->stream;
	const char *text;
	size_t len = 0;

	if (r->http->is_stopping || r->session->is_ending)
		return http_refuse(r, MHD_HTTP_NOT_FOUND, "the session has ended");
	if ((!(r->accepts & HTTP_JSON) && status_of(stream) == MHD_HTTP_OK) ||
	    (stream->nr && !stream->is_ended) || stream->nr > 1) {
		r->cursor = http_stream_after(stream, 0);
		return http_answer_events(r);
	}
	if (!stream->is_ended) {
		http_suspend(r);
		return MHD_YES;
	}
	text = http_stream_newest(stream, &len);
	if (!text) /* cancelled: no client waits for an answer */
		return http_answer_empty(r, MHD_HTTP_ACCEPTED);
	return queue(r, r->is_refused ? MHD_HTTP_BAD_REQUEST : status_of(stream),
	             MHD_create_response_from_buffer(len, (void *)text, MHD_RESPMEM_MUST_COPY),
	             "application/json");
}
