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
#include "bpf/stat_drain.bpf.h"
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
	task_note_change(st);
}

static __always_inline void end_sleep(struct stat_task *st, __u64 now, __u32 cpu)
{
	__u64 ns = now - st->off_cpu_ns;

	if (cfg.is_from_waking && !ns) /* woken while it was leaving the CPU: it did not sleep */
		st->sleep_kind = 0;
	if (st->sleep_kind == STAT_SLEEP_S)
		task_record(st, STAT_SLEEP_S, ns, now, cpu);
	else if (st->sleep_kind == STAT_SLEEP_D)
		task_record(st, STAT_SLEEP_D, ns, now, cpu);
	else if (st->sleep_kind == STAT_SLEEP_OTHER)
		task_record(st, STAT_SLEEP_OTHER, ns, now, cpu);
	st->sleep_kind = 0;
}

/* A waking that found its task still running woke no task. */
static __always_inline void forget_waking(struct stat_task *st, struct task_struct *p)
{
	struct stat_waking *w;

	if (cfg.is_from_waking)
		st->waking_ns = 0;
	if (!cfg.has_waking)
		return;
	w = bpf_task_storage_get(&wakings, p, 0, 0);
	if (w)
		w->waking_ns = 0;
}

/*
 * Since when a task that is woken now is runnable. A waking seen while it was on a CPU counts from when it left it. Where waits
 * begin with the waking, the clock has been read there.
 */
static __always_inline __u64 runnable_since(struct stat_task *st)
{
	__u64 waking_ns = st->waking_ns;

	if (!cfg.is_from_waking || !waking_ns)
		return bpf_ktime_get_boot_ns();
	st->waking_ns = 0;
	return waking_ns > st->off_cpu_ns ? waking_ns : st->off_cpu_ns;
}

static __always_inline int woken(struct task_struct *p, enum stat_cause cause,
                                 enum stat_event event)
{
	struct stat_cpu *c = this_cpu();
	struct stat_task *st;
	__u64 since;

	if (!c)
		return 0;
	c->events[event]++;
	if (!p->pid)
		return 0;
	st = task_get(p);
	if (!st)
		return 0;
	if (p->on_cpu) { /* it was about to sleep, and will not */
		forget_waking(st, p);
		return 0;
	}
	since = runnable_since(st);
	if (cfg.has_depth)
		record_depth(st, p, cfg.is_from_waking ? bpf_ktime_get_boot_ns() : since);
	if (cfg.has_sleep)
		end_sleep(st, since, task_cpu(p));
	/* One that was preempted on its way to sleep is still in the queue: its wait goes on. */
	if (st->wait_ns && st->wait_cause == STAT_CAUSE_PREEMPTED)
		return 0;
	st->wait_ns = since;
	st->wait_cause = (__u8)cause;
	st->wait_cpu = task_cpu(p);
	if (cfg.has_times) /* also if no sleep was counted */
		task_note_change(st);
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

/* Each waking is followed by its wakeup, so there is never more than one stamp to keep. */
static __always_inline void note_waking(struct task_struct *p)
{
	struct stat_task *st = bpf_task_storage_get(&tasks, p, 0, 0);

	if (st) /* else the wakeup creates it, under the right lock, and the wait begins there */
		st->waking_ns = bpf_ktime_get_boot_ns();
}

/*
 * Runs under the task's own lock, possibly concurrently with its switch-out: touches only its own
 * stamps.
 */
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
	if (cfg.is_from_waking)
		note_waking(p);
	if (!cfg.has_waking)
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
	task_note_change(st);
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
	__u64 ns = now - st->wait_ns, slot;

	if ((__s64)ns < 0) /* clocks of two CPUs may differ by nanoseconds */
		ns = 0;
	slot = hist_slot(ns);
	if (st->wait_cause == STAT_CAUSE_WOKEN) {
		task_record_at(st, STAT_DELAY_WOKEN, slot, ns, now, cpu);
	} else if (st->wait_cause == STAT_CAUSE_PREEMPTED) {
		task_record_at(st, STAT_DELAY_PREEMPTED, slot, ns, now, cpu);
	} else {
		st->wait_new.ns = ns;
		st->wait_new.at_ns = now;
		st->wait_new.cpu = cpu;
		st->wait_new.count = 1;
		task_note_change(st);
	}
	record_at(&c->delay, slot, epoch, ns, now, cpu);
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
		/* Its switch-in was not seen, so nothing can be said about its wait. */
		forget_waking(st, p);
		st->nr_gaps++;
		if (cfg.has_times)
			task_note_change(st);
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
	send_last(st, p, now);
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
	/* One that waited after preemption may be woken at this moment, on its way to sleep: its wakeup follows. */
	if (cfg.is_from_waking && !(st->wait_ns && st->wait_cause == STAT_CAUSE_PREEMPTED))
		st->waking_ns = 0;
	st->wait_ns = 0;
	st->sleep_kind = 0;
	if (st->on_cpu_ns) /* its switch-out was not seen */
		st->nr_gaps++;
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
	task_note_change(st);
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
 * Runs before the name is changed and not under the run-queue lock: leaves the new name for the
 * next event of the task, which is under it.
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
 * since then many forks at once can still find the kernel's cache of it empty there ...
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
	/* Not under the run-queue lock: reads the task without changing its identity. */
	st = is_id_wanted(p) ? bpf_task_storage_get(&tasks, p, 0, 0) : NULL;
	if (st && (st->is_muted || st->is_gone))
		return 0;
	count_counters(st, c, (__u32)p->pid, bpf_get_smp_processor_id());
	return 0;
}
