/* Sessions of the HTTP server: their streams, their ends, and the thread that sees to both. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "mcp/http/http_priv.h"
#include "mcp/server_priv.h"

#define BEAT_NS        (15 * HTTP_NS_PER_SECOND) /* between signs of life on a silent stream */
#define STREAM_KEEP_NS (60 * HTTP_NS_PER_SECOND) /* for a client that resumes for an answer */
#define COME_BACK_NS   (10 * HTTP_NS_PER_SECOND) /* to a stream whose answer is awaited */
#define IDLE_NS        (3600 * HTTP_NS_PER_SECOND)
#define IDLE_COSTLY_NS (600 * HTTP_NS_PER_SECOND) /* of a session for which data is collected */
#define KEEPER_MS      1000
#define OVER_LIMIT_MS  50
#define WATCHED_MAX    128 /* more than there are connections */

static bool is_older(uint64_t then_ns, uint64_t age_ns)
{
	uint64_t now_ns = clock_boot_ns();

	return now_ns > then_ns && now_ns - then_ns > age_ns;
}

static struct http_stream *new_stream(struct http_session *s)
{
	struct http_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->id = s->next_stream++;
	stream->next = s->streams;
	s->streams = stream;
	s->nr_streams++;
	return stream;
}

void http_session_drop_stream(struct http_session *s, struct http_stream *stream)
{
	struct http_stream **at = &s->streams;

	while (*at && *at != stream)
		at = &(*at)->next;
	if (*at) {
		*at = stream->next;
		s->nr_streams--;
	}
	http_stream_done(stream);
	free(stream);
}

struct http_stream *http_session_add_stream(struct http_session *s)
{
	return s->nr_streams < STREAMS_MAX ? new_stream(s) : NULL;
}

struct http_stream *http_session_stream(struct http_session *s, uint32_t id)
{
	struct http_stream *stream = s->streams;

	while (stream && stream->id != id)
		stream = stream->next;
	return stream;
}

void http_stream_leave(struct http_session *s, struct http_stream *stream)
{
	stream->reader = NULL;
	stream->left_ns = clock_boot_ns();
	if (stream->id && stream->is_ended && !stream->is_pinned &&
	    (!stream->is_events || stream->sent_seq == stream->last_seq))
		http_session_drop_stream(s, stream);
}

void http_kick(struct mcp_http *h)
{
	(void)eventfd_write(h->kick_fd, 1);
}

void http_wake(struct http_request *r)
{
	if (!r->is_suspended)
		return;
	r->is_suspended = false;
	MHD_resume_connection(r->connection);
}

void http_suspend(struct http_request *r)
{
	r->is_suspended = true;
	MHD_suspend_connection(r->connection);
	http_kick(r->http); /* it checks meanwhile whether the client disconnects */
}

