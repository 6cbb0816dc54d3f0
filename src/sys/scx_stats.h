/*
 * sys/scx_stats — asks a sched_ext scheduler for its own statistics, over the socket that those of the scx project serve.
 *
 * One JSON object per line each way. A scheduler that hangs, talks nonsense or too much ends in a diag, within the time that
 * was given for all of it. One connection per question. Blocks; any thread.
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "base/diag.h"

#define SCX_STATS_PATH "/var/run/scx/root/stats"

/* What it answered to "stats" or "stats_meta", as JSON text to be freed. -ENOTCONN: nobody is there; else the request failed. */
MUST_USE int scx_stats_ask(const char *path, const char *request, unsigned int timeout_ms,
                           struct diag *d, char **out);
/* The same from a line of answer. */
MUST_USE int scx_stats_parse(const char *line, size_t len, struct diag *d, char **out);
