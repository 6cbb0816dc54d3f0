#include "serve/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/http_guard.h"
#include "http/http_peers.h"
#include "http/http_socket.h"
#include "http/http_token.h"

#define CONNECTIONS_MAX   32U
#define CONNECTIONS_SPARE 8U     /* of those that are cut, until they have gone */
#define SILENT_MAX        16U    /* of one address, that never sent an allowed request */
#define REQUEST_BYTES     16384U /* of a header, with what the library needs besides */
#define TIMEOUT_S         10U
#define IDLE_S            150U /* between two scrapes */
#define KEEPER_MS         1000
#define CROWDED_MS        50

struct metrics_server {
	struct metrics_server_cfg cfg;
	struct MHD_Daemon *daemon;
	struct http_hosts hosts;
	struct http_peers peers;
	char *token; /* NULL = none */
	char url[128];
	uint64_t checked_ns; /* when the connections were last looked at */
	bool is_crowded;     /* there may be some to cut, now or in a moment */
	bool has_room;       /* one has gone: the library looks at the socket when it runs again */
};

/* What is known of a request before its body could come. */
struct request {
	unsigned int status; /* 0 = it is good */
	const char *why;
};

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result queue(struct MHD_Connection *c, unsigned int status, const char *type,
                             struct MHD_Response *response)
{
	enum MHD_Result is_queued;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, "Accept");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	is_queued = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return is_queued;
}

static enum MHD_Result say(struct MHD_Connection *c, unsigned int status, const char *text)
{
	char line[256];
	int len = snprintf(line, sizeof(line), "%s\n", text);

	if (status >= MHD_HTTP_BAD_REQUEST)
		log_info("HTTP %u: %s", status, text);
	return queue(c, status, "text/plain; charset=utf-8",
	             MHD_create_response_from_buffer((size_t)len, line, MHD_RESPMEM_MUST_COPY));
}

/* Names of a page in a browser: without a token, only those of this machine. */
static bool is_host_allowed(const struct metrics_server *s, struct MHD_Connection *c)
{
	return s->token || (http_host_is_allowed(header(c, MHD_HTTP_HEADER_HOST), &s->hosts) &&
	                    http_origin_is_allowed(header(c, MHD_HTTP_HEADER_ORIGIN), &s->hosts));
}

static bool has_body(struct MHD_Connection *c)
{
	const char *length = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return header(c, MHD_HTTP_HEADER_TRANSFER_ENCODING) || (length && strcmp(length, "0") != 0);
}

static struct request check(const struct metrics_server *s, struct MHD_Connection *c,
                            const char *url, const char *method)
{
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return (struct request){ MHD_HTTP_METHOD_NOT_ALLOWED,
			                 "only GET and HEAD are supported" };
	if (has_body(c))
		return (struct request){ MHD_HTTP_CONTENT_TOO_LARGE,
			                 "a request for metrics has no body" };
	if (!is_host_allowed(s, c))
		return (struct request){
			MHD_HTTP_FORBIDDEN,
			"this Host or Origin is not allowed; use localhost, or start with --allow-host"
		};
	if (strcmp(url, "/metrics") == 0 && s->token &&
	    !http_token_is_right(header(c, MHD_HTTP_HEADER_AUTHORIZATION), s->token))
		return (struct request){ MHD_HTTP_UNAUTHORIZED, "the token is missing or wrong" };
	return (struct request){ 0 };
}

static enum MHD_Result answer_metrics(struct metrics_server *s, struct MHD_Connection *c)
{
	int format = accept_format(header(c, MHD_HTTP_HEADER_ACCEPT));
	const void *bytes;
	size_t len;
	int err;

	if (format < 0)
		return say(c, MHD_HTTP_NOT_ACCEPTABLE,
		           "metrics are text/plain, application/openmetrics-text or protobuf");
	err = s->cfg.page(s->cfg.ctx, (enum metrics_format)format, &bytes, &len);
	if (err)
		return say(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "the metrics cannot be read now");
	return queue(c, MHD_HTTP_OK, format_content_type((enum metrics_format)format),
	             MHD_create_response_from_buffer(len, (void *)(uintptr_t)bytes,
	                                             MHD_RESPMEM_MUST_COPY));
}

static enum MHD_Result answer(struct metrics_server *s, struct MHD_Connection *c, const char *url)
{
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(s, c);
	if (strcmp(url, "/healthz") == 0 || strcmp(url, "/-/healthy") == 0)
		return say(c, MHD_HTTP_OK, "ok");
	if (strcmp(url, "/-/ready") == 0)
		return s->cfg.is_ready(s->cfg.ctx)
		               ? say(c, MHD_HTTP_OK, "ready")
		               : say(c, MHD_HTTP_SERVICE_UNAVAILABLE, "nothing is counted");
	if (strcmp(url, "/") == 0)
		return say(c, MHD_HTTP_OK, "schedscope: metrics are at /metrics");
	return say(c, MHD_HTTP_NOT_FOUND, "not found; metrics are at /metrics");
}

