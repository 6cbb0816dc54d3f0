/*
 * mcp/http/http_stream — the messages of one stream of server-sent events, numbered, the last ones
 * kept for clients that resume.
 *
 * Bounded: beyond STREAM_MAX_EVENTS or STREAM_MAX_BYTES the oldest are evicted; a reader that had
 * not reached them has lost the stream. Its user locks. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "mcp/link.h"

#define STREAM_MAX_EVENTS 256U
#define STREAM_MAX_BYTES  (1U << 20)

struct http_event;

struct http_stream {
	uint32_t id;
	struct http_event *first, *last;
	size_t nr;
	size_t bytes;
	uint64_t last_seq; /* of the newest event; 0 = none yet */
	uint64_t lost_seq; /* of the newest that was thrown away */
	uint64_t sent_seq; /* of the newest that some reader has got */
	bool is_quiet;     /* takes the answer alone */
	bool has_no_ids;   /* its events cannot be resumed */
	enum mcp_end end;  /* how it has ended */
	bool is_ended;     /* no more messages come */
	bool is_events;    /* its reader gets events, not one plain answer */
	uint64_t ended_ns;
	uint64_t left_ns; /* when its reader went */
	bool is_given_up; /* what it waits for is cancelled */
	bool is_pinned;   /* read without the lock: it stays */
	void *reader;     /* the present reader; NULL = none */
	struct http_stream *next;
};

/* Where a reader is: the event that it gets next, and how much of that it has. */
struct http_cursor {
	uint64_t seq;
	size_t offset;
};

void http_stream_done(struct http_stream *s);
/* One message. -ENOMEM. */
MUST_USE int http_stream_put(struct http_stream *s, const char *json, size_t len);
/* The newest message as it was put; NULL if there is none. */
const char *http_stream_newest(const struct http_stream *s, size_t *len);
/* After the event seq, or, if that has gone, from the oldest that is kept. */
struct http_cursor http_stream_after(const struct http_stream *s, uint64_t seq);
bool http_stream_has_lost(const struct http_stream *s, const struct http_cursor *at);
/* Text of events for a reader; 0 = nothing yet. -ESTALE: it was too slow. */
ssize_t http_stream_read(struct http_stream *s, struct http_cursor *at, char *buf, size_t size);
