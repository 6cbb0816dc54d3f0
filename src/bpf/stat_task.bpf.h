/*
 * bpf/stat_task — the state of a task: whether it is counted, under which name, and when it is
 * sent.
 *
 * task_get() is the entry point. It is called under the lock of the queue that the task is on, so
 * state and identity have one writer at a time.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/record.bpf.h"
#include "bpf/stat_maps.bpf.h"
#include "bpf/stat_pack.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/wanted.bpf.h"

static __always_inline bool has_metric(enum stat_metric m)
{
	return cfg.index[m] >= 0;
}

/* Only for metrics that are on. The offset is a constant to the verifier. */
static __always_inline struct abi_hist *task_hist(struct stat_task *st, enum stat_metric m)
{
	return (void *)(st + 1) + (long)cfg.index[m] * (long)sizeof(struct abi_hist);
}

/* Once per epoch a task enters the list; otherwise this is one comparison. */
static __always_inline void task_note_change(struct stat_task *st)
{
	__u32 now = epoch, at;

	st->nr_samples++;
	if (!cfg.notes_changes || st->changed_epoch == now)
		return;
	st->changed_epoch = now;
	at = __sync_fetch_and_add(&changed[now & 1].nr, 1);
	if (at < STAT_CHANGED_MAX)
		changed[now & 1].tids[at & (STAT_CHANGED_MAX - 1)] = st->id.tid;
}

/* The same in a slot that is known. */
static __always_inline void task_record_at(struct stat_task *st, enum stat_metric m, __u64 slot,
                                           __u64 ns, __u64 now, __u32 cpu)
{
	if (!has_metric(m))
		return;
	record_at(task_hist(st, m), slot, epoch, ns, now, cpu);
	task_note_change(st);
}

static __always_inline void task_record(struct stat_task *st, enum stat_metric m, __u64 ns,
                                        __u64 now, __u32 cpu)
{
	if (!has_metric(m))
		return;
	record_sample(task_hist(st, m), epoch, ns, now, cpu);
	task_note_change(st);
}

static __always_inline bool are_ids_wanted(int tid, int tgid)
{
	if (cfg.filter_tid && (__u32)tid != cfg.filter_tid)
		return false;
	return !cfg.filter_tgid || (__u32)tgid == cfg.filter_tgid;
}

static __always_inline bool is_id_wanted(struct task_struct *p)
{
	return are_ids_wanted(p->pid, p->tgid);
}

/* Everything but the name, which a rename reports before the task has it. */
static __always_inline void fill_id(struct stat_id *id, struct task_struct *p)
{
	id->process_start_ns = p->group_leader->start_boottime;
	id->cgroup_id = task_cgroup_id(p, cfg.is_cgroup_v1);
	id->tid = (__u32)p->pid;
	id->tgid = (__u32)p->tgid;
	bpf_probe_read_kernel(id->process, sizeof(id->process), p->group_leader->comm);
}

static __always_inline void judge(struct stat_task *st, struct task_struct *p)
{
	st->css_set = (__u64)p->cgroups;
	if (!cfg.filter_cgroup)
		return;
	st->filter_generation = filter_generation;
	st->is_muted = !is_cgroup_wanted(p, cfg.is_cgroup_v1);
}

/* The reader polls once per interval; it is woken only when the ring would not last until then. */
static __always_inline __u64 ring_flags(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= cfg.ring_wake_bytes
	               ? BPF_RB_FORCE_WAKEUP
	               : BPF_RB_NO_WAKEUP;
}

static __always_inline void send_packed(struct stat_scratch *s)
{
	__u64 bytes = s->len * sizeof(s->words[0]);

	if (bytes > sizeof(s->words)) /* never: for the verifier */
		return;
	if (bpf_ringbuf_output(&ring, s->words, bytes, ring_flags()))
		count_lost(STAT_LOST_RING);
}

static __always_inline void pack_waking(struct stat_waking *w, struct stat_scratch *s, bool is_last)
{
	struct stat_rec *rec = (void *)s->words;

	s->len = 0;
	pack_words(s, w, WORDS(offsetof(struct stat_waking, hist)));
	pack_hist(s, &w->hist);
	rec->kind = STAT_REC_WAKING | STAT_REC_PACKED;
	rec->is_last = is_last;
	rec->mask = 0;
	rec->size = (__u32)(s->len * sizeof(s->words[0]));
}

