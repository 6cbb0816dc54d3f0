/*
 * mcp/http/http_link — the server over HTTP: the "streamable HTTP" of the protocol, on one address and the path /mcp.
 *
 * POST brings one message; its answer is plain JSON, or a stream of events when notifications come
 * before it. GET is the stream of unsolicited messages, DELETE ends a session. An interrupted
 * stream can be resumed by Last-Event-ID while its last events are kept (http_stream). A reader
 * that disconnects is noticed at once; a call whose answer can no longer be delivered is cancelled.
 *
 * A POST of the stateless era (mcp/era) has no session: it gets a connection of its own, never listed, which ends with it.
 * There is no GET, no resuming; a client that disconnects has cancelled its call.
 *
 * Refused, and logged: another Host than this machine's, another Origin than was allowed
 * (http_guard), a missing or wrong token (http_token), what is too large, too slow or too much
 * (http_peers). Bounded: connections, sessions, streams of a session, bytes of bodies, messages of a
 * stream. An idle session is closed. Listens on loopback only, unless the configuration says
 * otherwise, which needs a token.
 *
 * Threads of its own do everything; they take no signals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/diag.h"
#include "mcp/server.h"

#define HTTP_PATH "/mcp"

struct mcp_http;

struct mcp_http_cfg {
	const char *address;      /* "ADDR:PORT"; NULL = 127.0.0.1 and any free port */
	const char *token_file;   /* NULL = none is given */
	bool needs_token;         /* without a file, one is made */
	bool allows_remote;       /* an address that is not loopback */
	const char *const *hosts; /* names that Host may have besides localhost */
	size_t nr_hosts;
	const char *const *origins; /* that Origin may be; without one: only that of our own port */
	size_t nr_origins;
	unsigned int timeout_s; /* for a client to send its request, or to read; 0 = 30 */
};

/* The token and the socket, which may take rights; no thread yet, and no client is served. */
MUST_USE int mcp_http_open(const struct mcp_http_cfg *cfg, struct diag *d, struct mcp_http **out);
/* From here on clients are served. */
MUST_USE int mcp_http_start(struct mcp_http *h, struct mcp_server *s, struct diag *d);
const char *mcp_http_url(const struct mcp_http *h);
/*
 * The file of the generated token, readable by this user only; NULL = none was generated. It is
 * removed with the server.
 */
const char *mcp_http_token_path(const struct mcp_http *h);
/* Cancels what runs; NULL is fine. */
void mcp_http_close(struct mcp_http *h);
