#include "collect/stat/stat_unpack.h"

#include <errno.h>
#include <string.h>

#define PARTS       (STAT_REC_PACKED | STAT_REC_HAS_DEPTH | STAT_REC_HAS_COUNTERS)
#define BLOCK_BYTES (HIST_BLOCK_SLOTS * sizeof(__u32))

/* What is left to read. */
struct unpack_cursor {
	const char *at;
	size_t left;
};

static int take(struct unpack_cursor *c, void *dst, size_t bytes)
{
	if (c->left < bytes)
		return -EBADMSG;
	memcpy(dst, c->at, bytes);
	c->at += bytes;
	c->left -= bytes;
	return 0;
}

/* The blocks of slots that are present; the others are not read. */
static int take_blocks(struct unpack_cursor *c, __u32 blocks, __u32 *slots, unsigned int nr_blocks)
{
	if (nr_blocks < 32 && (blocks >> nr_blocks))
		return -EBADMSG;
	for (size_t b = 0; b < nr_blocks; b++)
		if ((blocks & (1U << b)) && take(c, &slots[b * HIST_BLOCK_SLOTS], BLOCK_BYTES))
			return -EBADMSG;
	return 0;
}

static int unpack_hist(struct unpack_cursor *c, struct abi_hist *out)
{
	if (take(c, out, offsetof(struct abi_hist, slots)))
		return -EBADMSG;
	return take_blocks(c, out->blocks, out->slots, HIST_BLOCKS);
}

static int unpack_depth(struct unpack_cursor *c, struct stat_depth *out)
{
	if (take(c, out, offsetof(struct stat_depth, slots)))
		return -EBADMSG;
	return take_blocks(c, out->blocks, out->slots, STAT_DEPTH_BLOCKS);
}

/* Unchanged depths and counters are not sent: zeroes mean "as before". */
static int unpack_task_head(struct unpack_cursor *c, __u16 kind, struct stat_task *out)
{
	const size_t head = offsetof(struct stat_task, depth);

	memset((char *)out + head, 0, sizeof(*out) - head);
	if (take(c, out, head))
		return -EBADMSG;
	if ((kind & STAT_REC_HAS_DEPTH) && unpack_depth(c, &out->depth))
		return -EBADMSG;
	if ((kind & STAT_REC_HAS_COUNTERS) &&
	    take(c, &out->counter_slices, sizeof(out->counter_slices) + sizeof(out->counters)))
		return -EBADMSG;
	return 0;
}

static int unpack_task(struct unpack_cursor *c, __u16 kind, union stat_unpacked *out)
{
	unsigned int nr = 0;

	if (unpack_task_head(c, kind, &out->task.task) || (out->rec.mask >> STAT_STORED_METRICS))
		return -EBADMSG;
	for (unsigned int m = 0; m < STAT_STORED_METRICS; m++)
		if ((out->rec.mask & (1U << m)) && unpack_hist(c, &out->task.hists[nr++]))
			return -EBADMSG;
	return (int)(sizeof(out->task.task) + nr * sizeof(struct abi_hist));
}

static int unpack_waking(struct unpack_cursor *c, union stat_unpacked *out)
{
	if (take(c, &out->waking, offsetof(struct stat_waking, hist)) ||
	    unpack_hist(c, &out->waking.hist))
		return -EBADMSG;
	return (int)sizeof(out->waking);
}

static int unpack_queued(struct unpack_cursor *c, union stat_unpacked *out)
{
	if (take(c, &out->queued, offsetof(struct stat_queued, hist)) ||
	    unpack_hist(c, &out->queued.hist))
		return -EBADMSG;
	return (int)sizeof(out->queued);
}

int stat_unpack(const struct stat_rec *rec, size_t len, union stat_unpacked *out)
{
	struct unpack_cursor c = { (const char *)rec, len };
	int size = -EBADMSG;

	if (len < sizeof(*rec) || rec->size != len)
		return -EBADMSG;
	if ((rec->kind & STAT_REC_PACKED) && (rec->kind & ~PARTS) == STAT_REC_TASK)
		size = unpack_task(&c, rec->kind, out);
	else if (rec->kind == (STAT_REC_WAKING | STAT_REC_PACKED))
		size = unpack_waking(&c, out);
	else if (rec->kind == (STAT_REC_QUEUED | STAT_REC_PACKED))
		size = unpack_queued(&c, out);
	if (size < 0 || c.left)
		return -EBADMSG;
	out->rec.kind &= (__u16)~PARTS;
	out->rec.size = (__u32)size;
	return size;
}
