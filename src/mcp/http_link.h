/*
 * mcp/http_link — the server over HTTP: the "streamable HTTP" of the protocol, on one address and the path /mcp.
 *
 * POST brings one message; its answer is plain JSON, or a stream of events when notifications come before it. GET is the stream
 * of what comes of its own, DELETE ends a session. A stream that was cut can be taken up again by Last-Event-ID while its
 * last events are kept (http_stream).
 *
 * Refused, and logged: another Host or Origin than this machine's (http_guard), a missing or wrong token, what is too large, too
 * slow or too much. Bounded: connections, sessions, streams of a session, bytes of bodies, messages of a stream. A session that
 * nobody uses ends of its own. Listens on loopback only, unless the configuration says otherwise, which needs a token.
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
	const char *token_file;   /* NULL = no token is asked for */
	bool allows_remote;       /* an address that is not loopback */
	const char *const *hosts; /* names that Host and Origin may have besides localhost */
	size_t nr_hosts;
	unsigned int timeout_s; /* for a client to send its request, or to read; 0 = 30 */
};

MUST_USE int mcp_http_open(struct mcp_server *s, const struct mcp_http_cfg *cfg, struct diag *d,
                           struct mcp_http **out);
const char *mcp_http_url(const struct mcp_http *h);
/* Cancels what runs; NULL is fine. */
void mcp_http_close(struct mcp_http *h);
