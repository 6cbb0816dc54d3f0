/*
 * bpf/stat_dsq — dispatch queues of sched_ext: how long tasks wait in them, what slices they give, how deep they are.
 *
 * Insertions are seen in dispatch_enqueue(). A CPU that takes a task from a queue moves it to its own, mostly without
 * a further call, so an insertion into a CPU's queue does not end the stay in another: that ends with the switch to the
 * task. Tasks of one queue come and go on several CPUs at a time: all counters of queues are atomic.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/stat.h"
#include "bpf/kernel.bpf.h"
#include "bpf/stat_maps.bpf.h"
#include "bpf/stat_task.bpf.h"

#define SCX_ENQ_DSQ_PRIQ (1ULL << 57) /* in the order of vtime */
#define PEAK_TRIES       4

struct dsq_moment {
	__u64 now;
	__u32 cpu;
	__u32 tid;
	__u32 epoch;
};

/* Who comes in the same moment with more wins; after some rounds against others this one is given up. */
static __always_inline void peak_take(struct stat_peak *peaks, __u64 value,
                                      const struct dsq_moment *m)
{
	struct stat_peak *p = &peaks[m->epoch & 1];
	__u64 tag = m->epoch & 0xffff, mine, old;

	if (value > STAT_PEAK_MAX)
		value = STAT_PEAK_MAX;
	mine = (tag << STAT_PEAK_BITS) | value;
	for (int i = 0; i < PEAK_TRIES; i++) {
		old = *(volatile __u64 *)&p->packed;
		if ((old >> STAT_PEAK_BITS) == tag && (old & STAT_PEAK_MAX) >= value)
			return;
		if (__sync_val_compare_and_swap(&p->packed, old, mine) != old)
			continue;
		p->at_ns = m->now;
		p->cpu = m->cpu;
		p->tid = m->tid;
		barrier();
		p->noted = mine;
		return;
	}
	count_lost(STAT_LOST_DSQ);
}

static __always_inline void dsq_record(struct stat_dsq_hist *h, __u64 ns,
                                       const struct dsq_moment *m)
{
	__u64 slot;

	if ((__s64)ns < 0) /* clocks of two CPUs may differ by nanoseconds */
		ns = 0;
	slot = hist_slot(ns);
	barrier_var(slot);
	if (slot >= HIST_SLOTS) /* never: for the verifier */
		return;
	__sync_fetch_and_add(&h->slots[slot], 1);
	__sync_fetch_and_add(&h->sum_ns, ns);
	peak_take(h->peaks, ns, m);
	peak_take(h->lows, ns < STAT_PEAK_MAX ? STAT_PEAK_MAX - ns : 0, m);
}

static __always_inline struct stat_dsq *dsq_find(__u64 id, bool is_made)
{
	struct stat_dsq_key key = { .id = id, .scheduler_nr = scheduler_nr };
	struct stat_dsq *d = bpf_map_lookup_elem(&dsqs, &key);
	__u32 zero = 0;
	void *z;

	if (d || !is_made)
		return d;
	z = bpf_map_lookup_elem(&zeroes, &zero);
	if (z) /* another CPU may have been first */
		(void)bpf_map_update_elem(&dsqs, &key, z, BPF_NOEXIST);
	d = bpf_map_lookup_elem(&dsqs, &key);
	if (!d)
		count_lost(STAT_LOST_DSQ);
	return d;
}

/* The first one has nothing to be compared with. */
static __always_inline void dsq_take_vtime(struct stat_dsq_vtime *v, __u64 vtime,
                                           const struct dsq_moment *m)
{
	__u64 before = __sync_lock_test_and_set(&v->last, vtime);
	__s64 delta = (__s64)(vtime - before);

	if (!__sync_fetch_and_add(&v->count, 1))
		return;
	__sync_fetch_and_add(&v->sum, (__u64)delta);
	if (delta >= 0) {
		peak_take(v->ahead, (__u64)delta, m);
		return;
	}
	__sync_fetch_and_add(&v->nr_behind, 1);
	peak_take(v->behind, (__u64)-delta, m);
}

static __always_inline void dsq_take_depth(struct stat_dsq *d, __u64 depth,
                                           const struct dsq_moment *m)
{
	__u64 slot = depth < STAT_DEPTH_SLOTS ? depth : STAT_DEPTH_SLOTS - 1;

	barrier_var(slot);
	slot &= STAT_DEPTH_SLOTS - 1; /* for the verifier */
	__sync_fetch_and_add(&d->depths[slot], 1);
	__sync_fetch_and_add(&d->depth_sum, depth);
	peak_take(d->depth_peaks, depth, m);
}

/* Not under the task's lock, so its state is only looked at. */
static __always_inline bool is_insertion_wanted(struct task_struct *p)
{
	struct stat_task *st;

	if (!p->pid || !is_id_wanted(p))
		return false;
	if (!cfg.filter_cgroup)
		return true;
	st = bpf_task_storage_get(&tasks, p, 0, 0);
	return st && !st->is_muted;
}

