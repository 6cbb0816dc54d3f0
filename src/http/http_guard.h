/*
 * http/http_guard — what the headers of an HTTP request say: which clients may connect, and
 * what they accept. Untrusted; pure.
 *
 * A page in a browser can be made to reach a server on its own machine under any name ("DNS rebinding"); it cannot forge Host
 * and Origin. So Host must name this machine, or what was allowed by name, and Origin, if there is one, must be
 * exactly one that was allowed: any program on this machine may serve pages of its own.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/attr.h"
#include "base/diag.h"

struct http_hosts {
	const char *const *names; /* besides those of loopback */
	size_t nr;
	bool takes_addresses;       /* any address instead of a name: a number cannot be rebound */
	const char *const *origins; /* "https://box.lan:8443" */
	size_t nr_origins;
	uint16_t port; /* of our own */
};

/* "name", "name:port", "1.2.3.4:port", "[::1]:port"; NULL = the header was not there. */
bool http_host_is_allowed(const char *host, const struct http_hosts *hosts);
/* Of a page; without the header it is none, which is allowed. */
bool http_origin_is_allowed(const char *origin, const struct http_hosts *hosts);
/* "http://name[:port]" or "https://name[:port]", and nothing more. */
bool http_is_origin(const char *text);

enum { HTTP_JSON = 1, HTTP_EVENTS = 2 };
/* Bits of what an Accept header takes; without one, everything. */
unsigned int http_accepts(const char *accept);
bool http_is_json(const char *content_type);
/* "stream-event", as we gave it. */
bool http_event_id(const char *text, uint32_t *stream, uint64_t *seq);

struct http_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} addr;
	bool is_loopback;
	char text[64]; /* of the host, as in a URL */
};
/* "ADDR:PORT", "ADDR" or "PORT"; NULL is 127.0.0.1 and any port. Numbers and localhost, no names. -EINVAL. */
MUST_USE int http_address_parse(const char *text, struct diag *d, struct http_address *out);
