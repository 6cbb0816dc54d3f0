/*
 * bpf/events_io — packets, pages and files that are written out, as the kernel's own tracepoints describe them. Packets are not
 * filtered: most are received in interrupts.
 */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/event_cfg.h"
#include "bpf/events_filter.bpf.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"

static __always_inline int put_net(struct net_device *dev, __u32 bytes, __u32 is_sent)
{
	struct slot s;
	struct ev_net *e = begin(&s, EV_NET, sizeof(*e));

	if (!e)
		return 0;
	e->bytes = bytes;
	e->is_sent = is_sent;
	if (bpf_probe_read_kernel_str(e->name, sizeof(e->name), &dev->name) < 0)
		e->name[0] = 0;
	end(&s);
	return 0;
}

/* Only what the device took: the others are sent again. */
SEC("tp_btf/net_dev_xmit")
int on_net_xmit(__u64 *ctx)
{
	return (int)ctx[1] ? 0 : put_net((struct net_device *)ctx[2], (__u32)ctx[3], 1);
}

SEC("tp_btf/netif_receive_skb")
int on_net_receive(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];

	return put_net(skb->dev, skb->len, 0);
}

static __always_inline int put_memory(__u8 step, __u8 order)
{
	struct ev_memory *e;
	struct slot s;

	if (!is_wanted(bpf_get_current_task_btf()))
		return 0;
	e = begin(&s, EV_MEMORY, sizeof(*e));
	if (!e)
		return 0;
	e->tid = current_tid();
	e->step = step;
	e->order = order;
	e->pad_ = 0;
	end(&s);
	return 0;
}

SEC("tp_btf/mm_page_alloc")
int on_page_alloc(__u64 *ctx)
{
	return ctx[0] ? put_memory(EV_PAGE_ALLOC, (__u8)ctx[1]) : 0;
}

SEC("tp_btf/mm_page_free")
int on_page_free(__u64 *ctx)
{
	return put_memory(EV_PAGE_FREE, (__u8)ctx[1]);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_begin")
int on_reclaim_begin(__u64 *ctx)
{
	return put_memory(EV_RECLAIM_BEGIN, (__u8)ctx[0]);
}

SEC("tp_btf/mm_vmscan_direct_reclaim_end")
int on_reclaim_end(__u64 *ctx)
{
	(void)ctx;
	return put_memory(EV_RECLAIM_END, 0);
}

static __always_inline int put_fsync(struct inode *inode, __u32 is_end)
{
	struct ev_fsync *e;
	struct slot s;

	if (!is_wanted(bpf_get_current_task_btf()))
		return 0;
	e = begin(&s, EV_FSYNC, sizeof(*e));
	if (!e)
		return 0;
	e->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	e->inode = BPF_CORE_READ(inode, i_ino);
	e->tid = current_tid();
	e->is_end = is_end;
	end(&s);
	return 0;
}

SEC("tp_btf/ext4_sync_file_enter")
int on_fsync_begin(__u64 *ctx)
{
	struct file *file = (struct file *)ctx[0];

	return put_fsync(file->f_inode, 0);
}

SEC("tp_btf/ext4_sync_file_exit")
int on_fsync_end(__u64 *ctx)
{
	return put_fsync((struct inode *)ctx[0], 1);
}