static __always_inline void pack_queued(struct stat_queued *q, struct stat_scratch *s, bool is_last)
{
	struct stat_rec *rec = (void *)s->words;

	s->len = 0;
	pack_words(s, q, WORDS(offsetof(struct stat_queued, hist)));
	pack_hist(s, &q->hist);
	rec->kind = STAT_REC_QUEUED | STAT_REC_PACKED;
	rec->is_last = is_last;
	rec->mask = 0;
	rec->size = (__u32)(s->len * sizeof(s->words[0]));
}

/* What a task has counted of a metric so far; 0 for one that is off. */
static __always_inline __u64 metric_ns(struct stat_task *st, enum stat_metric m)
{
	return has_metric(m) ? task_hist(st, m)->sum_ns : 0;
}

/* Times up to a moment, in the record that is on its way; is_running and is_waiting of it are set. */
static __always_inline void fill_times(struct stat_task *st, struct stat_task *out, __u64 at_ns)
{
	__u64 run_ns = st->run_ns, since_ns = st->on_cpu_ns;
	__u64 wait_ns = st->wait_new.ns + metric_ns(st, STAT_DELAY_WOKEN) +
	                metric_ns(st, STAT_DELAY_PREEMPTED);

	if (out->is_running && at_ns > since_ns)
		run_ns += at_ns - since_ns;
	since_ns = st->wait_ns;
	if (out->is_waiting && since_ns && at_ns > since_ns)
		wait_ns += at_ns - since_ns;
	out->times.run_ns = run_ns > st->before.run_ns ? run_ns - st->before.run_ns : 0;
	out->times.wait_ns = wait_ns > st->before.wait_ns ? wait_ns - st->before.wait_ns : 0;
}

/* With the histograms that have samples which were not sent yet; all that have any, if it is the last. */
static __always_inline void pack_task(struct stat_task *st, struct stat_scratch *s, bool is_last)
{
	struct stat_rec *rec = (void *)s->words;

	s->len = 0;
	pack_words(s, st, WORDS(offsetof(struct stat_task, depth)));
	rec->kind = STAT_REC_TASK | STAT_REC_PACKED;
	rec->is_last = is_last;
	rec->mask = 0;
	if (cfg.has_depth && (is_last || st->depth.count != st->depth.sent_count)) {
		rec->kind |= STAT_REC_HAS_DEPTH;
		pack_depth(s, &st->depth);
	}
	if (cfg.nr_counters) {
		rec->kind |= STAT_REC_HAS_COUNTERS;
		pack_words(s, &st->counter_slices, 1 + STAT_COUNTERS);
	}
	for (int m = 0; m < STAT_STORED_METRICS; m++) {
		if (!has_metric(m) || !task_hist(st, m)->count ||
		    (!is_last && task_hist(st, m)->count == task_hist(st, m)->sent_count))
			continue;
		rec->mask |= (__u8)(1U << m);
		pack_hist(s, task_hist(st, m));
	}
	rec->size = (__u32)(s->len * sizeof(s->words[0]));
}

static __always_inline void send_waking(struct task_struct *p, struct stat_scratch *s)
{
	struct stat_waking *w = bpf_task_storage_get(&wakings, p, 0, 0);
	__u32 zero = 0;
	void *z = bpf_map_lookup_elem(&zeroes, &zero);

	if (!w || !z || !w->hist.count)
		return;
	pack_waking(w, s, true);
	send_packed(s);
	w->id.tid = 0; /* renamed with its next sample */
	bpf_probe_read_kernel(&w->hist, sizeof(w->hist), z);
}

static __always_inline void send_queued(struct task_struct *p, struct stat_scratch *s)
{
	struct stat_queued *q = bpf_task_storage_get(&queued, p, 0, 0);
	__u32 zero = 0;
	void *z = bpf_map_lookup_elem(&zeroes, &zero);

	if (!q || !z || !q->id.tid)
		return;
	pack_queued(q, s, true);
	send_packed(s);
	q->id.tid = 0;
	bpf_probe_read_kernel(&q->sent_used, sizeof(*q) - offsetof(struct stat_queued, sent_used),
	                      z);
}

/*
 * Sends everything counted for a task under its present name, finally. It is marked before it is
 * sent: a reader of the record must not see the same counters again in the drain.
 */
static __always_inline void send_last(struct stat_task *st, struct task_struct *p, __u64 now)
{
	__u32 which = SCRATCH_RING;
	struct stat_scratch *s = bpf_map_lookup_elem(&scratches, &which);

	st->is_gone = 1;
	if (!s)
		return;
	if (st->nr_samples) {
		struct stat_task *out = (void *)s->words;

		pack_task(st, s, true);
		out->is_running = !!st->on_cpu_ns;
		out->is_waiting = !!st->wait_ns;
		if (cfg.has_times)
			fill_times(st, out, now);
		send_packed(s);
	}
	if (cfg.has_waking)
		send_waking(p, s);
	if (cfg.has_dsq)
		send_queued(p, s);
}

