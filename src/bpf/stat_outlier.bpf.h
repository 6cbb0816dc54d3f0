/* bpf/stat_outlier — long waits, one record each, with what ran on that CPU before. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "bpf/kernel.bpf.h"
#include "bpf/stat_maps.bpf.h"
#include "bpf/stat_task.bpf.h"

static __always_inline void fill_slice(struct stat_slice *s, struct task_struct *p, __u64 start,
                                       __u64 end)
{
	s->start_ns = start;
	s->end_ns = end;
	s->tid = (__u32)p->pid;
	s->tgid = (__u32)p->tgid;
	bpf_probe_read_kernel(s->comm, sizeof(s->comm), p->comm);
}

/* Any task, wanted or not: it held the CPU. */
static __always_inline void remember_switch(struct stat_cpu *c, struct task_struct *prev,
                                            struct task_struct *next, __u64 now, __u32 cpu)
{
	struct stat_history *h = bpf_map_lookup_elem(&histories, &cpu);

	if (!h)
		return;
	if (c->since_ns && c->running_tid == (__u32)prev->pid) {
		fill_slice(&h->slices[h->next & (STAT_HISTORY - 1)], prev, c->since_ns, now);
		h->next++;
	}
	fill_slice(&h->running, next, now, 0);
}

static __noinline int send_outlier(struct stat_task *st, __u64 ns, __u64 now, __u32 cpu)
{
	__u32 wait_cpu = st->wait_cpu;
	struct stat_history *h = bpf_map_lookup_elem(&histories, &wait_cpu);
	/* Tasks that end need the other half of the ring: what they were would be lost for good. */
	bool has_room = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) <
	                2 * (__u64)cfg.ring_wake_bytes;
	struct stat_outlier *o = has_room ? bpf_ringbuf_reserve(&ring, sizeof(*o), 0) : NULL;

	if (!o) {
		count_lost(STAT_LOST_OUTLIER);
		return 0;
	}
	o->rec.size = sizeof(*o);
	o->rec.kind = STAT_REC_OUTLIER;
	o->rec.is_last = 0;
	o->rec.mask = 0;
	o->at_ns = now;
	o->wait_ns = ns;
	o->cause = st->wait_cause;
	o->cpu = cpu;
	o->wait_cpu = wait_cpu;
	o->tid = st->id.tid;
	o->tgid = st->id.tgid;
	o->pad_ = 0;
	o->cgroup_id = st->id.cgroup_id;
	__builtin_memcpy(o->comm, st->id.comm, sizeof(o->comm));
	if (!h || bpf_probe_read_kernel(&o->history, sizeof(o->history), h))
		o->history.next = 0;
	bpf_ringbuf_submit(o, ring_flags());
	return 0;
}
