#include "mcp/http/http_link.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/http_socket.h"
#include "http/http_token.h"
#include "mcp/era.h"
#include "mcp/http/http_priv.h"
#include "mcp/message.h"
#include "mcp/server_priv.h"
#include "mcp/toolset.h"

#define CONNECTIONS_SPARE 16U /* of those that are cut, until they have gone */
#define BODIES_MAX_BYTES  (32U << 20)
#define DEFAULT_TIMEOUT_S 30U

static const char *header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* The session that a request names; 0, or the status of a refusal. */
static unsigned int find_session(struct http_request *r, const char **why)
{
	const char *id = header(r, "Mcp-Session-Id"), *version = header(r, "MCP-Protocol-Version");

	r->is_stateless = era_is_stateless_version(version);
	*why = "this revision of the protocol has no sessions; use POST";
	if (r->is_stateless && !r->is_post)
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	if ((!id || r->is_stateless) && r->is_post)
		return 0; /* without a session, or the message that begins one */
	*why = "the header Mcp-Session-Id is missing";
	if (!id)
		return MHD_HTTP_BAD_REQUEST;
	*why = "the header MCP-Protocol-Version names a revision that is not supported";
	if (version && !era_session_version(version))
		return MHD_HTTP_BAD_REQUEST;
	r->session = http_session_find(r->http, id);
	*why = "no such session; start a new one with initialize";
	if (!r->session)
		return MHD_HTTP_NOT_FOUND;
	r->session->nr_users++;
	r->session->used_ns = clock_boot_ns();
	return 0;
}

static unsigned int check_post(struct http_request *r, const char **why)
{
	const char *length = header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);

	*why = "messages must have Content-Type: application/json";
	if (!http_is_json(header(r, MHD_HTTP_HEADER_CONTENT_TYPE)))
		return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
	*why = "the client must accept application/json or text/event-stream";
	if (!r->accepts)
		return MHD_HTTP_NOT_ACCEPTABLE;
	*why = "the message is larger than 4 MiB";
	if (length && strtoull(length, NULL, 10) > MESSAGE_MAX_BYTES)
		return MHD_HTTP_CONTENT_TOO_LARGE;
	return 0;
}

/* Which tools the client wants listed: ?toolsets=full in the address. */
static bool takes_toolsets(struct http_request *r)
{
	const char *words = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND,
	                                                "toolsets");

	return !words || toolset_parse(words, &r->toolsets);
}

/* Everything that can be said before the body has come. 0, or the status of a refusal. */
static unsigned int check(struct http_request *r, const char *url, const char *method,
                          const char **why)
{
	const struct mcp_http *h = r->http;
	unsigned int status = 0;

	*why = "this Host is not allowed; use localhost, or start with --allow-host";
	if (!http_host_is_allowed(header(r, MHD_HTTP_HEADER_HOST), &h->hosts))
		return MHD_HTTP_FORBIDDEN;
	*why = "this Origin is not allowed; start with --allow-origin to allow it";
	if (!http_origin_is_allowed(header(r, MHD_HTTP_HEADER_ORIGIN), &h->hosts))
		return MHD_HTTP_FORBIDDEN;
	*why = "the token is missing or wrong";
	if (h->token && !http_token_is_right(header(r, MHD_HTTP_HEADER_AUTHORIZATION), h->token))
		return MHD_HTTP_UNAUTHORIZED;
	*why = "not found; the server's path is " HTTP_PATH;
	if (strcmp(url, HTTP_PATH) != 0)
		return MHD_HTTP_NOT_FOUND;
	*why = "toolsets are core, live, trace, profile, full";
	if (!takes_toolsets(r))
		return MHD_HTTP_BAD_REQUEST;
	*why = "only GET, POST and DELETE are supported";
	r->is_post = strcmp(method, "POST") == 0;
	if (!r->is_post && strcmp(method, "GET") != 0 && strcmp(method, "DELETE") != 0)
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	r->accepts = http_accepts(header(r, MHD_HTTP_HEADER_ACCEPT));
	if (r->is_post)
		status = check_post(r, why);
	if (!status)
		status = find_session(r, why);
	if (!status)
		http_peer_is_allowed(&r->http->peers, r->connection);
	return status;
}

