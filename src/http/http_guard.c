#include "http/http_guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_LEN 254U

static bool is_port(const char *text)
{
	size_t len = strspn(text, "0123456789");

	return len >= 1 && len <= 5 && !text[len] && strtoul(text, NULL, 10) <= UINT16_MAX;
}

/* The name of "name[:port]", without the brackets of an address. */
static bool split_host(const char *host, char name[NAME_MAX_LEN])
{
	bool has_brackets = host[0] == '[';
	const char *from = host + has_brackets;
	size_t len = strcspn(from, has_brackets ? "]" : ":");
	const char *rest = from + len;

	if (!len || len >= NAME_MAX_LEN || (has_brackets && *rest++ != ']'))
		return false;
	if (*rest && (*rest != ':' || !is_port(rest + 1)))
		return false;
	memcpy(name, from, len);
	name[len] = '\0';
	return true;
}

static bool is_address(const char *name)
{
	struct in6_addr addr;

	return inet_pton(AF_INET, name, &addr) == 1 || inet_pton(AF_INET6, name, &addr) == 1;
}

static bool is_loopback(const char *name)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (strcasecmp(name, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, name, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
	return inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool is_listed(const char *name, const struct http_hosts *hosts)
{
	for (size_t i = 0; i < hosts->nr; i++)
		if (strcasecmp(hosts->names[i], name) == 0)
			return true;
	return false;
}

bool http_host_is_allowed(const char *host, const struct http_hosts *hosts)
{
	char name[NAME_MAX_LEN];

	if (!host || !split_host(host, name))
		return false;
	return is_loopback(name) || is_listed(name, hosts) ||
	       (hosts->takes_addresses && is_address(name));
}

/* A page that came from our own port: nothing else listens there. */
static bool is_own_origin(const char *origin, const struct http_hosts *hosts)
{
	char name[NAME_MAX_LEN], port[8];

	if (strncasecmp(origin, "http://", 7) != 0 || !split_host(origin + 7, name))
		return false;
	snprintf(port, sizeof(port), ":%u", (unsigned int)hosts->port);
	return is_loopback(name) && strcmp(strrchr(origin, ':'), port) == 0;
}

bool http_origin_is_allowed(const char *origin, const struct http_hosts *hosts)
{
	if (!origin || is_own_origin(origin, hosts))
		return true;
	for (size_t i = 0; i < hosts->nr_origins; i++)
		if (strcasecmp(hosts->origins[i], origin) == 0)
			return true;
	return false;
}

bool http_is_origin(const char *text)
{
	char name[NAME_MAX_LEN];
	const char *host = strstr(text, "://");

	return host &&
	       (strncasecmp(text, "http:", 5) == 0 || strncasecmp(text, "https:", 6) == 0) &&
	       split_host(host + 3, name);
}

/* "type" among "a/b;q=1, type, ..." */
static bool lists_type(const char *text, const char *type)
{
	while (*text) {
		size_t len;

		text += strspn(text, " \t,");
		len = strcspn(text, " \t,;");
		if (len == strlen(type) && strncasecmp(text, type, len) == 0)
			return true;
		text += strcspn(text, ",");
	}
	return false;
}

unsigned int http_accepts(const char *accept)
{
	unsigned int bits = 0;

	if (!accept || lists_type(accept, "*/*"))
		return HTTP_JSON | HTTP_EVENTS;
	if (lists_type(accept, "application/json") || lists_type(accept, "application/*"))
		bits |= HTTP_JSON;
	if (lists_type(accept, "text/event-stream") || lists_type(accept, "text/*"))
		bits |= HTTP_EVENTS;
	return bits;
}

bool http_is_json(const char *content_type)
{
	size_t len = content_type ? strcspn(content_type, " \t;") : 0;

	return len == strlen("application/json") &&
	       strncasecmp(content_type, "application/json", len) == 0;
}

bool http_event_id(const char *text, uint32_t *stream, uint64_t *seq)
{
	unsigned long long numbers[2];
	char *end;

	for (size_t i = 0; i < 2; i++) {
		if (*text < '0' || *text > '9')
			return false;
		errno = 0;
		numbers[i] = strtoull(text, &end, 10);
		if (errno || *end != (i ? '\0' : '-'))
			return false;
		text = end + 1;
	}
	if (numbers[0] > UINT32_MAX)
		return false;
	*stream = (uint32_t)numbers[0];
	*seq = numbers[1];
	return true;
}

static bool set_address(struct http_address *out, const char *name, uint16_t port)
{
	out->is_loopback = is_loopback(name);
	if (strcasecmp(name, "localhost") == 0)
		name = "127.0.0.1";
	if (inet_pton(AF_INET, name, &out->addr.v4.sin_addr) == 1) {
		out->addr.v4.sin_family = AF_INET;
		out->addr.v4.sin_port = htons(port);
		snprintf(out->text, sizeof(out->text), "%s", name);
		return true;
	}
	if (inet_pton(AF_INET6, name, &out->addr.v6.sin6_addr) == 1) {
		out->addr.v6.sin6_family = AF_INET6;
		out->addr.v6.sin6_port = htons(port);
		snprintf(out->text, sizeof(out->text), "[%s]", name);
		return true;
	}
	return false;
}

int http_address_parse(const char *text, struct diag *d, struct http_address *out)
{
	const char *port = !text || is_port(text) ? text : strrchr(text, ':');
	char name[NAME_MAX_LEN] = "127.0.0.1";
	bool is_good = true;

	*out = (struct http_address){ 0 };
	if (text && port != text)
		is_good = split_host(text, name);
	if (port && *port == ':')
		port++;
	if (!port || !is_port(port)) /* the last colon is one of an address in brackets */
		port = "0";
	if (is_good && set_address(out, name, (uint16_t)strtoul(port, NULL, 10)))
		return 0;
	return diag_set(d, -EINVAL, "write 127.0.0.1:8090, [::1]:8090 or a port alone",
	                "'%.64s' is not an address to listen on", text);
}
