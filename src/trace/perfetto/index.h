/*
 * trace/perfetto/index — the first pass over the bytes of a trace: packets are found, what describes is read, what happened
 * is noted for later. See reader_priv.
 */
#pragma once

#include "trace/inflate.h"
#include "trace/perfetto/perfetto_in.h"

/* Packets in a row, or one block that holds packets in compressed form. */
struct segment {
	const uint8_t *bytes;
	size_t len;
	enum inflate_kind kind;
	struct inflated plain;
	int err;
};

/* The whole pass over the bytes of a plain trace. 0, -ENOMEM or -E2BIG. */
MUST_USE int index_trace(struct reader *r, const uint8_t *bytes, size_t len);
/* Frees what index_trace() unpacked; packets point into it. */
void index_done(struct reader *r);

/* Of one packet: what comes before the payload. */
struct packet_head_in {
	uint64_t ts; /* NO_TS = none */
	uint32_t clock_id;
	uint32_t seq;
	uint32_t flags;
	uint32_t dropped;
	uint32_t machine;
	bool has_uid, has_pid;
	bool has_interned, has_defaults;
	uint32_t payload; /* its number; 0 = none */
	struct pb_in body;
};

/* Payloads that describe; 0 or -ENOMEM. */
MUST_USE int meta_packet(struct reader *r, const struct packet_head_in *head,
                         struct name_when when);
/* Evidence that a bundle gives. */
void meta_bundle(struct reader *r, const struct packet_head_in *head);
/* Interned data and defaults of one sequence. */
MUST_USE int interned_add(struct reader *r, uint32_t table, struct pb_in data);
MUST_USE int interned_link(struct reader *r);
void interned_done(struct reader *r);
