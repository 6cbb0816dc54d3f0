/*
 * sys/scx/scx_stats — asks a sched_ext scheduler for its own statistics, over the socket that those of the scx project serve.
 *
 * One JSON object per line each way. A scheduler that hangs, or gives an invalid or too long
 * answer, ends in a diag, within the given time. Many schedulers report the differences since the
 * last request on the same connection. Blocks; any thread.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/diag.h"

#define SCX_STATS_PATH "/var/run/scx/root/stats"

/*
 * What it answered to "stats" or "stats_meta", as JSON text to be freed. -ENOTCONN: no server is
 * there; else the request failed.
 */
MUST_USE int scx_stats_ask(const char *path, const char *request, unsigned int timeout_ms,
                           struct diag *d, char **out);
/* A connection for more than one question: a descriptor to be closed. -ENOTCONN. */
MUST_USE int scx_stats_connect(const char *path, struct diag *d, int *out);
/* After a failure the connection is of no use. */
MUST_USE int scx_stats_ask_on(int fd, const char *request, unsigned int timeout_ms, struct diag *d,
                              char **out);
/* JSON in lines, for people; to be freed. NULL if it is none, or without memory. */
char *scx_stats_pretty(const char *json);
/* The same from a line of answer. */
MUST_USE int scx_stats_parse(const char *line, size_t len, struct diag *d, char **out);