/* Drop open intervals when a task enters or leaves the filter. */
static __always_inline void forget_stamps(struct stat_task *st, struct task_struct *p)
{
	__u32 tid = (__u32)p->pid;
	struct stat_waking *w;
	struct stat_queued *q;

	st->wait_ns = 0;
	st->on_cpu_ns = 0;
	st->off_cpu_ns = 0;
	st->waking_ns = 0;
	st->sleep_kind = 0;
	q = cfg.has_dsq ? bpf_task_storage_get(&queued, p, 0, 0) : NULL;
	if (q)
		q->stay.at_ns = q->run_nr = 0;
	if (cfg.is_dsq_by_kprobe)
		(void)bpf_map_delete_elem(&stays_by_tid, &tid);
	if (!cfg.has_waking)
		return;
	w = bpf_task_storage_get(&wakings, p, 0, 0);
	if (w)
		w->waking_ns = 0;
}

/*
 * Renames write alternately to two places: the latest name does not change while the next one is
 * written.
 */
static __always_inline void take_name(struct stat_task *st, struct task_struct *p, __u8 nr_renames)
{
	const char *name = (nr_renames & 1) ? st->next_comm[1] : st->next_comm[0];

	__builtin_memcpy(st->id.comm, name, sizeof(st->id.comm));
	if (p->pid == p->tgid)
		__builtin_memcpy(st->id.process, name, sizeof(st->id.process));
	st->nr_names = nr_renames;
}

/*
 * A new name or cgroup: what was counted so far stays with the old one, and counting starts from
 * zero.
 */
static __always_inline void change_identity(struct stat_task *st, struct task_struct *p)
{
	__u64 now = bpf_ktime_get_boot_ns();
	__u8 nr_renames = st->nr_renames;
	__u32 zero = 0;
	void *z = bpf_map_lookup_elem(&zeroes, &zero);

	if (!z)
		return;
	send_last(st, p, now);
	bpf_probe_read_kernel(&st->nr_samples,
	                      cfg.value_bytes - offsetof(struct stat_task, nr_samples), z);
	if (st->on_cpu_ns)
		st->before.run_ns = now - st->on_cpu_ns;
	if (st->wait_ns)
		st->before.wait_ns = now - st->wait_ns;
	st->id.generation++;
	fill_id(&st->id, p);
	if (st->nr_names != nr_renames)
		take_name(st, p, nr_renames);
	st->is_gone = 0;
}

/* Something may have changed: the name, the set of cgroups, or what the filter wants. */
static __noinline int recheck(struct stat_task *st, struct task_struct *p)
{
	bool was_muted = st->is_muted;

	judge(st, p);
	if (st->nr_names != st->nr_renames ||
	    st->id.cgroup_id != task_cgroup_id(p, cfg.is_cgroup_v1) || was_muted != st->is_muted)
		change_identity(st, p);
	if (was_muted != st->is_muted)
		forget_stamps(st, p);
	return 0;
}

static __always_inline bool may_have_changed(const struct stat_task *st, struct task_struct *p)
{
	return st->nr_names != st->nr_renames || st->css_set != (__u64)p->cgroups ||
	       (cfg.filter_cgroup && st->filter_generation != filter_generation);
}

static __always_inline void task_init(struct stat_task *st, struct task_struct *p)
{
	st->id.start_ns = bpf_ktime_get_boot_ns();
	fill_id(&st->id, p);
	bpf_probe_read_kernel(st->id.comm, sizeof(st->id.comm), p->comm);
	judge(st, p);
}

static __always_inline struct stat_task *task_create(struct task_struct *p)
{
	struct stat_task *st;

	st = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st) {
		count_lost(STAT_LOST_STORAGE);
		return NULL;
	}
	task_init(st, p);
	return st;
}

/* The state of a wanted task under its present identity, or NULL. */
static __always_inline struct stat_task *task_get(struct task_struct *p)
{
	struct stat_task *st;

	if (!is_id_wanted(p))
		return NULL;
	st = bpf_task_storage_get(&tasks, p, 0, 0);
	if (!st) {
		if (!cfg.may_create) { /* it should exist: made at fork, or before we attached */
			count_lost(STAT_LOST_STORAGE);
			return NULL;
		}
		st = task_create(p);
		if (!st)
			return NULL;
	}
	if (may_have_changed(st, p))
		recheck(st, p);
	if (st->is_muted)
		st = NULL;
	barrier_var(
		st); /* or callers test is_muted instead, which verifiers of old kernels do not follow */
	return st;
}
