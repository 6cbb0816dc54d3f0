/* bpf/stat_outlier — long waits, one record each, with what ran on that CPU before. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "bpf/kernel.bpf.h"
#include "bpf/stat_maps.bpf.h"

static __always_inline void remember_slice(struct task_struct *p, __u64 start, __u64 now, __u32 cpu)
{
	struct stat_history *h = bpf_map_lookup_elem(&histories, &cpu);
	struct stat_slice *s;

	if (!h)
		return;
	s = &h->slices[h->next & (STAT_HISTORY - 1)];
	s->start_ns = start;
	s->end_ns = now;
	s->tid = (__u32)p->pid;
	s->tgid = (__u32)p->tgid;
	bpf_probe_read_kernel(s->comm, sizeof(s->comm), p->comm);
	h->next++;
}

static __noinline int send_outlier(struct stat_task *st, __u64 ns, __u64 now, __u32 cpu)
{
	__u32 wait_cpu = st->wait_cpu;
	struct stat_history *h = bpf_map_lookup_elem(&histories, &wait_cpu);
	struct stat_outlier *o = bpf_ringbuf_reserve(&ring, sizeof(*o), 0);

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
	__builtin_memcpy(o->comm, st->id.comm, sizeof(o->comm));
	if (!h || bpf_probe_read_kernel(&o->history, sizeof(o->history), h))
		o->history.next = 0;
	bpf_ringbuf_submit(o, BPF_RB_NO_WAKEUP);
	return 0;
}
