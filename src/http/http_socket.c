#include "http/http_socket.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Clients that are not users of this machine need a token. */
int http_address_check(const struct http_address *address, bool allows_remote,
                       const char *token_file, struct diag *d)
{
	if (address->is_loopback)
		return 0;
	if (!allows_remote)
		return diag_set(d, -EINVAL, "add --allow-remote to let other machines reach it",
		                "%s is not a loopback address", address->text);
	if (!token_file)
		return diag_set(d, -EINVAL, "add --token-file FILE",
		                "a server that other machines can reach needs a token");
	return 0;
}

static int open_socket(const struct http_address *address, uint16_t *port)
{
	SCOPED(scoped_close)
	int fd = socket(address->addr.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct http_address bound = { 0 };
	socklen_t len = sizeof(bound.addr);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		return -errno;
	if (address->addr.any.sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)))
		return -errno;
	if (bind(fd, &address->addr.any, sizeof(address->addr)) || listen(fd, SOMAXCONN) ||
	    getsockname(fd, &bound.addr.any, &len))
		return -errno;
	*port = ntohs(bound.addr.v4.sin_port); /* that of IPv6 is in the same place */
	return TAKE_FD(fd);
}

int http_listen(const struct http_address *address, struct diag *d, uint16_t *port)
{
	int fd = open_socket(address, port);

	return fd < 0 ? diag_set(d, fd, "is the port taken? port 0 finds a free one",
	                         "cannot listen on %s", address->text)
	              : fd;
}
