/*
 * serve/serve — the daemon: brings the sums up to date, answers scrapes, writes the file for node_exporter and Parquet files, until a signal ends it.
 *
 * One thread for all of it. A scrape shows what happened up to that moment: the sums are brought up to date for it, but at
 * most ten times a second, however many scrape. In between they are read now and then, so that nothing in the kernel fills up.
 * SIGHUP reads the token again and asks for other groups, SIGINT and SIGTERM end it. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "serve/blame.h"
#include "serve/columns.h"
#include "serve/server.h"
#include "serve/source.h"
#include "serve/sums.h"

struct serve;

struct serve_cfg {
	const char *version;
	bool has_all_buckets;
	const struct metrics_server_cfg *http; /* without page, is_ready and ctx; NULL = no HTTP */
	/* Puts a page where node_exporter finds it; NULL = none. */
	int (*write_file)(void *ctx, const void *bytes, size_t len, struct diag *d);
	uint64_t file_ns; /* so often */
	/* The groups that are wanted now, on SIGHUP; NULL = they never change. */
	int (*groups)(void *ctx, struct stat_groups *out, struct diag *d);
	void *ctx;
};

/* Opens the socket, and blocks the signals. */
MUST_USE int serve_open(const struct serve_cfg *cfg, struct diag *d, struct serve **out);
void serve_close(struct serve *s);            /* NULL is fine */
const char *serve_url(const struct serve *s); /* NULL without HTTP */
/* What it counts from, and into: lent. */
struct serve_input {
	struct serve_source *source;
	struct serve_blame *blame; /* NULL = not asked for */
	struct dumps *dumps;       /* of a flight recorder; NULL = none */
	struct columns *columns;   /* Parquet files; NULL = none */
	struct sums *sums;
};
/* 0 when a signal ended it. */
MUST_USE int serve_run(struct serve *s, const struct serve_input *in, struct diag *d);
