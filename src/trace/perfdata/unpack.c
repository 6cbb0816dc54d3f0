/*
 * Records that are packed with zstd: one stream in pieces, whose records go on in the next piece. What is unpacked is read
 * at once and not kept, so that memory does not depend on it.
 */
#include "trace/perfdata/perfdata.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#define BUFFER_BYTES (4U * PD_RECORD_MAX)
#define WINDOW_LOG   27
#define MAX_RATIO    256U
#define SMALL_FILE   (64ULL << 20) /* may be unpacked from however little */

struct pd_unpack {
	ZSTD_DCtx *z;
	bool is_broken; /* nothing of the stream can be read after damage */
	size_t len;     /* of the beginning of a record */
	uint8_t bytes[BUFFER_BYTES];
};

void pd_unpack_done(struct perfdata *d)
{
	if (!d->unpack)
		return;
	if (d->unpack->len && !d->err)
		d->r->tally.damage[DAMAGE_TRUNCATED_BYTES] += d->unpack->len;
	ZSTD_freeDCtx(d->unpack->z);
	free(d->unpack);
	d->unpack = NULL;
}

static struct pd_unpack *get(struct perfdata *d)
{
	struct pd_unpack *u = d->unpack;

	if (u)
		return u;
	u = calloc(1, sizeof(*u));
	d->unpack = u;
	if (!u) {
		pd_fail(d, -ENOMEM);
		return NULL;
	}
	u->z = ZSTD_createDCtx();
	if (!u->z || ZSTD_isError(ZSTD_DCtx_setParameter(u->z, ZSTD_d_windowLogMax, WINDOW_LOG))) {
		pd_fail(d, -ENOMEM);
		return NULL;
	}
	return u;
}

/* Packed records within packed ones are never written. */
static void read_whole_records(struct perfdata *d, struct pd_unpack *u)
{
	struct bytes_in in = pd_in_of(d, u->bytes, u->len);
	struct pd_record rec;

	while (!d->err && pd_record_next(d, &in, &rec))
		if (rec.type == PD_COMPRESSED || rec.type == PD_COMPRESSED2)
			pd_damage(d, DAMAGE_PERF_BAD);
		else
			pd_record(d, &rec);
	if (bytes_left(&in) >= PD_HEADER_BYTES && pd_u16(d, in.at + 6) < PD_HEADER_BYTES)
		u->is_broken = true;
	u->len = bytes_left(&in);
	memmove(u->bytes, in.at, u->len);
}

static void broken(struct perfdata *d, struct pd_unpack *u)
{
	u->is_broken = true;
	u->len = 0;
	pd_damage(d, DAMAGE_INFLATE_FAILED);
	if (!d->r->info.incomplete)
		d->r->info.incomplete = "its packed records are damaged";
}

static uint64_t limit_of(const struct perfdata *d)
{
	uint64_t limit = d->file_len > UINT64_MAX / MAX_RATIO ? UINT64_MAX
	                                                      : (uint64_t)d->file_len * MAX_RATIO;

	return limit < SMALL_FILE ? SMALL_FILE : limit;
}

static void unpack(struct perfdata *d, struct pd_unpack *u, ZSTD_inBuffer in)
{
	bool is_full = true;

	/* A full buffer may have left more of it in the stream. */
	while (!d->err && !u->is_broken && (in.pos < in.size || is_full)) {
		ZSTD_outBuffer out = { .dst = u->bytes, .size = sizeof(u->bytes), .pos = u->len };
		size_t before_in = in.pos, before_out = out.pos,
		       left = ZSTD_decompressStream(u->z, &out, &in);

		is_full = out.pos == out.size;
		d->nr_unpacked += out.pos - before_out;
		u->len = out.pos;
		if (ZSTD_isError(left) || d->nr_unpacked > limit_of(d) ||
		    (in.pos == before_in && out.pos == before_out && in.pos < in.size)) {
			broken(d, u);
			return;
		}
		read_whole_records(d, u);
		if (in.pos == before_in && out.pos == before_out)
			return;
	}
	if (u->is_broken)
		broken(d, u);
}

void pd_unpack(struct perfdata *d, const struct pd_record *rec)
{
	struct pd_unpack *u = get(d);
	const uint8_t *at = rec->bytes + PD_HEADER_BYTES;
	uint64_t len = rec->size - PD_HEADER_BYTES;

	d->nr_records--; /* what is in it counts */
	if (d->err || !u)
		return;
	if (rec->type == PD_COMPRESSED2) { /* says its length, as it is padded */
		uint64_t size = len >= 8 ? pd_u64(d, at) : 0;

		len = len >= 8 && size <= len - 8 ? size : 0;
		at += 8;
	}
	if (!len || u->is_broken) {
		pd_damage(d, DAMAGE_INFLATE_FAILED);
		return;
	}
	unpack(d, u, (ZSTD_inBuffer){ .src = at, .size = (size_t)len });
}
