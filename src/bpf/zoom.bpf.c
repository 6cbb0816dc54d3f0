/*
 * Watches one thread: its waits, what began them, what held the CPU meanwhile.
 *
 * The task switched out has held the CPU since the last switch: so a wait is split among holders by
 * the switches of the CPU on which the thread queues, and no others. For all other events the
 * programs compare a number and return. The thread's state is written under the lock of the queue
 * that it is on, as in stat.bpf.c, whose definitions these are; only sched_waking comes under
 * another, and has a place of its own.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/zoom.h"
#include "bpf/kernel.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/switch_args.bpf.h"
#include "bpf/task.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define EPOCH 1 /* extremes are those of all the time */

const volatile struct zoom_cfg cfg = {};

struct zoom_state zoom;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZOOM_WAKERS);
	__type(key, struct zoom_waker_key);
	__type(value, struct zoom_waker);
} wakers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZOOM_RIVALS);
	__type(key, __u32);
	__type(value, struct zoom_rival);
} rivals SEC(".maps");

/* Too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zoom_waker);
} blank_waker SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct context_cpu);
} contexts SEC(".maps");

static __always_inline struct context_cpu *context_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&contexts, &zero);
}

#include "bpf/context.bpf.h"

static __always_inline bool is_zoomed(struct task_struct *p)
{
	return zoom.tid && (__u32)p->pid == zoom.tid;
}

static __always_inline void copy_comm(char *to, struct task_struct *p)
{
	bpf_probe_read_kernel(to, ZOOM_COMM, p->comm);
}

static __always_inline __u64 since(__u64 start, __u64 now)
{
	return (__s64)(now - start) > 0 ? now - start : 0; /* clocks of two CPUs may differ */
}

/* The wait in progress, or the next one. */
static __always_inline struct zoom_wait *this_wait(void)
{
	__u64 slot = zoom.nr_waits;

	barrier_var(slot);
	return &zoom.waits[slot & (ZOOM_WAITS - 1)];
}

static __always_inline struct zoom_rival *rival_of(__u32 tid, struct task_struct *p)
{
	struct zoom_rival *r = bpf_map_lookup_elem(&rivals, &tid), blank = {};

	if (!r) {
		bpf_map_update_elem(&rivals, &tid, &blank, BPF_NOEXIST);
		r = bpf_map_lookup_elem(&rivals, &tid);
	}
	if (!r)
		return &zoom.other_rivals;
	copy_comm(r->comm, p);
	return r;
}

static __always_inline void charge_rival(struct task_struct *p, __u64 ns)
{
	struct zoom_rival *r = rival_of((__u32)p->pid, p);

	r->ns += ns;
	r->nr++;
	if (ns > r->max_ns)
		r->max_ns = ns;
}

static __always_inline void charge_wait(struct zoom_wait *w, struct task_struct *p, __u64 ns)
{
	for (__u32 i = 0; i < ZOOM_HOLDERS; i++) {
		if (i == w->nr_holders) {
			w->holders[i].ns = 0;
			w->holders[i].nr = 0;
			w->holders[i].tid = (__u32)p->pid;
			copy_comm(w->holders[i].comm, p);
			w->nr_holders = (__u8)(i + 1);
		}
		if (w->holders[i].tid == (__u32)p->pid) {
			w->holders[i].ns += ns;
			w->holders[i].nr++;
			return;
		}
	}
	w->others_ns += ns;
}

/* The task that held the CPU since the last update. */
static __always_inline void charge(struct task_struct *holder, __u64 now)
{
	__u64 ns = since(zoom.held_ns, now);

	charge_wait(this_wait(), holder, ns);
	charge_rival(holder, ns);
	zoom.held_ns = now;
}

static __always_inline void charge_unknown(__u64 now)
{
	__u64 ns = since(zoom.held_ns, now);

	this_wait()->others_ns += ns;
	zoom.other_rivals.ns += ns;
	zoom.held_ns = now;
}

