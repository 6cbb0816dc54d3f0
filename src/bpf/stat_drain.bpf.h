/*
 * bpf/stat_drain — passes the statistics of tasks to user space: of all tasks by an iterator, or of
 * those that it asks for through the ring.
 *
 * Only what changed since the last record of a task is sent, and what it does at that moment. Runs beside the programs
 * that count, under no lock: a copy that was taken in the middle of an update is set right by the next one.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi/stat.h"
#include "bpf/kernel.bpf.h"
#include "bpf/stat_maps.bpf.h"
#include "bpf/stat_pack.bpf.h"
#include "bpf/stat_task.bpf.h"
#include "bpf/task.bpf.h"

static __always_inline long write_packed(struct seq_file *seq, struct stat_scratch *s)
{
	__u64 bytes = s->len * sizeof(s->words[0]);

	if (bytes > sizeof(s->words)) /* never: for the verifier */
		return -1;
	return bpf_seq_write(seq, s->words, (__u32)bytes);
}

static __always_inline long drain_waking(struct seq_file *seq, struct task_struct *p,
                                         struct stat_scratch *s)
{
	struct stat_waking *w = bpf_task_storage_get(&wakings, p, 0, 0);
	__u32 count;

	if (!w || !w->id.tid || w->hist.count == w->hist.sent_count)
		return 0;
	count = w->hist.count;
	pack_waking(w, s, false);
	if (write_packed(seq, s))
		return -1;
	w->hist.sent_count = count;
	return 0;
}

/* Puts what a task got from dispatch queues together, noted as sent; NULL = nothing is new. */
static __always_inline struct stat_queued *pack_queued_changes(struct task_struct *p,
                                                               struct stat_scratch *s)
{
	struct stat_queued *q = bpf_task_storage_get(&queued, p, 0, 0);
	__u64 nr_used;
	__u32 count;

	if (!q || !q->id.tid)
		return NULL;
	count = q->hist.count;
	nr_used = q->runs.nr_used;
	if (count == q->hist.sent_count && nr_used == q->sent_used)
		return NULL;
	pack_queued(q, s, false);
	q->hist.sent_count = count;
	q->sent_used = nr_used;
	return q;
}

/* What did not fit is asked for again. */
static __always_inline long drain_queued(struct seq_file *seq, struct task_struct *p,
                                         struct stat_scratch *s)
{
	struct stat_queued *q = pack_queued_changes(p, s);

	if (!q || !write_packed(seq, s))
		return 0;
	q->hist.sent_count--;
	return -1;
}

/* Counts of samples when a record was begun; later ones belong to the next record. */
struct counts {
	__u32 generation;
	__u64 samples;
	__u32 depths;
	__u32 metrics[STAT_STORED_METRICS];
};

static __always_inline void note_counts(struct stat_task *st, struct counts *c)
{
	c->generation = st->id.generation;
	c->samples = st->nr_samples;
	c->depths = st->depth.count;
	for (int m = 0; m < STAT_STORED_METRICS; m++)
		if (has_metric(m))
			c->metrics[m] = task_hist(st, m)->count;
}

static __always_inline void note_sent(struct stat_task *st, const struct counts *c)
{
	st->sent_samples = c->samples;
	st->sent_ns = drained_ns;
	st->depth.sent_count = c->depths;
	for (int m = 0; m < STAT_STORED_METRICS; m++)
		if (has_metric(m) && task_hist(st, m)->sent_count != c->metrics[m])
			task_hist(st, m)->sent_count = c->metrics[m];
}

/*
 * What a task does, by the kernel and by the stamps of its events. Where these differ, and not only because it is being
 * switched now, an event was not seen.
 */
static __always_inline void fill_doing(struct task_struct *p, const struct stat_task *st,
                                       struct stat_task *out)
{
	__u64 on_cpu_ns = st->on_cpu_ns, wait_ns = st->wait_ns;
	bool is_queued = task_is_queued(p), is_on_cpu;

	barrier_var(
		p); /* or its address is shared with other reads, and CO-RE does not resize this one */
	is_on_cpu = p->on_cpu;
	out->is_running = is_on_cpu && on_cpu_ns;
	out->is_waiting = !is_on_cpu && wait_ns && is_queued;
	out->is_throttled = out->is_waiting && task_is_throttled(p);
	if (is_on_cpu)
		out->has_gap = !on_cpu_ns && st->off_cpu_ns < drained_ns;
	else
		out->has_gap = (on_cpu_ns && on_cpu_ns < drained_ns) ||
		               (wait_ns && !is_queued && wait_ns < drained_ns);
}

