/*
 * bpf/stat_dsq — dispatch queues of sched_ext: how long tasks wait in them, what slices they give, how deep they are.
 *
 * Insertions are seen in dispatch_enqueue(). A CPU that takes a task from a queue moves it to its own, mostly without a
 * further call, so an insertion into a CPU's queue does not end the stay in another: that ends with the switch to the
 * task. Tasks enter and leave one queue on several CPUs at a time: all counters of queues are atomic.
 *
 * Insertions are seen by fentry or kprobe (bpf/scx_args), switches always with a trusted task
 * pointer.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/stat.h"
#include "bpf/kernel.bpf.h"
#include "bpf/scx_args.bpf.h"
#include "bpf/stat_maps.bpf.h"
#include "bpf/stat_task.bpf.h"

#define PEAK_TRIES 4

struct dsq_moment {
	__u64 now;
	__u32 cpu;
	__u32 tid;
	__u32 epoch;
};

/* A concurrent larger value wins; after some failed rounds this one is dropped. */
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

static __always_inline struct stat_stay *stay_by_tid(__u32 tid, bool is_made)
{
	struct stat_stay *s = bpf_map_lookup_elem(&stays_by_tid, &tid), none = { 0 };

	if (s || !is_made)
		return s;
	(void)bpf_map_update_elem(&stays_by_tid, &tid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&stays_by_tid, &tid);
}

/*
 * Of a task that is counted; NULL if it is not. Not under the task's lock, so its state is only
 * read; a kprobe cannot do that: there the last switch to the task has recorded whether its cgroup
 * is wanted.
 */
static __always_inline struct stat_stay *stay_of_wanted(struct task_struct *p, bool has_kprobes)
{
	struct stat_stay *s;
	struct stat_queued *q;
	struct stat_task *st;
	int tid = READ(p, pid);

	if (!tid || !are_ids_wanted(tid, READ(p, tgid)))
		return NULL;
	if (has_kprobes) {
		s = stay_by_tid((__u32)tid, !cfg.filter_cgroup);
		if (cfg.filter_cgroup)
			return s && s->is_wanted ? s : NULL;
	} else {
		st = cfg.filter_cgroup ? bpf_task_storage_get(&tasks, p, 0, 0) : NULL;
		if (cfg.filter_cgroup && (!st || st->is_muted))
			return NULL;
		q = bpf_task_storage_get(&queued, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		s = q ? &q->stay : NULL;
	}
	if (!s)
		count_lost(STAT_LOST_STORAGE);
	return s;
}

/*
 * Whether the insertion counts: not if a task on its way from a queue to a CPU passes through the
 * queue of that CPU.
 */
static __always_inline bool dsq_note(struct stat_stay *s, __u64 id, __u64 now, bool *is_moved)
{
	bool is_waiting = s->at_ns && s->scheduler_nr == scheduler_nr &&
	                  s->dsq_id != STAT_DSQ_LOCAL;
	struct stat_dsq *from;

	if (is_waiting && id == STAT_DSQ_LOCAL)
		return false;
	*is_moved = is_waiting && s->dsq_id != id;
	from = *is_moved ? dsq_find(s->dsq_id, false) : NULL;
	if (from)
		__sync_fetch_and_add(&from->moved_out, 1);
	s->dsq_id = id;
	s->scheduler_nr = scheduler_nr;
	s->at_ns = now;
	return true;
}

static __always_inline void dsq_insert(struct scx_dispatch_q *dsq, struct task_struct *p,
                                       __u64 flags, bool has_kprobes)
{
	struct dsq_moment m = {
		.now = bpf_ktime_get_boot_ns(),
		.cpu = bpf_get_smp_processor_id(),
		.tid = (__u32)READ(p, pid),
		.epoch = epoch,
	};
	__u64 id = READ(dsq, id), depth = (__u64)READ(dsq, nr) + 1;
	struct stat_cpu *c = this_cpu();
	bool is_moved = false;
	struct stat_stay *s;
	struct stat_dsq *d;

	if (c)
		c->events[STAT_EV_DSQ]++;
	s = id == STAT_DSQ_INVALID ? NULL : stay_of_wanted(p, has_kprobes);
	if (!s || !dsq_note(s, id, m.now, &is_moved))
		return;
	d = dsq_find(id, true);
	if (!d)
		return;
	__sync_fetch_and_add(&d->inserts, 1);
	if (is_moved)
		__sync_fetch_and_add(&d->moved_in, 1);
	if (id != STAT_DSQ_LOCAL) /* each CPU has one of that id */
		d->nr_now = depth;
	dsq_take_depth(d, depth, &m);
	if (flags & SCX_ENQ_DSQ_PRIQ)
		dsq_take_vtime(&d->vtime, READ(p, scx.dsq_vtime), &m);
}

/* Under the queue's lock. */
static __always_inline void dsq_remove(struct scx_dispatch_q *dsq, bool has_kprobes)
{
	__u64 id = READ(dsq, id), nr = READ(dsq, nr);
	struct stat_dsq *d = id == STAT_DSQ_LOCAL ? NULL : dsq_find(id, false);

	if (d && nr)
		d->nr_now = nr - 1;
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

/* A wanted task is switched in: the queue it was in until now; at_ns is 0 if none. */
static __always_inline struct stat_stay stay_end(struct stat_queued *q, __u32 tid)
{
	struct stat_stay *s = &q->stay, was = { 0 };

	if (cfg.is_dsq_by_kprobe) {
		s = stay_by_tid(tid, cfg.filter_cgroup);
		if (!s)
			return was;
		s->is_wanted = 1;
	}
	was = *s;
	s->at_ns = 0;
	return was;
}

/* The task is switched in. */
static __always_inline void dsq_begin_run(struct stat_task *st, struct task_struct *p, __u64 now,
                                          __u32 cpu)
{
	struct stat_queued *q = bpf_task_storage_get(
		&queued, p, 0, cfg.is_dsq_by_kprobe ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	struct dsq_moment m = { now, cpu, (__u32)p->pid, epoch };
	struct stat_stay stay;
	struct stat_dsq *d;

	if (!q)
		return;
	stay = stay_end(q, m.tid);
	q->run_nr = 0;
	if (!stay.at_ns || stay.scheduler_nr != scheduler_nr) /* that of one that is gone */
		return;
	if (!q->id.tid)
		q->id = st->id;
	q->run_nr = scheduler_nr;
	q->run_ns = now;
	q->run_dsq_id = stay.dsq_id;
	q->runs.dsq_id = stay.dsq_id;
	q->runs.nr++;
	record_sample(&q->hist, m.epoch, now - stay.at_ns, now, cpu);
	task_note_change(st);
	d = dsq_find(stay.dsq_id, true);
	if (d) {
		__sync_fetch_and_add(&d->runs, 1);
		dsq_record(&d->latency, now - stay.at_ns, &m);
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
		task_note_change(st);
		d = dsq_find(q->run_dsq_id, true);
		if (d)
			dsq_record(&d->used, now - q->run_ns, &m);
	}
	q->run_nr = 0;
}