static __always_inline struct zoom_wait *begin_wait(enum stat_cause cause, __u32 queue, __u64 now)
{
	struct zoom_wait *w = this_wait();

	w->start_ns = now;
	w->run_ns = zoom.run_ns;
	w->sleep_ns = 0;
	w->others_ns = 0;
	w->from_cpu = zoom.run_ns ? zoom.from_cpu : ~0U;
	w->queue_cpu = queue;
	w->cause = (__u8)cause;
	w->context = ABI_IN_TASK;
	w->by = ABI_BY_UNKNOWN;
	w->sleep_state = 0;
	w->nr_holders = 0;
	zoom.held_ns = now;
	zoom.wait_queue = queue + 1;
	return w;
}

static __always_inline void note_waker(void)
{
	const struct context_cpu *here = context_here();
	struct zoom_waking *w = &zoom.waking;
	struct context context = { ABI_IN_UNKNOWN, ABI_BY_UNKNOWN };
	bool is_task;

	w->ns = bpf_ktime_get_boot_ns();
	if (here)
		context = context_of(here);
	is_task = !context_is_interrupt(context);
	w->context = (__u16)context.in;
	w->by = context.by;
	w->tid = is_task ? (__u32)bpf_get_current_pid_tgid() : 0;
	__builtin_memset(w->comm, 0, sizeof(w->comm));
	if (is_task)
		copy_comm(w->comm, bpf_get_current_task_btf());
}

/* Under the task's own lock, before the wakeup that it belongs to. */
SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	if (is_zoomed((struct task_struct *)ctx[0]))
		note_waker();
	return 0;
}

static __always_inline void end_sleep(struct zoom_wait *w, __u64 now)
{
	__u32 state = zoom.sleep_state - 1;
	struct zoom_sleep *s;

	zoom.sleep_state = 0;
	if (state >= ZOOM_SLEEPS)
		return;
	s = &zoom.sleeps[state];
	w->sleep_ns = since(zoom.off_cpu_ns, now);
	if (!w->sleep_ns) /* woken while it was leaving the CPU: it did not sleep */
		return;
	w->sleep_state = (__u8)state;
	s->nr++;
	s->ns += w->sleep_ns;
	if (w->sleep_ns > s->max_ns)
		s->max_ns = w->sleep_ns;
}

/* Since when it is runnable: from its waking on, or from when it left its CPU if it was still there. */
static __always_inline __u64 runnable_since(__u64 now)
{
	__u64 waking_ns = zoom.waking.ns;

	zoom.waking.ns = 0;
	if (!waking_ns || waking_ns > now)
		return now;
	return waking_ns > zoom.off_cpu_ns ? waking_ns : zoom.off_cpu_ns;
}

static __always_inline int woken(struct task_struct *p, enum stat_cause cause)
{
	struct zoom_wait *w;
	__u64 now, start;

	if (!is_zoomed(p))
		return 0;
	/* A task on a CPU was about to sleep and will not; one that waits continues to wait. */
	if (p->on_cpu || zoom.wait_queue) {
		zoom.waking.ns = 0;
		return 0;
	}
	if (cause == STAT_CAUSE_NEW)
		note_waker();
	now = bpf_ktime_get_boot_ns();
	start = runnable_since(now);
	/* What holds that CPU now is taken for its holder since the waking, a few microseconds ago. */
	w = begin_wait(cause, task_cpu(p), start);
	end_sleep(w, start);
	w->waker_tid = zoom.waking.tid;
	w->context = (__u8)zoom.waking.context;
	w->by = zoom.waking.by;
	__builtin_memcpy(w->waker_comm, zoom.waking.comm, sizeof(w->waker_comm));
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	return woken((struct task_struct *)ctx[0], STAT_CAUSE_WOKEN);
}

SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(__u64 *ctx)
{
	return woken((struct task_struct *)ctx[0], STAT_CAUSE_NEW);
}

static __always_inline void count_waker(const struct zoom_wait *w, __u64 ns, __u64 now, __u32 cpu)
{
	struct zoom_waker_key key = { .tid = w->waker_tid, .context = w->context, .by = w->by };
	struct zoom_waker *waker = bpf_map_lookup_elem(&wakers, &key), *blank;
	__u32 zero = 0;

	if (!waker) {
		blank = bpf_map_lookup_elem(&blank_waker, &zero);
		if (blank)
			bpf_map_update_elem(&wakers, &key, blank, BPF_NOEXIST);
		waker = bpf_map_lookup_elem(&wakers, &key);
	}
	if (!waker) {
		record_sample(&zoom.other_wakers, EPOCH, ns, now, cpu);
		return;
	}
	__builtin_memcpy(waker->comm, w->waker_comm, sizeof(waker->comm));
	record_sample(&waker->waits, EPOCH, ns, now, cpu);
}