/* Whether it is news: not if a task on its way from a queue to a CPU passes by that of the CPU. */
static __always_inline bool dsq_note(struct task_struct *p, __u64 id, __u64 now, bool *is_moved)
{
	struct stat_queued *q = bpf_task_storage_get(&queued, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct stat_dsq *from;
	bool is_waiting;

	if (!q) {
		count_lost(STAT_LOST_STORAGE);
		return false;
	}
	is_waiting = q->at_ns && q->scheduler_nr == scheduler_nr && q->dsq_id != STAT_DSQ_LOCAL;
	if (is_waiting && id == STAT_DSQ_LOCAL)
		return false;
	*is_moved = is_waiting && q->dsq_id != id;
	from = *is_moved ? dsq_find(q->dsq_id, false) : NULL;
	if (from)
		__sync_fetch_and_add(&from->moved_out, 1);
	q->dsq_id = id;
	q->scheduler_nr = scheduler_nr;
	q->at_ns = now;
	return true;
}

static __always_inline void dsq_insert(struct scx_dispatch_q *dsq, struct task_struct *p,
                                       __u64 flags)
{
	struct dsq_moment m = {
		.now = bpf_ktime_get_boot_ns(),
		.cpu = bpf_get_smp_processor_id(),
		.tid = (__u32)p->pid,
		.epoch = epoch,
	};
	struct stat_cpu *c = this_cpu();
	bool is_moved = false;
	struct stat_dsq *d;

	if (c)
		c->events[STAT_EV_DSQ]++;
	if (dsq->id == STAT_DSQ_INVALID || !is_insertion_wanted(p) ||
	    !dsq_note(p, dsq->id, m.now, &is_moved))
		return;
	d = dsq_find(dsq->id, true);
	if (!d)
		return;
	__sync_fetch_and_add(&d->inserts, 1);
	if (is_moved)
		__sync_fetch_and_add(&d->moved_in, 1);
	if (dsq->id != STAT_DSQ_LOCAL) /* each CPU has one of that id */
		d->nr_now = (__u64)dsq->nr + 1;
	dsq_take_depth(d, (__u64)dsq->nr + 1, &m);
	if (flags & SCX_ENQ_DSQ_PRIQ)
		dsq_take_vtime(&d->vtime, p->scx.dsq_vtime, &m);
}

/* Under the queue's lock. */
static __always_inline void dsq_remove(struct scx_dispatch_q *dsq)
{
	struct stat_dsq *d = dsq->id == STAT_DSQ_LOCAL ? NULL : dsq_find(dsq->id, false);

	if (d && dsq->nr)
		d->nr_now = dsq->nr - 1;
}

static __always_inline void dsq_take_slice(struct stat_runs *runs, struct stat_dsq *d, __u64 slice,
                                           const struct dsq_moment *m)
{
	if ((__s64)slice < 0) { /* SCX_SLICE_INF */
		if (d)
			__sync_fetch_and_add(&d->endless, 1);
		return;
	}
	runs->nr_given++;
	runs->given_ns += slice;
	if (d)
		dsq_record(&d->given, slice, m);
}

/* The task comes on a CPU. */
static __always_inline void dsq_begin_run(struct stat_task *st, struct task_struct *p, __u64 now,
                                          __u32 cpu)
{
	struct stat_queued *q = bpf_task_storage_get(&queued, p, 0, 0);
	struct dsq_moment m = { now, cpu, (__u32)p->pid, epoch };
	__u64 since = q ? q->at_ns : 0;
	struct stat_dsq *d;

	if (!q)
		return;
	q->at_ns = 0;
	q->run_nr = 0;
	if (!since || q->scheduler_nr != scheduler_nr) /* that of one that is gone */
		return;
	if (!q->id.tid)
		q->id = st->id;
	q->run_nr = scheduler_nr;
	q->run_ns = now;
	q->run_dsq_id = q->dsq_id;
	q->runs.dsq_id = q->dsq_id;
	q->runs.nr++;
	record_sample(&q->hist, m.epoch, now - since, now, cpu);
	task_news(st);
	d = dsq_find(q->dsq_id, true);
	if (d) {
		__sync_fetch_and_add(&d->runs, 1);
		dsq_record(&d->latency, now - since, &m);
	}
	dsq_take_slice(&q->runs, d, p->scx.slice, &m);
}

/* The task leaves its CPU. */
static __always_inline void dsq_end_run(struct stat_task *st, struct task_struct *p, __u64 now,
                                        __u32 cpu)
{
	struct stat_queued *q = bpf_task_storage_get(&queued, p, 0, 0);
	struct dsq_moment m = { now, cpu, (__u32)p->pid, epoch };
	struct stat_dsq *d;

	if (!q || !q->run_nr)
		return;
	if (q->run_nr == scheduler_nr) {
		if (!q->id.tid)
			q->id = st->id;
		q->runs.nr_used++;
		q->runs.used_ns += now - q->run_ns;
		task_news(st);
		d = dsq_find(q->run_dsq_id, true);
		if (d)
			dsq_record(&d->used, now - q->run_ns, &m);
	}
	q->run_nr = 0;
}