/* NOLINTNEXTLINE(readability-function-size): so many parameters has the library */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_len, void **slot)
{
	static char seen; /* its address says that the header was checked */
	struct metrics_server *s = ctx;
	struct request r;

	(void)version;
	(void)upload;
	if (*upload_len) {
		*upload_len = 0;
		return MHD_YES;
	}
	if (*slot == &seen)
		return answer(s, c, url); /* in the time that the client has for all of it */
	*slot = &seen;
	r = check(s, c, url, method);
	if (r.status)
		return say(c, r.status, r.why);
	http_peer_is_allowed(&s->peers, c);
	return MHD_YES;
}

static void on_completed(void *ctx, struct MHD_Connection *c, void **slot,
                         enum MHD_RequestTerminationCode code)
{
	struct metrics_server *s = ctx;

	(void)slot;
	(void)code;
	http_peer_is_done(&s->peers, c);
}

static unsigned int nr_connections(const struct metrics_server *s)
{
	const union MHD_DaemonInfo *info =
		s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
			  : NULL;

	return info ? info->num_connections : 0;
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **slot,
                          enum MHD_ConnectionNotificationCode code)
{
	struct metrics_server *s = ctx;

	http_peers_notify(&s->peers, c, slot, code);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		s->is_crowded |= nr_connections(s) > SILENT_MAX;
	else
		s->has_room = true;
}

static void on_log(void *ctx, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
static void on_log(void *ctx, const char *fmt, va_list args)
{
	char line[256];

	(void)ctx;
	vsnprintf(line, sizeof(line), fmt, args);
	line[strcspn(line, "\n")] = '\0';
	log_debug("HTTP: %s", line);
}

static int start(struct metrics_server *s, int fd, struct diag *d)
{
	s->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
	                             s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
	                             MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED,
	                             on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
	                             s, MHD_OPTION_CONNECTION_LIMIT,
	                             CONNECTIONS_MAX + CONNECTIONS_SPARE,
	                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
	                             MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S,
	                             MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	return s->daemon ? 0 : diag_set(d, -EIO, NULL, "cannot serve %s", s->url);
}

static int listen_on(struct metrics_server *s, const struct http_address *address, struct diag *d)
{
	SCOPED(scoped_close) int fd = http_listen(address, d, &s->hosts.port);
	int err;

	if (fd < 0)
		return fd;
	snprintf(s->url, sizeof(s->url), "http://%s:%u/metrics", address->text,
	         (unsigned int)s->hosts.port);
	err = start(s, fd, d);
	if (!err)
		(void)TAKE_FD(fd); /* the daemon closes it */
	return err;
}

int metrics_server_reload(struct metrics_server *s, struct diag *d)
{
	char *token = NULL;
	int err = s->cfg.token_file ? http_token_read(s->cfg.token_file, true, d, &token) : 0;

	if (err || !token)
		return err;
	free(s->token);
	s->token = token;
	return 0;
}

int metrics_server_open(const struct metrics_server_cfg *cfg, struct diag *d,
                        struct metrics_server **out)
{
	struct http_address address;
	struct metrics_server *s;
	int err = http_address_parse(cfg->address, d, &address);

	if (!err)
		err = http_address_check(&address, cfg->allows_remote, cfg->token_file, d);
	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->cfg = *cfg;
	s->hosts = (struct http_hosts){ .names = cfg->hosts,
		                        .nr = cfg->nr_hosts,
		                        .takes_addresses = !address.is_loopback };
	s->peers = (struct http_peers){ .timeout_ns = TIMEOUT_S * HTTP_NS_PER_SECOND,
		                        .idle_ns = IDLE_S * HTTP_NS_PER_SECOND,
		                        .nr_max = CONNECTIONS_MAX,
		                        .nr_idle = SILENT_MAX };
	err = metrics_server_reload(s, d);
	if (!err)
		err = listen_on(s, &address, d);
	if (err) {
		metrics_server_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void metrics_server_close(struct metrics_server *s)
{
	if (!s)
		return;
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	free(s->token);
	free(s);
}

const char *metrics_server_url(const struct metrics_server *s)
{
	return s->url;
}

int metrics_server_fd(const struct metrics_server *s)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

static int keeper_ms(const struct metrics_server *s)
{
	return s->is_crowded ? CROWDED_MS : KEEPER_MS;
}

/* While there are connections their deadlines are looked at now and then. */
int metrics_server_wait_ms(const struct metrics_server *s)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int wait = s->peers.first ? keeper_ms(s) : -1;

	if (s->has_room)
		return 0;
	if (MHD_get_timeout(s->daemon, &ms) == MHD_YES && (wait < 0 || ms < (unsigned int)wait))
		wait = (int)ms;
	return wait;
}

void metrics_server_run(struct metrics_server *s)
{
	uint64_t now_ns = clock_boot_ns();

	s->has_room = false;
	(void)MHD_run(s->daemon);
	if (now_ns - s->checked_ns < (uint64_t)keeper_ms(s) * 1000000U)
		return;
	s->checked_ns = now_ns;
	s->is_crowded = http_peers_check(&s->peers);
}