static int fd_of(const struct http_request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static void drop_reader(struct http_request *r)
{
	r->is_dropped = true;
	shutdown(fd_of(r), SHUT_RDWR);
	http_wake(r);
}

/* From the server, on any of its threads. */
static void send_message(void *ctx, void *exchange, const char *text, size_t len, enum mcp_end end)
{
	struct http_session *s = ctx;
	struct http_stream *stream = exchange;
	struct http_request *reader;
	bool is_last = end != MCP_MORE;

	pthread_mutex_lock(&s->http->lock);
	if (!stream)
		stream = http_session_stream(s, 0);
	if (len && (is_last || !stream->is_quiet) && http_stream_put(stream, text, len))
		log_warn("out of memory: a message was dropped");
	stream->is_ended = is_last;
	stream->end = end;
	stream->ended_ns = is_last ? clock_boot_ns() : 0;
	reader = stream->reader;
	if (reader && stream->is_events && http_stream_has_lost(stream, &reader->cursor)) {
		log_warn("a client does not read its answers; closing its stream");
		drop_reader(reader);
	} else if (reader) {
		http_wake(reader);
	} else if (is_last) {
		http_stream_leave(s, stream);
	}
	if (is_last && s->is_ending)
		http_kick(s->http); /* it may be freed */
	pthread_mutex_unlock(&s->http->lock);
}

static bool make_id(char id[SESSION_ID_LEN])
{
	unsigned char bytes[(SESSION_ID_LEN - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

static void free_session(struct http_session *s)
{
	mcp_conn_free(s->conn);
	while (s->streams)
		http_session_drop_stream(s, s->streams);
	free(s);
}

struct http_session *http_session_new(struct mcp_http *h)
{
	struct http_session *s = calloc(1, sizeof(*s));
	struct mcp_link link = { send_message, s };

	if (!s)
		return NULL;
	s->http = h;
	s->used_ns = clock_boot_ns();
	if (!make_id(s->id) || !new_stream(s) || mcp_conn_new(h->server, &link, &s->conn)) {
		free_session(s);
		return NULL;
	}
	mcp_conn_set_owner(s->conn, h->token_owner);
	return s;
}

struct http_session *http_session_find(struct mcp_http *h, const char *id)
{
	struct http_session *s = h->sessions;

	while (s && strcmp(s->id, id) != 0)
		s = s->next;
	return s;
}

/* Its readers are notified and leave; then it can be freed. */
void http_session_end(struct http_session *s)
{
	struct mcp_http *h = s->http;
	struct http_session **at = &h->sessions;

	if (s->is_ending)
		return;
	s->is_ending = true;
	while (*at && *at != s)
		at = &(*at)->next;
	if (*at) {
		*at = s->next;
		h->nr_sessions--;
	}
	s->next = h->ending;
	h->ending = s;
	for (struct http_request *r = h->requests; r; r = r->next)
		if (r->session == s)
			http_wake(r);
	http_kick(h);
}

/* The one idle longest. */
static struct http_session *find_idle(struct mcp_http *h)
{
	struct http_session *oldest = NULL;

	for (struct http_session *s = h->sessions; s; s = s->next)
		if (!s->nr_users && (!oldest || s->used_ns < oldest->used_ns))
			oldest = s;
	return oldest;
}

bool http_session_list(struct http_session *s)
{
	struct mcp_http *h = s->http;
	struct http_session *old = h->nr_sessions < SESSIONS_MAX ? NULL : find_idle(h);

	if (old) {
		log_warn("session limit reached: closing the one idle longest");
		http_session_end(old);
	}
	if (h->nr_sessions >= SESSIONS_MAX)
		return false;
	s->next = h->sessions;
	h->sessions = s;
	h->nr_sessions++;
	return true;
}

/*
 * The descriptors of all requests that sleep, from fds[1] on: the library does not poll them
 * meanwhile. How many there are.
 */
static nfds_t list_sleepers(const struct mcp_http *h, struct pollfd *fds, struct http_request **of)
{
	nfds_t nr = 1;

	fds[0] = (struct pollfd){ .fd = h->kick_fd, .events = POLLIN };
	for (struct http_request *r = h->requests; r && nr < WATCHED_MAX; r = r->next) {
		if (!r->is_suspended)
			continue;
		of[nr] = r;
		fds[nr++] = (struct pollfd){ .fd = fd_of(r), .events = POLLRDHUP };
	}
	return nr;
}

/* A client that has closed its side reads no more: it was killed, or gave up. */
static void drop_gone(struct mcp_http *h)
{
	struct http_request *of[WATCHED_MAX];
	struct pollfd fds[WATCHED_MAX];
	nfds_t nr = list_sleepers(h, fds, of);
	eventfd_t nr_kicks;

	(void)eventfd_read(h->kick_fd, &nr_kicks);
	if (poll(fds, nr, 0) <= 0)
		return;
	for (nfds_t i = 1; i < nr; i++) {
		if (!fds[i].revents)
			continue;
		log_info("a client disconnected; its request is dropped");
		drop_reader(of[i]);
	}
}

/* Until something is to be done, or a second has passed in which something may have become due. */
static void wait_for_work(struct mcp_http *h, bool is_over_limit)
{
	int wait_ms = h->sessions || h->ending || h->peers.first ? KEEPER_MS : -1;
	struct http_request *of[WATCHED_MAX];
	struct pollfd fds[WATCHED_MAX];
	nfds_t nr = list_sleepers(h, fds, of);

	pthread_mutex_unlock(&h->lock);
	(void)poll(fds, nr, is_over_limit ? OVER_LIMIT_MS : wait_ms);
	pthread_mutex_lock(&h->lock);
}

/* Whether the answer can no longer be delivered: plain answers cannot be resumed, streams only for a while. */
static bool is_unheard(const struct mcp_http *h, const struct http_stream *stream, bool is_ending)
{
	uint64_t wait_ns = h->timeout_ns < COME_BACK_NS ? h->timeout_ns : COME_BACK_NS;

	return stream->id && !stream->reader && !stream->is_ended && !stream->is_given_up &&
	       (!stream->is_events || is_ending || is_older(stream->left_ns, wait_ns));
}

/* Without the lock meanwhile: the stream and its session stay. */
static void give_up(struct http_session *s, struct http_stream *stream)
{
	log_info("a call is cancelled: its client disconnected");
	stream->is_given_up = true;
	stream->is_pinned = true;
	s->nr_users++;
	pthread_mutex_unlock(&s->http->lock);
	mcp_conn_abandon(s->conn, stream);
	pthread_mutex_lock(&s->http->lock);
	s->nr_users--;
	stream->is_pinned = false;
	if (!stream->reader)
		http_stream_leave(s, stream);
}

static bool give_up_one_of(struct mcp_http *h, struct http_session *sessions)
{
	for (struct http_session *s = sessions; s; s = s->next)
		for (struct http_stream *stream = s->streams; stream; stream = stream->next)
			if (is_unheard(h, stream, s->is_ending)) {
				give_up(s, stream);
				return true;
			}
	return false;
}

static bool give_up_one(struct mcp_http *h)
{
	return give_up_one_of(h, h->sessions) || give_up_one_of(h, h->ending);
}

/* A sign of life on silent streams, for proxies in between. */
static void beat(struct mcp_http *h)
{
	uint64_t beat_ns = h->timeout_ns / 2 < BEAT_NS ? h->timeout_ns / 2 : BEAT_NS;

	for (struct http_request *r = h->requests; r; r = r->next) {
		if (!r->is_suspended || !r->stream || !r->stream->is_events ||
		    !is_older(r->written_ns, beat_ns))
			continue;
		r->wants_beat = true;
		http_wake(r);
	}
}

static void drop_old_streams(struct http_session *s)
{
	struct http_stream *next;

	for (struct http_stream *stream = s->streams; stream; stream = next) {
		next = stream->next;
		if (stream->id && !stream->reader && stream->is_ended && !stream->is_pinned &&
		    is_older(stream->ended_ns, STREAM_KEEP_NS))
			http_session_drop_stream(s, stream);
	}
}

/* A client that something is collected for is missed sooner, the more so if it had a stream of updates and left it. */
static uint64_t patience_ns(struct http_session *s)
{
	const struct http_stream *updates = http_session_stream(s, 0);

	if (!mcp_conn_has_subscriptions(s->conn) &&
	    !mcp_world_works_for(&s->conn->server->world, s->conn->id))
		return IDLE_NS;
	return updates->left_ns && !updates->reader ? s->http->timeout_ns : IDLE_COSTLY_NS;
}

static void end_old_sessions(struct mcp_http *h)
{
	struct http_session *next;

	for (struct http_session *s = h->sessions; s; s = next) {
		next = s->next;
		if (s->nr_users || !is_older(s->used_ns, patience_ns(s)))
			continue;
		log_info("closing an idle session");
		http_session_end(s);
	}
}

/* Nothing points to it, and nothing runs for it: to free it then does not wait. */
static bool is_over(const struct http_session *s)
{
	for (const struct http_stream *stream = s->streams; stream; stream = stream->next)
		if (stream->id && !stream->is_ended)
			return false;
	return !s->nr_users;
}

void http_sessions_free(struct mcp_http *h, bool is_all)
{
	struct http_session **at, *s;

	do {
		pthread_mutex_lock(&h->lock);
		at = &h->ending;
		while (*at && !is_over(*at) && !is_all)
			at = &(*at)->next;
		s = *at;
		if (s)
			*at = s->next;
		pthread_mutex_unlock(&h->lock);
		if (s)
			free_session(s);
	} while (s);
}

void *http_keep(void *ctx)
{
	struct mcp_http *h = ctx;
	bool is_over_limit = false;

	pthread_mutex_lock(&h->lock);
	while (!h->is_stopping) {
		wait_for_work(h, is_over_limit);
		drop_gone(h);
		while (give_up_one(h))
			;
		is_over_limit = http_peers_check(&h->peers);
		beat(h);
		for (struct http_session *s = h->sessions; s; s = s->next)
			drop_old_streams(s);
		end_old_sessions(h);
		pthread_mutex_unlock(&h->lock);
		http_sessions_free(h, false);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}
