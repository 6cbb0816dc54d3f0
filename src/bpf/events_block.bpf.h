/*
 * bpf/events_block — steps of block requests, as the kernel's own tracepoints describe them. Not filtered: many are issued
 * by kernel threads, and completed in interrupts.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/events_filter.bpf.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"

#define MINOR_BITS  20
#define SECTOR_BITS 9
#define NO_SECTOR   (~0ULL) /* of a flush */
#define RWBS_MASK   ((1ULL << 8 * (sizeof(((struct ev_block *)0)->rwbs) - 1)) - 1)

/* enum req_op; the numbers have not changed since Linux 4.8. */
enum {
	OP_READ,
	OP_WRITE,
	OP_FLUSH,
	OP_DISCARD,
	OP_SECURE_ERASE = 5,
	OP_DRV_IN = 34,
	OP_DRV_OUT,
	OP_MASK = 0xff,
};

#define HAS(flags, bit) ((flags) >> bpf_core_enum_value(enum req_flag_bits, bit) & 1)

/* At most seven letters, the first in the lowest byte. */
static __always_inline __u64 add_letter(__u64 letters, __u32 *bits, char letter)
{
	letters |= (__u64)letter << (*bits & 63);
	*bits += 8;
	return letters;
}

/* What blk_fill_rwbs() says, but for zones, which are none of these: N. */
static __always_inline __u64 rwbs_of(__u32 flags)
{
	__u32 op = flags & OP_MASK, bits = 0;
	__u64 letters = 0;

	if (HAS(flags, __REQ_PREFLUSH))
		letters = add_letter(letters, &bits, 'F');
	if (op == OP_READ)
		letters = add_letter(letters, &bits, 'R');
	else if (op == OP_WRITE)
		letters = add_letter(letters, &bits, 'W');
	else if (op == OP_FLUSH)
		letters = add_letter(letters, &bits, 'F');
	else if (op == OP_DISCARD || op == OP_SECURE_ERASE)
		letters = add_letter(letters, &bits, 'D');
	else
		letters = add_letter(letters, &bits, 'N');
	if (op == OP_SECURE_ERASE)
		letters = add_letter(letters, &bits, 'E');
	if (HAS(flags, __REQ_FUA))
		letters = add_letter(letters, &bits, 'F');
	if (HAS(flags, __REQ_RAHEAD))
		letters = add_letter(letters, &bits, 'A');
	if (HAS(flags, __REQ_SYNC))
		letters = add_letter(letters, &bits, 'S');
	if (HAS(flags, __REQ_META))
		letters = add_letter(letters, &bits, 'M');
	return letters & RWBS_MASK;
}

static __always_inline int put_block(struct request *rq, __u8 step, __u32 bytes)
{
	struct slot s;
	struct ev_block *e = begin(&s, EV_BLOCK, sizeof(*e));
	struct gendisk *disk;
	__u32 flags, op;
	__u64 rwbs;

	if (!e)
		return 0;
	disk = rq->q->disk;
	flags = rq->cmd_flags;
	op = flags & OP_MASK;
	e->dev = disk ? (__u64)BPF_CORE_READ(disk, major) << MINOR_BITS |
	                         (__u32)BPF_CORE_READ(disk, first_minor)
	              : 0;
	e->sector = rq->__sector == NO_SECTOR || op == OP_DRV_IN || op == OP_DRV_OUT ? 0
	                                                                             : rq->__sector;
	e->nr_sectors = op == OP_DRV_IN || op == OP_DRV_OUT ? 0 : bytes >> SECTOR_BITS;
	e->tid = current_tid();
	rwbs = rwbs_of(flags) << 8 | step; /* the letters lie behind the step */
	__builtin_memcpy(&e->step, &rwbs, sizeof(rwbs));
	end(&s);
	return 0;
}

SEC("tp_btf/block_rq_insert")
int on_block_insert(__u64 *ctx)
{
	struct request *rq = (struct request *)ctx[0];

	return put_block(rq, EV_BLOCK_INSERT, rq->__data_len);
}

SEC("tp_btf/block_rq_issue")
int on_block_issue(__u64 *ctx)
{
	struct request *rq = (struct request *)ctx[0];

	return put_block(rq, EV_BLOCK_ISSUE, rq->__data_len);
}

/* Before the waiters for it are woken. */
SEC("tp_btf/block_rq_complete")
int on_block_complete(__u64 *ctx)
{
	return put_block((struct request *)ctx[0], EV_BLOCK_COMPLETE, (__u32)ctx[2]);
}