static void take_body(struct http_request *r, const char *bytes, size_t len)
{
	struct mcp_http *h = r->http;
	size_t size = r->size;

	if (r->is_too_large || r->len + len > MESSAGE_MAX_BYTES) {
		r->is_too_large = true;
		return;
	}
	while (size < r->len + len)
		size = size ? 2 * size : 4096;
	if (size != r->size) {
		char *body = h->body_bytes + size - r->size > BODIES_MAX_BYTES
		                     ? NULL
		                     : realloc(r->body, size);

		if (!body) {
			r->is_too_large = true;
			return;
		}
		h->body_bytes += size - r->size;
		r->body = body;
		r->size = size;
	}
	memcpy(r->body + r->len, bytes, len);
	r->len += len;
}

/* The message goes to the server without our lock: its answer may come back at once, on this thread. */
static enum mcp_taken hand_over(struct http_request *r)
{
	struct mcp_headers headers = { header(r, "MCP-Protocol-Version"), header(r, "Mcp-Method"),
		                       header(r, "Mcp-Name") };
	enum mcp_taken taken;

	pthread_mutex_unlock(&r->http->lock);
	if (r->toolsets)
		mcp_conn_choose_tools(r->session->conn, r->toolsets);
	taken = mcp_conn_take(r->session->conn, r->body ? r->body : "", r->len, &headers,
	                      r->stream);
	pthread_mutex_lock(&r->http->lock);
	r->is_refused = taken == MCP_REFUSED;
	return taken;
}

/* A session begins with a message that agrees on the protocol, and only with that. */
static bool begin_session(struct http_request *r)
{
	struct http_session *s;

	pthread_mutex_unlock(&r->http->lock);
	s = http_session_new(r->http);
	pthread_mutex_lock(&r->http->lock);
	if (!s)
		return false;
	s->nr_users++;
	r->session = s;
	return true;
}

/* The server has said why not, unless it was a notification. */
static enum MHD_Result refuse_beginning(struct http_request *r, enum mcp_taken taken)
{
	enum MHD_Result result;

	r->is_refused = true;
	r->accepts |= HTTP_JSON;
	result =
		taken == MCP_NO_ANSWER
			? http_refuse(
				  r, MHD_HTTP_BAD_REQUEST,
				  "a session begins with initialize; later messages carry Mcp-Session-Id")
			: http_answer(r);
	if (taken == MCP_NO_ANSWER)
		r->stream->is_ended = true;
	http_session_end(r->session);
	return result;
}

/* By its header, which must agree with the body: there is no answer but a stream. */
static bool is_listening(const struct http_request *r)
{
	const char *method = header(r, "Mcp-Method");

	return r->is_stateless && method && strcmp(method, "subscriptions/listen") == 0;
}

static unsigned int nr_listeners(const struct mcp_http *h)
{
	unsigned int nr = 0;

	for (const struct http_request *r = h->requests; r; r = r->next)
		nr += r->is_listening;
	return nr;
}

static enum MHD_Result take_post(struct http_request *r)
{
	bool is_new = !r->session;
	enum mcp_taken taken;

	if (r->is_too_large)
		return http_refuse(r, MHD_HTTP_CONTENT_TOO_LARGE,
		                   "the message is larger than 4 MiB, or too many are pending");
	r->is_listening = is_listening(r);
	if (r->is_listening && !(r->accepts & HTTP_EVENTS))
		return http_refuse(r, MHD_HTTP_NOT_ACCEPTABLE,
		                   "the client must accept text/event-stream");
	if (r->is_listening && nr_listeners(r->http) > LISTENERS_MAX)
		return http_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		                   "too many subscriptions are open");
	if (is_new && !begin_session(r))
		return http_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
	r->stream = http_session_add_stream(r->session);
	if (!r->stream)
		return http_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		                   "too many requests of this session are not answered yet");
	r->stream->reader = r;
	r->stream->is_quiet = !(r->accepts & HTTP_EVENTS);
	r->stream->has_no_ids = r->is_stateless;
	r->is_taken = true;
	taken = hand_over(r);
	r->session->is_stateless |= is_new && mcp_conn_is_stateless(r->session->conn);
	if (is_new && !r->session->is_stateless && !mcp_conn_is_initialized(r->session->conn))
		return refuse_beginning(r, taken);
	if (is_new && !r->session->is_stateless && !http_session_list(r->session)) {
		http_session_end(r->session);
		return http_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE,
		                   "too many sessions; end some with DELETE");
	}
	if (taken == MCP_NO_ANSWER) {
		http_session_drop_stream(r->session, r->stream);
		r->stream = NULL;
		return http_answer_empty(r, MHD_HTTP_ACCEPTED);
	}
	return http_answer(r);
}

