/* model/event_log_priv — what the files of model/event_log share. */
#pragma once

#include <stdatomic.h>
#include <string.h>

#include "model/event_log.h"

#define EVENT_LOG_UNIT        8U                                   /* places count these bytes */
#define EVENT_LOG_CHUNK_UNITS (1U << 15)                           /* 256 KiB */
#define EVENT_LOG_MAX_CHUNKS  (UINT32_MAX / EVENT_LOG_CHUNK_UNITS) /* places fit into 32 bits */

/*
 * How a record begins in memory; its body follows as it was. A record that does not fit this form, because
 * it has no fixed size or its CPU or time is out of range, has kind 0 here and follows as a whole.
 */
struct short_hdr {
	uint32_t after_ns; /* since base_ns of the chunk */
	uint16_t cpu;
	uint8_t kind;
	uint8_t flags;
};

_Static_assert(sizeof(struct short_hdr) == EVENT_LOG_UNIT, "bodies stay aligned");

/* All but the last one of a log are full, and shared by a log and its snapshots. */
struct log_chunk {
	atomic_uint refs;
	uint32_t nr; /* records */
	uint64_t base_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t kinds;    /* EV_BIT() of those in it */
	uint32_t nr_units; /* in use */
	uint32_t pad_;
	uint64_t data[]; /* EVENT_LOG_CHUNK_UNITS */
};

#define EVENT_LOG_CHUNK_BYTES \
	(sizeof(struct log_chunk) + (size_t)EVENT_LOG_CHUNK_UNITS * EVENT_LOG_UNIT)

/* Places of the records of each bucket next to each other, in the order of the log. */
struct log_index {
	uint32_t nr_buckets; /* a power of two; 0 = not built */
	uint32_t *starts;    /* nr_buckets + 1 */
	uint32_t *order;
	size_t bytes;
};

struct event_log {
	struct event_log_cfg cfg;
	struct log_chunk **chunks;
	uint32_t nr_chunks;
	uint32_t max_chunks;
	bool is_unsorted; /* time went back */
	uint64_t last_ns;
	uint64_t nr;
	uint64_t dropped;
	uint64_t forgotten; /* records, of chunks that are gone */
	uint64_t gone;      /* those chunks */
	uint64_t cut;       /* records that the caps made room of */
	uint64_t last_place;
	struct log_index by_cpu;
	struct log_index by_tid;
};

/* A record where it lies. */
struct log_view {
	uint64_t ts_ns;
	uint32_t cpu;
	uint8_t kind;
	uint16_t size;            /* of the record that comes out */
	uint16_t units;           /* that it takes in the chunk */
	const struct ev_hdr *raw; /* NULL: in short form */
	const uint8_t *body;      /* behind its header */
};

extern const uint16_t event_log_sizes[EV_KIND_MAX];
extern const uint8_t event_log_tid_places[EV_KIND_MAX][EVENT_LOG_MAX_TIDS];

void event_log_index_free(struct log_index *ix);

/* event_log_window.c */
void event_log_chunk_put(struct log_chunk *c); /* the last one frees it */
void event_log_drop_indexes(struct event_log *l);
/* Forgets the oldest chunk of a window, but for the last; false if there is none. */
bool event_log_make_room(struct event_log *l);
/* Forgets what the window and the number of records say, but for the last chunk. */
void event_log_keep_window(struct event_log *l);

static ALWAYS_INLINE void event_log_view(const struct log_chunk *c, uint32_t unit,
                                         struct log_view *out)
{
	const uint64_t *at = c->data + unit;
	struct short_hdr h;

	memcpy(&h, at, sizeof(h));
	out->raw = h.kind ? NULL : (const struct ev_hdr *)(at + 1);
	if (h.kind) {
		out->ts_ns = c->base_ns + h.after_ns;
		out->cpu = h.cpu;
		out->kind = h.kind;
		out->size = event_log_sizes[h.kind];
		out->units = (uint16_t)(out->size / EVENT_LOG_UNIT -
		                        1); /* half of the header goes */
		out->body = (const uint8_t *)(at + 1);
		return;
	}
	out->ts_ns = out->raw->ts_ns;
	out->cpu = out->raw->cpu;
	out->kind = out->raw->kind;
	out->size = out->raw->size;
	out->units = (uint16_t)(out->size / EVENT_LOG_UNIT + 1);
	out->body = (const uint8_t *)(out->raw + 1);
}

/* The tids of a body, each once, 0 left out. */
static ALWAYS_INLINE unsigned int event_log_body_tids(uint8_t kind, const uint8_t *body,
                                                      uint32_t tids[EVENT_LOG_MAX_TIDS])
{
	const uint8_t *places = event_log_tid_places[kind];
	unsigned int nr = 0;
	uint32_t tid;

	for (unsigned int i = 0; i < EVENT_LOG_MAX_TIDS && places[i]; i++) {
		memcpy(&tid, body + places[i] - 1, sizeof(tid));
		if (tid && !(nr && tids[0] == tid))
			tids[nr++] = tid;
	}
	return nr;
}
