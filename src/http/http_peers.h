/*
 * http/http_peers — TCP connections of an HTTP server: how long each may take, and which one is closed when there
 * are too many.
 *
 * Any client that can connect can open connections and stay idle, before a token is required. So a
 * new connection has a short time to bring its first header; one address may have only some that
 * have brought none; and when all places are taken, the connection idle longest is closed. One that
 * has sent an allowed request before is closed after those that never did, and one whose request is
 * being answered stays. None is closed at once: clients connect first and send then.
 *
 * No lock of its own: a server with threads holds one around each call.
 */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>

#define HTTP_NS_PER_SECOND 1000000000ULL

struct http_peer;

struct http_peers {
	struct http_peer *first;
	uint64_t timeout_ns;  /* for a client to send its request */
	uint64_t idle_ns;     /* between two requests; 0 = twice the timeout */
	unsigned int nr_max;  /* connections */
	unsigned int nr_idle; /* of one address, that never sent an allowed request */
	uint64_t warned_ns;   /* when a cut was last logged; 0 = never */
};

/* For MHD_OPTION_NOTIFY_CONNECTION. */
void http_peers_notify(struct http_peers *h, struct MHD_Connection *connection, void **slot,
                       enum MHD_ConnectionNotificationCode code);
/* Its header is: the body may follow. */
void http_peer_is_allowed(const struct http_peers *h, struct MHD_Connection *connection);
void http_peer_is_whole(struct MHD_Connection *connection);
void http_peer_is_done(const struct http_peers *h, struct MHD_Connection *connection);
/*
 * Cuts those that take too long, and those that are too many; true if there are still too many:
 * check again soon.
 */
bool http_peers_check(struct http_peers *h);
