#include "http/http_peers.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"

#define MOMENT_NS       (HTTP_NS_PER_SECOND / 4) /* before it counts as silent */
#define WARN_NS         (10 * HTTP_NS_PER_SECOND)
#define FIRST_HEADER_NS (5 * HTTP_NS_PER_SECOND) /* or the timeout, if that is shorter */

/* A TCP connection. It has until the deadline to bring a whole request. */
struct http_peer {
	int fd;
	struct in6_addr address; /* of the client; IPv4 in its first bytes */
	uint64_t since_ns;       /* the connection, or the end of the last request */
	uint64_t deadline_ns;    /* 0 = none: the request is there */
	bool is_known;           /* it has sent an allowed request */
	bool is_cut;
	struct http_peer *next;
};

static uint64_t first_ns(const struct http_peers *h)
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
static struct http_peer *longest_silent(const struct http_peers *h, const struct http_peer *like,
                                        bool is_unknown)
{
	struct http_peer *found = NULL;

	for (struct http_peer *p = h->first; p; p = p->next) {
		if ((is_unknown && p->is_known) || (like && !is_same_address(p, like)))
			continue;
		if (is_silent(p) && (!found || p->since_ns < found->since_ns))
			found = p;
	}
	return found;
}

/* One line in a while: clients must not be able to fill a log, or to hold us up where it is read slowly. */
static void cut(struct http_peers *h, struct http_peer *p, const char *why)
{
	uint64_t now_ns = clock_boot_ns();

	if (!h->warned_ns || now_ns - h->warned_ns >= WARN_NS) {
		log_warn("%s; closing its connection", why);
		h->warned_ns = now_ns;
	} else {
		log_debug("%s; closing its connection", why);
	}
	shutdown(p->fd, SHUT_RDWR);
	p->is_cut = true;
}

static unsigned int nr_unknown(const struct http_peers *h, const struct http_peer *like)
{
	unsigned int nr = 0;

	for (const struct http_peer *p = h->first; p; p = p->next)
		nr += !p->is_cut && !p->is_known && p->deadline_ns && is_same_address(p, like);
	return nr;
}

/* Whether there are still too many of an address. */
static bool thin_out(struct http_peers *h, const struct http_peer *like)
{
	struct http_peer *victim;

	while (nr_unknown(h, like) > h->nr_idle) {
		victim = longest_silent(h, like, true);
		if (!victim)
			return true;
		cut(h, victim, "a client has too many idle connections");
	}
	return false;
}

/* Whether there are still too many in all. */
static bool make_room(struct http_peers *h)
{
	struct http_peer *victim;
	unsigned int nr = 0;

	for (const struct http_peer *p = h->first; p; p = p->next)
		nr += !p->is_cut;
	for (; nr > h->nr_max; nr--) {
		victim = longest_silent(h, NULL, true);
		if (!victim)
			victim = longest_silent(h, NULL, false);
		if (!victim)
			return true;
		cut(h, victim, "too many connections, and a client is idle");
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

static struct http_peer *begin(struct http_peers *h, struct MHD_Connection *connection)
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
	p->next = h->first;
	h->first = p;
	return p;
}

static void end(struct http_peers *h, struct http_peer *p)
{
	struct http_peer **at = &h->first;

	while (*at && *at != p)
		at = &(*at)->next;
	if (*at)
		*at = p->next;
	free(p);
}

void http_peers_notify(struct http_peers *h, struct MHD_Connection *connection, void **slot,
                       enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*slot = begin(h, connection);
	} else if (*slot) {
		end(h, *slot);
		*slot = NULL;
	}
}

static struct http_peer *peer_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void http_peer_is_allowed(const struct http_peers *h, struct MHD_Connection *connection)
{
	struct http_peer *p = peer_of(connection);

	if (!p)
		return;
	p->is_known = true;
	p->deadline_ns = clock_boot_ns() + h->timeout_ns;
}

void http_peer_is_whole(struct MHD_Connection *connection)
{
	struct http_peer *p = peer_of(connection);

	if (p)
		p->deadline_ns = 0;
}

void http_peer_is_done(const struct http_peers *h, struct MHD_Connection *connection)
{
	struct http_peer *p = peer_of(connection);
	uint64_t idle_ns = h->idle_ns ? h->idle_ns : 2 * h->timeout_ns;

	if (!p)
		return;
	p->since_ns = clock_boot_ns();
	p->deadline_ns = p->since_ns + (p->is_known ? idle_ns : first_ns(h));
}

bool http_peers_check(struct http_peers *h)
{
	uint64_t now_ns = clock_boot_ns();
	bool is_over_limit = false;

	for (struct http_peer *p = h->first; p; p = p->next) {
		if (!p->is_cut && p->deadline_ns && now_ns >= p->deadline_ns)
			cut(h, p, "a client takes too long");
		is_over_limit |= thin_out(h, p);
	}
	return make_room(h) || is_over_limit;
}