/* Where it queued, its holders are known up to now; elsewhere an unknown task held the CPU. */
static __noinline int end_wait(__u64 now, __u32 cpu)
{
	struct zoom_wait *w = this_wait();
	__u32 cause = w->cause;
	__u64 ns = since(w->start_ns, now);

	if (zoom.wait_queue != cpu + 1)
		charge_unknown(now);
	w->end_ns = now;
	w->cpu = cpu;
	if (cause < ZOOM_CAUSES)
		record_sample(&zoom.delays[cause], EPOCH, ns, now, cpu);
	if (cause != STAT_CAUSE_PREEMPTED)
		count_waker(w, ns, now, cpu);
	zoom.wait_queue = 0;
	barrier(); /* the wait first, then the word that it is there */
	zoom.nr_waits++;
	return 0;
}

static __always_inline __u32 sleep_state(__u32 state)
{
	if (state & TASK_INTERRUPTIBLE)
		return 0;
	return (state & TASK_UNINTERRUPTIBLE) && !(state & TASK_NOLOAD) ? 1 : 2;
}

/* It leaves a CPU without its switch-in having been seen. */
static __always_inline void cut_wait(void)
{
	zoom.nr_cut++;
	zoom.cut_ns += since(this_wait()->start_ns, zoom.held_ns);
	zoom.wait_queue = 0;
}

static __always_inline void leave_cpu(const struct switch_args *a, __u64 now, __u32 cpu)
{
	struct zoom_wait *w;

	zoom.run_ns = zoom.on_cpu_ns ? since(zoom.on_cpu_ns, now) : 0;
	zoom.from_cpu = cpu;
	zoom.on_cpu_ns = 0;
	zoom.off_cpu_ns = now;
	if (zoom.wait_queue)
		cut_wait();
	if (a->state & TASK_DEAD) {
		zoom.ended_ns = now;
		zoom.tid = 0;
		return;
	}
	if (a->state) {
		zoom.sleep_state = 1 + sleep_state(a->state);
		return;
	}
	w = begin_wait(STAT_CAUSE_PREEMPTED, cpu, now);
	w->waker_tid = (__u32)a->next->pid;
	copy_comm(w->waker_comm, a->next);
	rival_of(w->waker_tid, a->next)->nr_taken++;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct switch_args a;
	__u64 now;

	if (!zoom.tid)
		return 0;
	switch_args_read(ctx, cfg.switch_args, &a);
	if (zoom.wait_queue != cpu + 1 && !is_zoomed(a.prev) && !is_zoomed(a.next))
		return 0;
	now = bpf_ktime_get_boot_ns();
	if (is_zoomed(a.prev)) {
		/* Preempted on its way to sleep, or kept from it by a signal: it stays in the queue. */
		if (a.is_preempt || task_stays_queued(a.prev))
			a.state = 0;
		leave_cpu(&a, now, cpu);
		return 0;
	}
	if (zoom.wait_queue == cpu + 1)
		charge(a.prev, now);
	if (!is_zoomed(a.next))
		return 0;
	/* One that waited after preemption may be woken at this moment, on its way to sleep: its wakeup follows. */
	if (!zoom.wait_queue || this_wait()->cause != STAT_CAUSE_PREEMPTED)
		zoom.waking.ns = 0;
	if (zoom.wait_queue)
		end_wait(now, cpu);
	zoom.sleep_state = 0;
	zoom.on_cpu_ns = now;
	return 0;
}

/*
 * While it waits: the holder of the CPU that it leaves held it until now. Runs under the lock of
 * that queue.
 */
SEC("tp_btf/sched_migrate_task")
int on_migrate(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0], *holder;
	__u64 now;

	if (!is_zoomed(p))
		return 0;
	zoom.nr_migrations++;
	if (!zoom.wait_queue)
		return 0;
	now = bpf_ktime_get_boot_ns();
	holder = task_queue_runs(p);
	if (holder)
		charge(holder, now);
	else
		charge_unknown(now);
	zoom.wait_queue = (__u32)ctx[1] + 1;
	return 0;
}
