/*
 * mcp/http/http_priv — what the files of the HTTP server share.
 *
 * One lock for all of it. The server's own locks come before it: nothing of mcp/server.h is called while it is held but
 * mcp_conn_has_subscriptions() and mcp_conn_version(), which take none.
 */
#pragma once

#include <microhttpd.h>
#include <pthread.h>

#include "http/http_guard.h"
#include "http/http_peers.h"
#include "mcp/http/http_link.h"
#include "mcp/http/http_stream.h"

#define CONNECTIONS_MAX 64U
#define SILENT_MAX      32U /* of one address, that never sent an allowed request */
#define SESSIONS_MAX    32U
#define STREAMS_MAX     32U /* of a session */
#define LISTENERS_MAX   32U /* requests without a session that keep their connections */
#define SESSION_ID_LEN  33U

struct http_session {
	char id[SESSION_ID_LEN];
	struct mcp_http *http;
	struct mcp_conn *conn;
	struct http_stream *streams; /* the last one is that of GET, number 0 */
	unsigned int nr_streams;
	uint32_t next_stream;
	unsigned int nr_users; /* requests that point here */
	uint64_t used_ns;
	bool is_ending;
	bool is_stateless; /* of one request alone; never listed */
	struct http_session *next;
};

/* An HTTP request, from its first header to the last byte of the answer. */
struct http_request {
	struct mcp_http *http;
	struct MHD_Connection *connection;
	struct http_session *session;
	struct http_stream *stream; /* that it reads; NULL when another has taken it over */
	struct http_cursor cursor;
	unsigned int accepts;
	unsigned int toolsets; /* that the address asks for; 0 = none */
	bool is_post;
	bool is_stateless; /* by its header; the body has the last word */
	bool is_listening; /* to updates, for as long as it likes */
	bool is_taken;     /* the message has gone to the server */
	bool is_refused;   /* as no message of the protocol, or as no beginning of a session */
	bool is_too_large; /* the body; its remainder is skipped */
	bool is_suspended;
	bool is_dropped; /* too slow, or gone */
	bool wants_beat;
	uint64_t written_ns; /* the last event */
	char prelude[96];    /* what the stream begins with */
	size_t prelude_at;
	char *body;
	size_t len;
	size_t size;
	struct http_request *next;
};

struct mcp_http {
	struct mcp_server *server;
	struct MHD_Daemon *daemon;
	struct http_hosts hosts;
	char *token;          /* NULL = none */
	uint64_t token_owner; /* of requests without a session; 0 = no token */
	char *token_path;     /* of one that was made; NULL = none */
	uint64_t timeout_ns;
	char url[128];
	pthread_mutex_t lock;
	int listen_fd; /* until the daemon has it */
	int kick_fd;   /* an event for the keeper */
	pthread_t keeper;
	bool has_keeper;
	bool is_stopping;
	struct http_session *sessions;
	unsigned int nr_sessions;
	struct http_session *ending; /* to be freed when nothing points there any more */
	struct http_peers peers;
	struct http_request *requests;
	size_t body_bytes; /* of all requests */
};

/* http_session.c; the lock is held unless said otherwise. */
struct http_session *http_session_find(struct mcp_http *h, const char *id); /* NULL = unknown */
/* Not held. A session that is not listed yet; NULL if there are too many, or no memory. */
struct http_session *http_session_new(struct mcp_http *h);
bool http_session_list(struct http_session *s); /* false = too many */
void http_session_end(struct http_session *s);
struct http_stream *http_session_stream(struct http_session *s, uint32_t id); /* NULL = gone */
/* For a POST; NULL if there are too many. */
struct http_stream *http_session_add_stream(struct http_session *s);
/* It has no reader any more: it stays while its answer is awaited, or while a client may resume it. */
void http_stream_leave(struct http_session *s, struct http_stream *stream);
void http_session_drop_stream(struct http_session *s, struct http_stream *stream);
void http_kick(struct mcp_http *h);     /* there is work for the keeper */
void http_wake(struct http_request *r); /* it may go on */
void http_suspend(struct http_request *r);
/* The thread that ends what is too slow, too old, or without a reader. */
void *http_keep(void *ctx);
/* Not held. Frees what has ended. */
void http_sessions_free(struct mcp_http *h, bool is_all);

/* http_answer.c; the lock is held. */
enum MHD_Result http_refuse(struct http_request *r, unsigned int status, const char *why);
enum MHD_Result http_answer_empty(struct http_request *r, unsigned int status);
/* The answer of a message that was taken, as far as it is there; else the request sleeps until it is. */
enum MHD_Result http_answer(struct http_request *r);
enum MHD_Result http_answer_events(struct http_request *r);
