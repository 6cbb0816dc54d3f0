/*
 * Scheduling statistics, added up in the kernel: one histogram per task and metric.
 *
 * All state of a task is in task storage (freed with the task, so no size limit and no reuse of ids); the
 * programs find it with one lookup per event. Its writers are serialised by the run-queue lock: a task is
 * woken and switched under the lock of the queue it is on. Only sched_waking comes under another lock, and
 * has a storage of its own. Everything that is off in `cfg` is removed by the verifier.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/stat.h"
#include "bpf/kernel.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/stat_counters.bpf.h"
#include "bpf/stat_dsq.bpf.h"
#include "bpf/stat_dsq_programs.bpf.h"
#include "bpf/stat_maps.bpf.h"
#include "bpf/stat_outlier.bpf.h"
#include "bpf/stat_task.bpf.h"
#include "bpf/switch_args.bpf.h"
#include "bpf/task.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void record_depth(struct stat_task *st, struct task_struct *p, __u64 now)
{
	struct stat_depth *d = &st->depth;
	__u32 depth = task_queue_depth(p);
	__u32 slot = depth < STAT_DEPTH_SLOTS ? depth : STAT_DEPTH_SLOTS - 1;

	if (!depth)
		return;
	barrier_var(slot);            /* or the compiler drops the mask, knowing better */
	slot &= STAT_DEPTH_SLOTS - 1; /* for the verifier */
	d->slots[slot]++;
	d->blocks |= 1U << (slot / HIST_BLOCK_SLOTS);
	d->sum += depth;
	d->count++;
	if (depth > d->max) {
		d->max = depth;
		d->max_at_ns = now;
		d->max_cpu = task_cpu(p);
	}
	task_news(st);
}

static __always_inline void end_sleep(struct stat_task *st, __u64 now, __u32 cpu)
{
	__u64 ns = now - st->off_cpu_ns;

	if (st->sleep_kind == STAT_SLEEP_S)
		task_record(st, STAT_SLEEP_S, ns, now, cpu);
	else if (st->sleep_kind == STAT_SLEEP_D)
		task_record(st, STAT_SLEEP_D, ns, now, cpu);
	else if (st->sleep_kind == STAT_SLEEP_OTHER)
		task_record(st, STAT_SLEEP_OTHER, ns, now, cpu);
	st->sleep_kind = 0;
}

/* A waking that found its task still running has woken nobody. */
static __always_inline void forget_waking(struct task_struct *p)
{
	struct stat_waking *w;

	if (!cfg.has_waking)
		return;
	w = bpf_task_storage_get(&wakings, p, 0, 0);
	if (w)
		w->waking_ns = 0;
}

static __always_inline int woken(struct task_struct *p, enum stat_cause cause,
                                 enum stat_event event)
{
	struct stat_cpu *c = this_cpu();
	struct stat_task *st;
	__u64 now;

	if (!c)
		return 0;
	c->events[event]++;
	if (!p->pid)
		return 0;
	st = task_get(p);
	if (!st)
		return 0;
	if (p->on_cpu) { /* it was about to sleep, and will not */
		forget_waking(p);
		return 0;
	}
	now = bpf_ktime_get_boot_ns();
	if (cfg.has_depth)
		record_depth(st, p, now);
	if (cfg.has_sleep)
		end_sleep(st, now, task_cpu(p));
	/* One that was preempted on its way to sleep is still in the queue: its wait goes on. */
	if (st->wait_ns && st->wait_cause == STAT_CAUSE_PREEMPTED)
		return 0;
	st->wait_ns = now;
	st->wait_cause = (__u8)cause;
	st->wait_cpu = task_cpu(p);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	return woken((struct task_struct *)ctx[0], STAT_CAUSE_WOKEN, STAT_EV_WAKEUP);
}

SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(__u64 *ctx)
{
	return woken((struct task_struct *)ctx[0], STAT_CAUSE_NEW, STAT_EV_WAKEUP_NEW);
}

