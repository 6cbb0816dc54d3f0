/*
 * live/live_events — the last records as they are at a moment, with the names of their tasks, to be read beside the stream.
 *
 * The log keeps LIVE_WINDOW_NS of records, at most LIVE_LOG_RECORDS in LIVE_LOG_BYTES, while a client follows the stream or
 * the analyzer event_buffer runs. Making a copy takes as long as counting chunks, and copying the last one.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

#define LIVE_LOG_BYTES   ((size_t)16 << 20)
#define LIVE_LOG_RECORDS 100000U

struct event_log;
struct tasks;

struct live_events {
	struct event_log *log; /* by model/event_notes; NULL = none */
	struct tasks *tasks;
	uint64_t base;     /* numbers are counted from behind that one */
	uint64_t sampling; /* one wakeup in so many is recorded */
	uint64_t lost;     /* records, since the feed began */
};

/* -ENOMEM. */
MUST_USE int live_events_copy(const struct live_events *from, struct live_events *out);
void live_events_done(struct live_events *e); /* a zeroed one is fine */
/* Numbers in the log of those behind the base: [first, end). */
uint64_t live_events_first(const struct live_events *e);
uint64_t live_events_end(const struct live_events *e);
