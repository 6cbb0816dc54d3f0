/*
 * serve/server — metrics over HTTP: /metrics in the format that the client accepts, /healthz, /-/ready.
 *
 * In the caller's thread: server_fd() is readable, or server_wait_ms() over, when server_run() has something to do. Connections, the size of requests and
 * their time are bounded (http/http_peers); requests with a body are refused. /metrics needs the token, if there is one; without one, Host must
 * name this machine where only this machine can connect (http/http_guard). Pages that were just made are shown again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "serve/accept.h"

#define SERVE_ADDRESS "127.0.0.1:9435"

struct metrics_server;

struct metrics_server_cfg {
	const char *address;
	const char *token_file; /* NULL = none */
	bool allows_remote;
	const char *const *hosts; /* names that Host may have besides localhost */
	size_t nr_hosts;
	/* Bytes of the page, valid until the next call; or a negative errno. */
	int (*page)(void *ctx, enum metrics_format format, const void **bytes, size_t *len);
	bool (*is_ready)(void *ctx);
	void *ctx;
};

/* The token and the socket, which may take rights. */
MUST_USE int metrics_server_open(const struct metrics_server_cfg *cfg, struct diag *d,
                                 struct metrics_server **out);
void metrics_server_close(struct metrics_server *s); /* NULL is fine */
/* The token as its file has it now; after a failure the one before stays. */
MUST_USE int metrics_server_reload(struct metrics_server *s, struct diag *d);
const char *metrics_server_url(const struct metrics_server *s);

int metrics_server_fd(const struct metrics_server *s);
int metrics_server_wait_ms(const struct metrics_server *s); /* -1 = forever */
void metrics_server_run(struct metrics_server *s);