/* The latest reader continues; the other may be long gone. */
static void push_aside(struct http_request *r)
{
	r->stream = NULL;
	http_wake(r);
}

/*
 * The stream of unsolicited messages, or, by the id of the last event that the client got, any that
 * it was reading.
 */
static enum MHD_Result take_get(struct http_request *r)
{
	const char *last = header(r, "Last-Event-ID");
	struct http_stream *stream;
	uint32_t id = 0;
	uint64_t seq = 0;

	if (!(r->accepts & HTTP_EVENTS))
		return http_refuse(r, MHD_HTTP_NOT_ACCEPTABLE,
		                   "the client must accept text/event-stream");
	if (last && !http_event_id(last, &id, &seq))
		return http_refuse(r, MHD_HTTP_BAD_REQUEST,
		                   "Last-Event-ID was not issued by this server");
	stream = http_session_stream(r->session, id);
	if (!stream || (id && !stream->is_events))
		return http_refuse(r, MHD_HTTP_BAD_REQUEST,
		                   "the stream of Last-Event-ID is no longer kept");
	if (stream->reader)
		push_aside(stream->reader);
	stream->reader = r;
	r->stream = stream;
	r->is_taken = true;
	r->cursor = http_stream_after(stream, last ? seq : stream->sent_seq);
	return http_answer_events(r);
}

static struct http_request *new_request(struct mcp_http *h, struct MHD_Connection *connection)
{
	struct http_request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->http = h;
	r->connection = connection;
	r->next = h->requests;
	h->requests = r;
	return r;
}

static enum MHD_Result on_whole_request(struct http_request *r, const char *method)
{
	http_peer_is_whole(r->connection);
	if (r->is_dropped)
		return MHD_NO;
	if (r->http->is_stopping)
		return http_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is shutting down");
	if (r->is_taken)
		return http_answer(r); /* woken */
	if (r->is_post)
		return take_post(r);
	if (strcmp(method, "GET") == 0)
		return take_get(r);
	http_session_end(r->session);
	return http_answer_empty(r, MHD_HTTP_NO_CONTENT);
}

/* NOLINTNEXTLINE(readability-function-size): so many parameters has the library */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **slot)
{
	struct mcp_http *h = ctx;
	struct http_request *r = *slot;
	enum MHD_Result result = MHD_YES;
	unsigned int status;
	const char *why;

	(void)version;
	pthread_mutex_lock(&h->lock);
	if (!r) {
		r = *slot = new_request(h, connection);
		status = r ? check(r, url, method, &why) : 0;
		if (!r)
			result = MHD_NO;
		else if (status)
			result = http_refuse(r, status, why);
	} else if (*upload_len) {
		take_body(r, upload, *upload_len);
		*upload_len = 0;
	} else {
		result = on_whole_request(r, method);
	}
	pthread_mutex_unlock(&h->lock);
	return result;
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode code)
{
	struct mcp_http *h = ctx;
	struct http_request *r = *slot, **at = &h->requests;

	(void)connection;
	(void)code;
	if (!r)
		return;
	pthread_mutex_lock(&h->lock);
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	http_peer_is_done(&h->peers, r->connection);
	if (r->stream && r->stream->reader == r)
		http_stream_leave(r->session, r->stream);
	if (r->session) {
		r->session->nr_users--;
		r->session->used_ns = clock_boot_ns();
		if (r->session->is_stateless)
			http_session_end(r->session);
	}
	h->body_bytes -= r->size;
	http_kick(h);
	pthread_mutex_unlock(&h->lock);
	free(r->body);
	free(r);
	*slot = NULL;
}

