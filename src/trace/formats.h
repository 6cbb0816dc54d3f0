/*
 * trace/formats — the formats that the reader knows, one function each; private to src/trace.
 *
 * is_format() decides by the first bytes of the (unpacked) file, of which there may be few. read() takes them all: it
 * fills r, decodes and merges into the sink; 0 or the first error, which it has put into d unless it is a plain -ENOMEM,
 * -E2BIG or an error of the sink. Damage is counted in r->tally and skipped.
 */
#pragma once

#include "trace/reader_priv.h"

struct trace_format {
	const char *name; /* "a Perfetto trace" */
	bool (*is_format)(const uint8_t *bytes, size_t len);
	int (*read)(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
	            struct diag *d);
};

/* Which of them it is; NULL if none. */
const struct trace_format *trace_format_of(const uint8_t *bytes, size_t len);
/* Says what the bytes are instead, and what to do then: -EINVAL. */
int reader_not_a_trace(const struct trace_bytes *in, struct diag *d);

/* perfetto/read.c, perfdata/read.c, tracedat/dat_read.c */
bool perfetto_is_format(const uint8_t *bytes, size_t len);
int perfetto_read(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
                  struct diag *d);
bool perfdata_is_format(const uint8_t *bytes, size_t len);
int perfdata_read(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
                  struct diag *d);
bool tracedat_is_format(const uint8_t *bytes, size_t len);
int tracedat_read(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
                  struct diag *d);

/* text/read.c: text of ftrace (trace, trace_pipe, systrace's HTML), of trace-cmd report and of perf script. */
bool text_is_format(const uint8_t *bytes, size_t len);
int text_read(struct reader *r, const struct trace_bytes *in, const struct ev_sink *sink,
              struct diag *d);