/* A slice or a wait is under way, which is worth a record although nothing has ended. */
static __always_inline bool is_open(struct task_struct *p, const struct stat_task *st)
{
	__u64 wait_ns = st->wait_ns;

	if (cfg.has_times)
		return p->on_cpu || wait_ns;
	if (cfg.open_wait_ns && wait_ns && drained_ns > wait_ns + cfg.open_wait_ns)
		return true;
	return cfg.has_slice && p->on_cpu && st->on_cpu_ns;
}

/* Puts a record together; false = nothing is new. */
static __always_inline bool pack_changes(struct task_struct *p, struct stat_task *st,
                                         struct stat_scratch *s, struct counts *counts)
{
	struct stat_task *out = (void *)s->words;

	if (st->is_gone || st->sent_ns == drained_ns) /* it may be requested twice */
		return false;
	if (st->nr_samples == st->sent_samples && !is_open(p, st))
		return false;
	note_counts(st, counts);
	pack_task(st, s, false);
	fill_doing(p, st, out);
	if (cfg.has_times)
		fill_times(st, out, drained_ns);
	/* Renamed meanwhile: part of this belongs to the old name, and that was sent already. */
	return !st->is_gone && st->id.generation == counts->generation;
}

/*
 * Passes changed tasks to user space, one record each. A record that does not fit into the buffer
 * is requested again by the kernel, so nothing is marked as sent before all of it was written.
 */
SEC("iter/task")
int drain_tasks(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *p = ctx->task;
	__u32 which = SCRATCH_DRAIN;
	struct stat_scratch *s = bpf_map_lookup_elem(&scratches, &which);
	struct counts counts = {};
	struct stat_task *st;

	if (!p || !s)
		return 0;
	st = bpf_task_storage_get(&tasks, p, 0, 0);
	if (!st || !pack_changes(p, st, s, &counts))
		return 0;
	if (write_packed(seq, s))
		return 0;
	if (cfg.has_waking && drain_waking(seq, p, s))
		return 0;
	if (cfg.has_dsq && drain_queued(seq, p, s))
		return 0;
	note_sent(st, &counts);
	return 0;
}

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *p) __ksym __weak;

static __always_inline void answer_queued(struct task_struct *p, struct stat_scratch *s)
{
	struct stat_queued *q = pack_queued_changes(p, s);
	__u64 bytes = s->len * sizeof(s->words[0]);

	if (!q || bytes > sizeof(s->words))
		return;
	if (bpf_ringbuf_output(&ring, s->words, bytes, BPF_RB_NO_WAKEUP)) {
		q->hist.sent_count--;
		nr_unsent++;
	}
}

static __always_inline void answer(struct task_struct *p)
{
	__u32 which = SCRATCH_DRAIN;
	struct stat_scratch *s = bpf_map_lookup_elem(&scratches, &which);
	struct stat_task *st = bpf_task_storage_get(&tasks, p, 0, 0);
	struct counts counts = {};
	__u64 bytes;

	if (!s || !st || !pack_changes(p, st, s, &counts))
		return;
	bytes = s->len * sizeof(s->words[0]);
	if (bytes > sizeof(s->words)) /* never: for the verifier */
		return;
	if (bpf_ringbuf_output(&ring, s->words, bytes, BPF_RB_NO_WAKEUP)) {
		nr_unsent++;
		return;
	}
	note_sent(st, &counts);
	if (cfg.has_dsq)
		answer_queued(p, s);
}

static long answer_for(__u32 i, void *unused)
{
	struct task_struct *p;

	if (i >= STAT_CHANGED_BATCH) /* never: for the verifier */
		return 1;
	p = bpf_task_from_pid((__s32)asked_tids[i]);
	if (!p)
		return 0;
	answer(p);
	bpf_task_release(p);
	return 0;
}

/*
 * The same for tasks that user space requests, through the ring: the cost of a drain then grows
 * with the changed tasks, not with all tasks.
 */
SEC("syscall")
int drain_asked(void *ctx)
{
	bpf_loop(nr_asked, answer_for, NULL, 0);
	return 0;
}
