/*
 * TCP connections of the HTTP server: how long each may take, and which one is closed when there
 * are too many.
 *
 * Any client that can connect can open connections and stay idle, before a token is required. So a
 * new connection has a short time to bring its first header; one address may have only some that
 * have brought none; and when all places are taken, the connection idle longest is closed. One that
 * has sent an allowed request before is closed after those that never did, and one whose request is
 * being answered stays. None is closed at once: clients connect first and send then.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "mcp/http/http_priv.h"

#define SILENT_MAX      32U /* of one address, that never sent an allowed request */
#define MOMENT_NS       (HTTP_NS_PER_SECOND / 4) /* before it counts as silent */
#define FIRST_HEADER_NS (5 * HTTP_NS_PER_SECOND) /* or the timeout, if that is shorter */

static uint64_t first_ns(const struct mcp_http *h)
{
	return h->timeout_ns < FIRST_HEADER_NS ? h->timeout_ns : FIRST_HEADER_NS;
}

static bool is_same_address(const struct http_peer *a, const struct http_peer *b)
{
	return memcmp(&a->address, &b->address, sizeof(a->address)) == 0;
}

/* Nothing new has arrived for a moment. */
static bool is_silent(const struct http_peer *p)
{
	int nr = 0;

	return !p->is_cut && p->deadline_ns && clock_boot_ns() - p->since_ns > MOMENT_NS &&
	       (ioctl(p->fd, FIONREAD, &nr) < 0 || nr == 0);
}

/* Of one address, or of all if like is NULL; of those that never sent an allowed request, or of all. */
static struct http_peer *longest_silent(const struct mcp_http *h, const struct http_peer *like,
                                        bool is_unknown)
{
	struct http_peer *found = NULL;

	for (struct http_peer *p = h->peers; p; p = p->next) {
		if ((is_unknown && p->is_known) || (like && !is_same_address(p, like)))
			continue;
		if (is_silent(p) && (!found || p->since_ns < found->since_ns))
			found = p;
	}
	return found;
}

static void cut(struct http_peer *p, const char *why)
{
	log_warn("%s; closing its connection", why);
	shutdown(p->fd, SHUT_RDWR);
	p->is_cut = true;
}

static unsigned int nr_unknown(const struct mcp_http *h, const struct http_peer *like)
{
	unsigned int nr = 0;

	for (const struct http_peer *p = h->peers; p; p = p->next)
		nr += !p->is_cut && !p->is_known && p->deadline_ns && is_same_address(p, like);
	return nr;
}

/* Whether there are still too many of an address. */
static bool thin_out(const struct mcp_http *h, const struct http_peer *like)
{
	struct http_peer *victim;

	while (nr_unknown(h, like) > SILENT_MAX) {
		victim = longest_silent(h, like, true);
		if (!victim)
			return true;
		cut(victim, "a client has too many idle connections");
	}
	return false;
}

/* Whether there are still too many in all. */
static bool make_room(const struct mcp_http *h)
{
	struct http_peer *victim;
	unsigned int nr = 0;

	for (const struct http_peer *p = h->peers; p; p = p->next)
		nr += !p->is_cut;
	for (; nr > CONNECTIONS_MAX; nr--) {
		victim = longest_silent(h, NULL, true);
		if (!victim)
			victim = longest_silent(h, NULL, false);
		if (!victim)
			return true;
		cut(victim, "too many connections, and a client is idle");
	}
	return false;
}

/* Only the address: a client has a new port for each connection. */
static void take_address(struct MHD_Connection *connection, struct http_peer *p)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *from = info ? info->client_addr : NULL;

	if (from && from->sa_family == AF_INET6)
		p->address = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
	else if (from && from->sa_family == AF_INET)
		memcpy(&p->address, &((const struct sockaddr_in *)(const void *)from)->sin_addr,
		       sizeof(struct in_addr));
}

static struct http_peer *begin(struct mcp_http *h, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http_peer *p = info ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->fd = info->connect_fd;
	p->since_ns = clock_boot_ns();
	p->deadline_ns = p->since_ns + first_ns(h);
	take_address(connection, p);
	p->next = h->peers;
	h->peers = p;
	return p;
}

static void end(struct mcp_http *h, struct http_peer *p)
{
	struct http_peer **at = &h->peers;

	while (*at && *at != p)
		at = &(*at)->next;
	if (*at)
		*at = p->next;
	free(p);
}

void http_on_connection(void *ctx, struct MHD_Connection *connection, void **slot,
                        enum MHD_ConnectionNotificationCode code)
{
	struct mcp_http *h = ctx;

	pthread_mutex_lock(&h->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*slot = begin(h, connection);
	} else if (*slot) {
		end(h, *slot);
		*slot = NULL;
	}
	http_kick(h);
	pthread_mutex_unlock(&h->lock);
}

static struct http_peer *peer_of(const struct http_request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void http_peer_is_allowed(const struct http_request *r)
{
	struct http_peer *p = peer_of(r);

	if (!p)
		return;
	p->is_known = true;
	p->deadline_ns = clock_boot_ns() + r->http->timeout_ns;
}

void http_peer_is_whole(const struct http_request *r)
{
	struct http_peer *p = peer_of(r);

	if (p)
		p->deadline_ns = 0;
}

void http_peer_is_done(const struct http_request *r)
{
	struct http_peer *p = peer_of(r);

	if (!p)
		return;
	p->since_ns = clock_boot_ns();
	p->deadline_ns = p->since_ns + (p->is_known ? 2 * r->http->timeout_ns : first_ns(r->http));
}

bool http_peers_check(struct mcp_http *h)
{
	uint64_t now_ns = clock_boot_ns();
	bool is_over_limit = false;

	for (struct http_peer *p = h->peers; p; p = p->next) {
		if (!p->is_cut && p->deadline_ns && now_ns >= p->deadline_ns)
			cut(p, "a client takes too long to send its request");
		is_over_limit |= thin_out(h, p);
	}
	return make_room(h) || is_over_limit;
}
