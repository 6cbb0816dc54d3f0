/*
 * mcp/event_stream — the live events for clients: filtered, bounded, from where the reader left off.
 *
 * One request type serves the resource events://stream, its subscriptions and the tool get_events. Events have
 * numbers that only grow; a reader gives the last one it has seen (the cursor) and gets what came since, the oldest
 * first, and how many were overwritten meanwhile. Without a cursor it gets the newest. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/json_write.h"

#define STREAM_TYPES_LEN 256U
#define STREAM_COMM_LEN  128U
#define STREAM_LIMIT_MAX 1000U

struct event_filter;
struct live_feed;

struct stream_request {
	char types[STREAM_TYPES_LEN]; /* separated by commas; "" = the usual ones */
	bool has_cpu;
	uint32_t cpu;
	bool has_pid;
	uint32_t pid;               /* a thread */
	char comm[STREAM_COMM_LEN]; /* an expression; "" = any */
	bool has_min_latency;
	double min_latency_us;
	double sample_rate; /* 1 = all */
	bool has_cursor;
	uint64_t cursor;
	uint64_t limit;
	size_t max_bytes;  /* of all events together */
	uint64_t kinds;    /* by types: to be collected */
	uint64_t reported; /* by types: to be reported */
};

/* types, cpu, pid, comm, cursor, limit of a URI's query; what is absent has its default. */
MUST_USE int stream_request_parse(const char *query, struct stream_request *out, struct diag *d);
/* After the fields have been filled otherwise: kinds and reported from types. */
MUST_USE int stream_request_settle(struct stream_request *r, struct diag *d);
/* NULL where nothing has to be asked for beyond types and CPU. */
MUST_USE int stream_request_filter(const struct stream_request *r, struct diag *d,
                                   struct event_filter **out);

/*
 * Members: events, count, next_cursor, has_more, dropped, observed; searches_aborted and incomplete where searches for
 * comm were given up. Attaches for a while if nothing else does.
 */
MUST_USE int event_stream_put(struct live_feed *f, const struct stream_request *r,
                              struct json_writer *out, struct diag *d);
/* searches_aborted and incomplete, unless nr is 0: names that a pattern of the client matches may be missing. */
void event_stream_put_aborted(struct json_writer *out, uint64_t nr);
/* The number of the newest event after *scanned that is wanted, or match; *scanned moves on. Never waits for the stream. */
uint64_t event_stream_newest(struct live_feed *f, const struct stream_request *r,
                             const struct event_filter *filter, uint64_t match, uint64_t *scanned);