static void on_log(void *ctx, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
static void on_log(void *ctx, const char *fmt, va_list args)
{
	char line[256];

	(void)ctx;
	vsnprintf(line, sizeof(line), fmt, args);
	line[strcspn(line, "\n")] = '\0';
	log_debug("HTTP: %s", line);
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **slot,
                          enum MHD_ConnectionNotificationCode code)
{
	struct mcp_http *h = ctx;

	pthread_mutex_lock(&h->lock);
	http_peers_notify(&h->peers, connection, slot, code);
	http_kick(h);
	pthread_mutex_unlock(&h->lock);
}

static int start_daemon(struct mcp_http *h, struct diag *d)
{
	unsigned int flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
	                     MHD_USE_ERROR_LOG;

	h->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_LISTEN_SOCKET, h->listen_fd, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
		h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_CONNECTION_LIMIT,
		CONNECTIONS_MAX + CONNECTIONS_SPARE, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)(h->timeout_ns / HTTP_NS_PER_SECOND), MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_END);
	if (!h->daemon)
		return diag_set(d, -EIO, NULL, "cannot serve %s", h->url);
	h->listen_fd = -1; /* it closes that */
	return 0;
}

/* Signals belong to the thread that waits for them. */
int mcp_http_start(struct mcp_http *h, struct mcp_server *s, struct diag *d)
{
	sigset_t all, before;
	int err;

	h->server = s;
	h->token_owner = h->token ? mcp_server_new_owner(s) : 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	h->has_keeper = pthread_create(&h->keeper, NULL, http_keep, h) == 0;
	err = h->has_keeper ? start_daemon(h, d)
	                    : diag_set(d, -EAGAIN, NULL, "cannot start a thread");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

static int listen_on(struct mcp_http *h, const struct http_address *address, struct diag *d)
{
	h->listen_fd = http_listen(address, d, &h->hosts.port);
	if (h->listen_fd < 0)
		return h->listen_fd;
	snprintf(h->url, sizeof(h->url), "http://%s:%u" HTTP_PATH, address->text,
	         (unsigned int)h->hosts.port);
	return 0;
}

static int get_token(struct mcp_http *h, const struct mcp_http_cfg *cfg, struct diag *d)
{
	if (cfg->token_file)
		return http_token_read(cfg->token_file, cfg->needs_token, d, &h->token);
	return cfg->needs_token ? http_token_make(d, &h->token, &h->token_path) : 0;
}

int mcp_http_open(const struct mcp_http_cfg *cfg, struct diag *d, struct mcp_http **out)
{
	struct http_address address;
	struct mcp_http *h;
	int err = http_address_parse(cfg->address, d, &address);

	if (!err)
		err = http_address_check(&address, cfg->allows_remote, cfg->token_file, d);
	if (err)
		return err;
	h = calloc(1, sizeof(*h));
	if (!h)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	h->listen_fd = -1;
	h->hosts = (struct http_hosts){ .names = cfg->hosts,
		                        .nr = cfg->nr_hosts,
		                        .takes_addresses = !address.is_loopback,
		                        .origins = cfg->origins,
		                        .nr_origins = cfg->nr_origins };
	h->timeout_ns = (cfg->timeout_s ? cfg->timeout_s : DEFAULT_TIMEOUT_S) * HTTP_NS_PER_SECOND;
	h->peers = (struct http_peers){ .timeout_ns = h->timeout_ns,
		                        .nr_max = CONNECTIONS_MAX,
		                        .nr_idle = SILENT_MAX };
	pthread_mutex_init(&h->lock, NULL);
	h->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = h->kick_fd < 0 ? diag_set(d, -errno, NULL, "cannot make an event")
	                     : get_token(h, cfg, d);
	if (!err)
		err = listen_on(h, &address, d);
	if (err) {
		mcp_http_close(h);
		return err;
	}
	*out = h;
	return 0;
}

const char *mcp_http_url(const struct mcp_http *h)
{
	return h->url;
}

const char *mcp_http_token_path(const struct mcp_http *h)
{
	return h->token_path;
}

void mcp_http_close(struct mcp_http *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->is_stopping = true;
	while (h->sessions)
		http_session_end(h->sessions);
	for (struct http_request *r = h->requests; r; r = r->next)
		http_wake(r); /* a daemon with sleepers cannot be stopped */
	http_kick(h);
	pthread_mutex_unlock(&h->lock);
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	if (h->has_keeper)
		pthread_join(h->keeper, NULL);
	http_sessions_free(h, true);
	if (h->kick_fd >= 0)
		close(h->kick_fd);
	if (h->listen_fd >= 0)
		close(h->listen_fd);
	pthread_mutex_destroy(&h->lock);
	http_token_remove(h->token_path);
	free(h->token_path);
	free(h->token);
	free(h);
}
