/*
 * trace/perfetto/write/chunk_out — whole packets to a file, one write(2) per chunk.
 *
 * Packets are appended to .packets; chunk_packet_done() after each. What is on disk is always a sequence
 * of whole packets: a write that fails half-way is taken back where the file allows it. After the first
 * failure nothing more is written, and every call returns it; .diag says what happened. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/pb_write.h"

#define CHUNK_BYTES      (256U << 10) /* written out from here on */
#define CHUNK_PACKED_MAX (512U << 10) /* of a compressed packet */
#define CHUNK_PACKET_MAX (128U << 10) /* no packet is larger, so that a chunk stays below 512 kB */

struct chunk_out {
	struct pb packets;
	struct pb packed; /* the same as one compressed packet */
	z_stream zlib;
	bool is_compressed;
	int fd;
	int64_t start;     /* offset of our first byte; -1 where there are no offsets */
	uint64_t nr_bytes; /* on disk, whole packets */
	struct diag diag;
};

/* Takes the descriptor over, also on failure. */
MUST_USE int chunk_open(struct chunk_out *c, int fd, bool is_compressed, struct diag *d);
/* Closes without writing; what close(2) says if nothing failed before. */
int chunk_close(struct chunk_out *c);
MUST_USE int chunk_packet_done(struct chunk_out *c);
MUST_USE int chunk_flush(struct chunk_out *c);
