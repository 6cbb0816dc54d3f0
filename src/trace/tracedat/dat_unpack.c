/* Blocks that trace-cmd compressed: each says how long it was, so it is unpacked in one go. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/budget.h"
#include "trace/tracedat/dat.h"

#define BLOCK_MAX (1U << 30) /* larger than any that trace-cmd writes */

static int make_room(struct dat *dat, size_t size, struct inflated *out)
{
	uint8_t *bytes;

	if (size <= out->size)
		return 0;
	if (!budget_take(dat->r->cfg.budget, size - out->size))
		return -E2BIG;
	bytes = realloc(out->bytes, size);
	if (!bytes) {
		budget_give(dat->r->cfg.budget, size - out->size);
		return -ENOMEM;
	}
	out->bytes = bytes;
	out->size = size;
	return 0;
}

static bool unpack_zstd(struct dat *dat, struct bytes_in block, struct inflated *out)
{
	size_t len;

	if (!dat->zstd)
		dat->zstd = ZSTD_createDCtx();
	if (!dat->zstd)
		return false;
	len = ZSTD_decompressDCtx(dat->zstd, out->bytes, out->size, block.at,
	                          (size_t)bytes_left(&block));
	out->len = ZSTD_isError(len) ? 0 : len;
	return !ZSTD_isError(len);
}

static bool unpack_zlib(struct bytes_in block, struct inflated *out)
{
	uLongf len = out->size;

	if (uncompress(out->bytes, &len, block.at, (uLong)bytes_left(&block)) != Z_OK)
		return false;
	out->len = len;
	return true;
}

int dat_unpack(struct dat *dat, struct bytes_in block, uint32_t plain_bytes, struct inflated *out)
{
	bool is_good = false;
	int err;

	if (!plain_bytes || plain_bytes > BLOCK_MAX || plain_bytes > dat->left_unpacked)
		return -EBADMSG;
	dat->left_unpacked -= plain_bytes;
	err = make_room(dat, plain_bytes, out);
	if (err)
		return err;
	out->len = 0;
	if (dat->packing == INFLATE_ZSTD)
		is_good = unpack_zstd(dat, block, out);
	else if (dat->packing == INFLATE_ZLIB)
		is_good = unpack_zlib(block, out);
	return is_good ? 0 : -EBADMSG;
}

void dat_unpack_done(struct dat *dat)
{
	ZSTD_freeDCtx(dat->zstd);
	dat->zstd = NULL;
}

void dat_inflated_done(struct dat *dat, struct inflated *out)
{
	budget_give(dat->r->cfg.budget, out->size);
	free(out->bytes);
	*out = (struct inflated){ 0 };
}
