#include "trace/inflate.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/budget.h"

#define FIRST_BYTES (64U << 10)
#define WINDOW_LOG  27               /* zstd: more than its own tools use by default */
#define ANY_HEADER  (MAX_WBITS + 32) /* zlib's or gzip's */

enum inflate_kind inflate_sniff(const uint8_t *bytes, size_t len)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };

	if (len >= sizeof(gzip) && memcmp(bytes, gzip, sizeof(gzip)) == 0)
		return INFLATE_ZLIB;
	if (len >= sizeof(zstd) && memcmp(bytes, zstd, sizeof(zstd)) == 0)
		return INFLATE_ZSTD;
	return INFLATE_NONE;
}

/* Room behind what there is, by doubling. */
static int make_room(struct inflated *out, const struct inflate_cfg *cfg)
{
	size_t size = out->size ? 2 * out->size : FIRST_BYTES;
	uint8_t *bytes;

	if (out->len < out->size)
		return 0;
	if (out->len >= cfg->limit)
		return -E2BIG;
	if (size > cfg->limit)
		size = cfg->limit;
	if (!budget_take(cfg->budget, size - out->size))
		return -E2BIG;
	bytes = realloc(out->bytes, size);
	if (!bytes) {
		budget_give(cfg->budget, size - out->size);
		return -ENOMEM;
	}
	out->bytes = bytes;
	out->size = size;
	return 0;
}

static unsigned int chunk_of(size_t left)
{
	return left < UINT_MAX ? (unsigned int)left : UINT_MAX;
}

/* One step of zlib: as much as fits. Z_OK, Z_STREAM_END, or an error. */
static int zlib_step(z_stream *z, const uint8_t *bytes, size_t len, size_t *taken,
                     struct inflated *out)
{
	unsigned int in_len = chunk_of(len - *taken), room = chunk_of(out->size - out->len);
	int ret;

	z->next_in = (Bytef *)(uintptr_t)(bytes + *taken);
	z->avail_in = in_len;
	z->next_out = out->bytes + out->len;
	z->avail_out = room;
	ret = inflate(z, Z_NO_FLUSH);
	*taken += in_len - z->avail_in;
	out->len += room - z->avail_out;
	return ret;
}

static int unpack_zlib(const struct inflate_cfg *cfg, const uint8_t *bytes, size_t len,
                       struct inflated *out)
{
	z_stream z = { 0 };
	size_t taken = 0;
	int err = 0, ret = Z_OK;

	if (inflateInit2(&z, ANY_HEADER) != Z_OK)
		return -ENOMEM;
	while (!err && taken < len) {
		err = make_room(out, cfg);
		if (err)
			break;
		ret = zlib_step(&z, bytes, len, &taken, out);
		/* Zeroes after the last member are padding of tapes and old tools. */
		if (ret == Z_STREAM_END && taken < len && bytes[taken] == 0)
			break;
		if (ret == Z_STREAM_END && taken < len)
			(void)inflateReset(&z);
		else if (ret == Z_MEM_ERROR)
			err = -ENOMEM;
		else if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
			err = -EBADMSG;
	}
	/* All is read and the buffer was full: there may be more behind it. */
	while (!err && ret == Z_OK) {
		size_t before = out->len;

		err = make_room(out, cfg);
		if (err)
			break;
		ret = zlib_step(&z, bytes, len, &taken, out);
		if (out->len == before)
			break;
	}
	(void)inflateEnd(&z);
	if (err)
		return err;
	return ret == Z_STREAM_END ? 0 : -EBADMSG;
}

static int unpack_zstd(const struct inflate_cfg *cfg, const uint8_t *bytes, size_t len,
                       struct inflated *out)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = { .src = bytes, .size = len };
	size_t left = 1;
	int err = z ? 0 : -ENOMEM;

	if (!err && ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG)))
		err = -ENOMEM;
	while (!err) {
		ZSTD_outBuffer to;
		size_t before_in = in.pos, before_out = out->len;

		err = make_room(out, cfg);
		if (err)
			break;
		to = (ZSTD_outBuffer){ .dst = out->bytes, .size = out->size, .pos = out->len };
		left = ZSTD_decompressStream(z, &to, &in);
		out->len = to.pos;
		if (ZSTD_isError(left) ||
		    (in.pos == before_in && out->len == before_out && in.pos < len))
			err = -EBADMSG;
		else if (in.pos == len && (left == 0 || to.pos < to.size))
			break;
	}
	ZSTD_freeDCtx(z);
	if (err)
		return err;
	return left ? -EBADMSG : 0;
}

/* What doubling took too much. */
static void shrink(struct inflated *out, const struct inflate_cfg *cfg)
{
	size_t size = out->len ? out->len : 1;
	uint8_t *bytes = out->size > size ? realloc(out->bytes, size) : NULL;

	if (!bytes)
		return;
	budget_give(cfg->budget, out->size - size);
	out->bytes = bytes;
	out->size = size;
}

int inflate_all(const struct inflate_cfg *cfg, const uint8_t *bytes, size_t len,
                struct inflated *out)
{
	int err = -EINVAL;

	if (cfg->kind == INFLATE_ZLIB)
		err = unpack_zlib(cfg, bytes, len, out);
	else if (cfg->kind == INFLATE_ZSTD)
		err = unpack_zstd(cfg, bytes, len, out);
	shrink(out, cfg);
	return err;
}
