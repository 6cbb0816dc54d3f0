#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

/* The only global: where messages go and how many, set by main() before threads start. */
static struct {
	enum log_level level;
	log_sink_fn *sink;
	void *sink_ctx;
} log_state = { .level = LOG_WARN };

void log_set_level(enum log_level level)
{
	log_state.level = level;
}

void log_set_sink(log_sink_fn *fn, void *ctx)
{
	log_state.sink = fn;
	log_state.sink_ctx = ctx;
}

void log_print(enum log_level level, const char *fmt, ...)
{
	static const char *const prefix[] = { "error: ", "warning: ", "", "debug: " };
	char line[1024];
	va_list args;

	if (level > log_state.level)
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (log_state.sink)
		log_state.sink(log_state.sink_ctx, level, line);
	else
		fprintf(stderr, "schedscope: %s%s\n", prefix[level], line);
}
