/*
 * base/log — talk on stderr, never results. The level is the one global of the program.
 *
 * Thread-safe: one line is one write. A front end that owns the screen can take the lines instead.
 */
#pragma once

#include "base/attr.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

typedef void log_sink_fn(void *ctx, enum log_level level, const char *line);

void log_set_level(enum log_level level);
void log_set_sink(log_sink_fn *fn, void *ctx); /* NULL restores stderr */
void log_print(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_print(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_print(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_print(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_print(LOG_DEBUG, __VA_ARGS__)
