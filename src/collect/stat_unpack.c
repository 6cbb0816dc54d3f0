#include "collect/stat_unpack.h"

#include <errno.h>
#include <string.h>

#define HEAD_BYTES  offsetof(struct abi_hist, slots)
#define BLOCK_BYTES (HIST_BLOCK_SLOTS * sizeof(__u32))

/* What is left to read. */
struct cursor {
	const char *at;
	size_t left;
};

static int take(struct cursor *c, void *dst, size_t bytes)
{
	if (c->left < bytes)
		return -EBADMSG;
	memcpy(dst, c->at, bytes);
	c->at += bytes;
	c->left -= bytes;
	return 0;
}

static int unpack_hist(struct cursor *c, struct abi_hist *out)
{
	if (take(c, out, HEAD_BYTES) || (out->blocks >> HIST_BLOCKS))
		return -EBADMSG;
	memset(out->slots, 0, sizeof(out->slots));
	for (unsigned int b = 0; b < HIST_BLOCKS; b++)
		if ((out->blocks & (1U << b)) &&
		    take(c, &out->slots[b * HIST_BLOCK_SLOTS], BLOCK_BYTES))
			return -EBADMSG;
	return 0;
}

static int unpack_task(struct cursor *c, union stat_unpacked *out)
{
	unsigned int nr = 0;

	if (take(c, &out->task.task, sizeof(out->task.task)))
		return -EBADMSG;
	if (out->rec.mask >> STAT_STORED_METRICS)
		return -EBADMSG;
	for (unsigned int m = 0; m < STAT_STORED_METRICS; m++)
		if ((out->rec.mask & (1U << m)) && unpack_hist(c, &out->task.hists[nr++]))
			return -EBADMSG;
	return (int)(sizeof(out->task.task) + nr * sizeof(struct abi_hist));
}

static int unpack_waking(struct cursor *c, union stat_unpacked *out)
{
	if (take(c, &out->waking, offsetof(struct stat_waking, hist)) ||
	    unpack_hist(c, &out->waking.hist))
		return -EBADMSG;
	return (int)sizeof(out->waking);
}

int stat_unpack(const struct stat_rec *rec, size_t len, union stat_unpacked *out)
{
	struct cursor c = { (const char *)rec, len };
	int size = -EBADMSG;

	if (len < sizeof(*rec) || rec->size != len)
		return -EBADMSG;
	if (rec->kind == (STAT_REC_TASK | STAT_REC_PACKED))
		size = unpack_task(&c, out);
	else if (rec->kind == (STAT_REC_WAKING | STAT_REC_PACKED))
		size = unpack_waking(&c, out);
	if (size < 0 || c.left)
		return -EBADMSG;
	out->rec.kind &= (__u16)~STAT_REC_PACKED;
	out->rec.size = (__u32)size;
	return size;
}