/* Comes under the task's own lock and may run beside its switch-out: touches nothing but its own stamp. */
SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct stat_cpu *c = this_cpu();
	struct stat_waking *w;

	if (!c)
		return 0;
	c->events[STAT_EV_WAKING]++;
	if (!p->pid || !is_id_wanted(p))
		return 0;
	w = bpf_task_storage_get(&wakings, p, 0,
	                         cfg.may_create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (!w) {
		c->lost[STAT_LOST_STORAGE]++;
		return 0;
	}
	if (!w->waking_ns)
		w->waking_ns = bpf_ktime_get_boot_ns();
	return 0;
}

static __always_inline void end_waking(struct stat_task *st, struct task_struct *p, __u64 now,
                                       __u32 cpu)
{
	struct stat_waking *w = bpf_task_storage_get(&wakings, p, 0, 0);
	__u64 start;

	if (!w || !w->waking_ns)
		return;
	/* A waking seen while the task was on a CPU counts from when it left it. */
	start = w->waking_ns > st->off_cpu_ns ? w->waking_ns : st->off_cpu_ns;
	w->waking_ns = 0;
	if (!w->id.tid)
		w->id = st->id;
	record_sample(&w->hist, epoch, now - start, now, cpu);
	task_news(st);
}

static __always_inline __u8 sleep_kind(__u32 state)
{
	if (state & TASK_INTERRUPTIBLE)
		return STAT_SLEEP_S;
	if ((state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD))
		return STAT_SLEEP_D;
	return STAT_SLEEP_OTHER;
}

static __always_inline void end_wait(struct stat_task *st, struct stat_cpu *c, __u64 now, __u32 cpu)
{
	__u64 ns = now - st->wait_ns;

	if ((__s64)ns < 0)
		ns = 0;
	if (st->wait_cause == STAT_CAUSE_WOKEN) {
		task_record(st, STAT_DELAY_WOKEN, ns, now, cpu);
	} else if (st->wait_cause == STAT_CAUSE_PREEMPTED) {
		task_record(st, STAT_DELAY_PREEMPTED, ns, now, cpu);
	} else {
		st->wait_new.ns = ns;
		st->wait_new.at_ns = now;
		st->wait_new.cpu = cpu;
		st->wait_new.count = 1;
		task_news(st);
	}
	record_sample(&c->delay, epoch, ns, now, cpu);
	if (cfg.outlier_ns && ns >= cfg.outlier_ns)
		send_outlier(st, ns, now, cpu);
}

static __always_inline void leave_cpu(struct stat_task *st, struct task_struct *p, __u32 state,
                                      __u64 now, __u32 cpu)
{
	__u64 start = st->on_cpu_ns;

	if (start) {
		st->run_ns += now - start;
		if (!state)
			task_record(st, STAT_SLICE_INVOLUNTARY, now - start, now, cpu);
		else
			task_record(st, STAT_SLICE_VOLUNTARY, now - start, now, cpu);
	} else {
		/* Its switch-in was not seen: nothing that it waited for can be told any more. */
		forget_waking(p);
	}
	st->on_cpu_ns = 0;
	st->off_cpu_ns = now;
	st->wait_ns = 0;
	st->sleep_kind = 0;
	if (!state) {
		st->wait_ns = now;
		st->wait_cause = STAT_CAUSE_PREEMPTED;
		st->wait_cpu = cpu;
	} else if (cfg.has_sleep) {
		st->sleep_kind = sleep_kind(state);
	}
}

/* state is 0 when the task is still runnable. */
static __always_inline void switch_out(struct task_struct *p, struct stat_cpu *c, __u32 state,
                                       __u64 now, __u32 cpu)
{
	struct stat_task *st = task_get(p);

	if (cfg.nr_counters)
		count_counters(st, c, (__u32)p->pid, cpu);
	if (cfg.has_dsq && st)
		dsq_end_run(st, p, now, cpu);
	if (!(state & TASK_DEAD)) {
		if (st)
			leave_cpu(st, p, state, now, cpu);
		return;
	}
	c->events[STAT_EV_EXIT]++;
	if (!st)
		return;
	leave_cpu(st, p, state, now, cpu);
	send_last(st, p);
}

