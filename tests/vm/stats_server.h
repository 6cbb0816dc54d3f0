/*
 * A server of scx_stats for the test schedulers: one JSON object per line each way, over a Unix socket. It knows the
 * requests "stats" and "stats_meta"; a connection may carry many. Shares nothing with src/.
 */
#pragma once

#include <jansson.h>

struct stats_source {
	json_t *(*stats)(void *ctx); /* a new object; called on any thread */
	json_t *(*meta)(void *ctx);
	void *ctx;
};

/* Serves until the process ends; 0 or a negative errno. The source stays the caller's and must stay. */
int stats_server_start(const char *path, const struct stats_source *source);
