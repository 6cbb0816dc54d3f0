#include "trace/perfetto/write/chunk_out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/write_all.h"
#include "trace/perfetto/schema.h"

/* Higher levels take longer and save nothing on columns of varints. */
#define COMPRESSION_LEVEL 1

int chunk_open(struct chunk_out *c, int fd, bool is_compressed, struct diag *d)
{
	*c = (struct chunk_out){
		.packets.cap = CHUNK_BYTES + CHUNK_PACKET_MAX,
		.packed.cap = CHUNK_PACKED_MAX,
		.is_compressed = is_compressed,
		.fd = fd,
		.start = lseek(fd, 0, SEEK_CUR),
	};
	if (is_compressed && deflateInit(&c->zlib, COMPRESSION_LEVEL) != Z_OK) {
		c->is_compressed = false;
		(void)chunk_close(c);
		return diag_set(d, -ENOMEM, NULL, "cannot compress the trace");
	}
	return 0;
}

int chunk_close(struct chunk_out *c)
{
	if (c->is_compressed)
		deflateEnd(&c->zlib);
	pb_done(&c->packets);
	pb_done(&c->packed);
	if (close(c->fd) < 0 && !c->diag.code)
		diag_set(&c->diag, -errno, "the end of the trace may be missing",
		         "cannot finish the trace");
	c->fd = -1;
	return c->diag.code;
}

/* Cuts the file back to whole packets. Where that fails, readers stop at the half one. */
static int take_back(struct chunk_out *c, int err)
{
	const char *hint = err == -ENOSPC ? "free some space; what was written so far can be used"
	                                  : "what was written so far can be used";
	off_t end = (off_t)(c->start + (int64_t)c->nr_bytes);

	if (c->start >= 0 && ftruncate(c->fd, end) == 0)
		(void)lseek(c->fd, end, SEEK_SET);
	return diag_set(&c->diag, err, hint, "cannot write the trace after %llu bytes",
	                (unsigned long long)c->nr_bytes);
}

static int write_out(struct chunk_out *c, const struct pb *from)
{
	int err = write_all(c->fd, from->buf, from->len);

	if (err)
		return take_back(c, err);
	c->nr_bytes += from->len;
	return 0;
}

static int compress_chunk(struct chunk_out *c)
{
	struct pb_mark packet, body;
	uLong bound = deflateBound(&c->zlib, c->packets.len);

	pb_clear(&c->packed);
	packet = pb_begin_large(&c->packed, TRACE_PACKET);
	body = pb_begin_large(&c->packed, PACKET_COMPRESSED_PACKETS);
	if (pb_reserve(&c->packed, bound)) {
		c->zlib.next_in = c->packets.buf;
		c->zlib.avail_in = (uInt)c->packets.len;
		c->zlib.next_out = c->packed.buf + c->packed.len;
		c->zlib.avail_out = (uInt)bound;
		if (deflate(&c->zlib, Z_FINISH) != Z_STREAM_END)
			c->packed.error = -EIO;
		c->packed.len += bound - c->zlib.avail_out;
		deflateReset(&c->zlib);
	}
	pb_end(&c->packed, body);
	pb_end(&c->packed, packet);
	if (c->packed.error)
		return diag_set(&c->diag, c->packed.error, NULL, "cannot compress the trace");
	return 0;
}

int chunk_flush(struct chunk_out *c)
{
	int err;

	if (c->diag.code)
		return c->diag.code;
	if (c->packets.len == 0)
		return 0;
	err = c->is_compressed ? compress_chunk(c) : 0;
	if (!err)
		err = write_out(c, c->is_compressed ? &c->packed : &c->packets);
	pb_clear(&c->packets);
	return err;
}

int chunk_packet_done(struct chunk_out *c)
{
	if (c->packets.error)
		diag_set(&c->diag, c->packets.error, NULL,
		         "cannot hold the next part of the trace");
	if (c->diag.code || c->packets.len >= CHUNK_BYTES)
		return chunk_flush(c);
	return 0;
}