static __always_inline void switch_in(struct task_struct *p, struct stat_cpu *c, __u64 now,
                                      __u32 cpu)
{
	struct stat_task *st = task_get(p);

	if (!st)
		return;
	if (cfg.has_waking)
		end_waking(st, p, now, cpu);
	if (cfg.has_delay && st->wait_ns)
		end_wait(st, c, now, cpu);
	if (cfg.has_dsq)
		dsq_begin_run(st, p, now, cpu);
	st->wait_ns = 0;
	st->sleep_kind = 0;
	st->on_cpu_ns = now;
}

static __always_inline void track_idle(struct stat_cpu *c, struct task_struct *prev, __u64 now,
                                       __u32 cpu)
{
	if (!prev->pid && c->is_idle)
		record_sample(&c->idle, epoch, now - c->since_ns, now, cpu);
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct stat_cpu *c = this_cpu();
	struct switch_args a;
	__u64 now;
	__u32 cpu;

	switch_args_read(ctx, cfg.switch_args, &a);
	if (!c)
		return 0;
	c->events[STAT_EV_SWITCH]++;
	/* Preempted on its way to sleep, or kept from it by a signal: it stays in the queue. */
	if (a.is_preempt || task_stays_queued(a.prev))
		a.state = 0;
	cpu = bpf_get_smp_processor_id();
	now = bpf_ktime_get_boot_ns();
	if (cfg.has_idle)
		track_idle(c, a.prev, now, cpu);
	if (cfg.has_history)
		remember_switch(c, a.prev, a.next, now, cpu);
	if (a.prev->pid)
		switch_out(a.prev, c, a.state, now, cpu);
	else if (cfg.nr_counters)
		count_counters(NULL, c, 0, cpu);
	c->running_tid = (__u32)a.next->pid;
	c->is_idle = !a.next->pid;
	c->since_ns = now;
	if (a.next->pid)
		switch_in(a.next, c, now, cpu);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int on_migrate(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	__u32 from = task_cpu(p), to = (__u32)ctx[1];
	struct stat_cpu_place *a, *b;
	struct stat_cpu *c = this_cpu();
	struct stat_task *st;
	__u64 *arrived;

	if (!c)
		return 0;
	c->events[STAT_EV_MIGRATE]++;
	if (!p->pid)
		return 0;
	arrived = bpf_map_lookup_elem(&arrivals, &to);
	if (arrived)
		__sync_fetch_and_add(arrived, 1);
	st = task_get(p);
	if (!st)
		return 0;
	st->migrations.all++;
	task_news(st);
	a = bpf_map_lookup_elem(&cpu_places, &from);
	b = bpf_map_lookup_elem(&cpu_places, &to);
	if (!a || !b)
		return 0;
	if (a->node >= 0 && b->node >= 0 && a->node != b->node)
		st->migrations.cross_node++;
	else if (a->llc >= 0 && b->llc >= 0 && a->llc != b->llc)
		st->migrations.cross_llc++;
	return 0;
}

/*
 * Comes before the name is changed and not under the run-queue lock: leaves the new name for the next event of
 * the task, which is.
 */
SEC("tp_btf/task_rename")
int on_rename(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct stat_task *st = bpf_task_storage_get(&tasks, p, 0, 0);
	char comm[STAT_COMM_LEN] = {};

	if (!st)
		return 0;
	bpf_probe_read_kernel_str(comm, sizeof(comm), (const void *)ctx[1]);
	if (st->nr_renames & 1)
		__builtin_memcpy(st->next_comm[0], comm, sizeof(comm));
	else
		__builtin_memcpy(st->next_comm[1], comm, sizeof(comm));
	barrier(); /* the name first, then the word that it is there */
	st->nr_renames++;
	return 0;
}

/* What fails here is counted when it is missed: at the task's first event. */
static __always_inline void create_early(struct task_struct *p)
{
	struct stat_task *st;

	if (!p->pid || !is_id_wanted(p))
		return;
	if (!bpf_task_storage_get(&tasks, p, 0, 0)) {
		st = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (st)
			task_init(st, p);
	}
	if (cfg.has_waking)
		(void)bpf_task_storage_get(&wakings, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (cfg.has_dsq)
		(void)bpf_task_storage_get(&queued, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/*
 * New tasks get their storage at fork: before Linux 6.4 it could not be allocated under scheduler locks, and
 * since then a storm of forks can still find the kernel's cache of it empty there ...
 */
SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *ctx)
{
	create_early((struct task_struct *)ctx[1]);
	return 0;
}

/* ... and on every kernel those that are there get it before the other programs are attached. */
SEC("iter/task")
int prepare_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;

	if (p)
		create_early(p);
	return 0;
}

/*
 * Run by user space on every CPU before attaching: the kernel's cache of free storage starts with a single
 * element per CPU, and fills up once that is taken. Without this the first switch could find it empty.
 */
SEC("raw_tp")
int warm_up(void *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct stat_task *st = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (st && !st->id.start_ns)
		task_init(st, p);
	if (cfg.has_waking)
		(void)bpf_task_storage_get(&wakings, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (cfg.has_dsq)
		(void)bpf_task_storage_get(&queued, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* Run by user space on every CPU before a drain, so that a task that never leaves its CPU is counted. */
SEC("raw_tp")
int flush_counters(void *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct stat_cpu *c = this_cpu();
	struct stat_task *st;

	if (!c || !p->pid)
		return 0;
	/* Not under the run-queue lock: a look at the task, no change of who it is. */
	st = is_id_wanted(p) ? bpf_task_storage_get(&tasks, p, 0, 0) : NULL;
	if (st && (st->is_muted || st->is_gone))
		return 0;
	count_counters(st, c, (__u32)p->pid, bpf_get_smp_processor_id());
	return 0;
}

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
static __always_inline struct stat_queued *pack_queued_news(struct task_struct *p,
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
	struct stat_queued *q = pack_queued_news(p, s);

	if (!q || !write_packed(seq, s))
		return 0;
	q->hist.sent_count--;
	return -1;
}

/* Counts of samples when a record was begun; those that come later are news for the next one. */
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
	st->depth.sent_count = c->depths;
	for (int m = 0; m < STAT_STORED_METRICS; m++)
		if (has_metric(m) && task_hist(st, m)->sent_count != c->metrics[m])
			task_hist(st, m)->sent_count = c->metrics[m];
}

/* Puts a record together; false = nothing is new. */
static __always_inline bool pack_news(struct task_struct *p, struct stat_task *st,
                                      struct stat_scratch *s, struct counts *counts)
{
	if (st->is_gone)
		return false;
	st->is_running = p->on_cpu && st->on_cpu_ns;
	if (st->nr_samples == st->sent_samples && !(cfg.has_slice && st->is_running))
		return false;
	note_counts(st, counts);
	pack_task(st, s, false);
	/* Given another name meanwhile: half of this is of the old one, and that was sent already. */
	return !st->is_gone && st->id.generation == counts->generation;
}

/*
 * Hands the tasks with news to user space, one record each. A record that does not fit into the buffer any
 * more is asked for again by the kernel, so nothing is noted as sent before all of it was written.
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
	if (!st || !pack_news(p, st, s, &counts))
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
	struct stat_queued *q = pack_queued_news(p, s);
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

	if (!s || !st || !pack_news(p, st, s, &counts))
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

	if (i >= STAT_NEWS_BATCH) /* never: for the verifier */
		return 1;
	p = bpf_task_from_pid((__s32)asked_tids[i]);
	if (!p)
		return 0;
	answer(p);
	bpf_task_release(p);
	return 0;
}

/*
 * The same for those that user space asks for, through the ring: what a drain costs then grows with the tasks that have
 * news, not with all that are there.
 */
SEC("syscall")
int drain_asked(void *ctx)
{
	bpf_loop(nr_asked, answer_for, NULL, 0);
	return 0;
}
