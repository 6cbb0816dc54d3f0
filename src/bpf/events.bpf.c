/*
 * The event stream: one record per event, in ring buffers shared by neighbouring CPUs.
 *
 * A record is reserved first and stamped then: a reader that reads the clock, then the end of a
 * ring, knows that all records beyond that end are younger. Each kind has its own program and is
 * loaded only if requested. A record that does not fit is counted for its kind and CPU.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi/event_cfg.h"
#include "bpf/events_block.bpf.h"
#include "bpf/events_cgroup.bpf.h"
#include "bpf/events_filter.bpf.h"
#include "bpf/events_follow.bpf.h"
#include "bpf/events_interrupt.bpf.h"
#include "bpf/events_io.bpf.h"
#include "bpf/events_limits.bpf.h"
#include "bpf/events_lock.bpf.h"
#include "bpf/events_pmu.bpf.h"
#include "bpf/events_policy.bpf.h"
#include "bpf/events_probe.bpf.h"
#include "bpf/events_quota.bpf.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/events_sleep.bpf.h"
#include "bpf/events_system.bpf.h"
/* Needs context_here() of events_ring. */
#include "bpf/context.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/switch_args.bpf.h"
#include "bpf/task.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void copy_comm(char *to, struct task_struct *p)
{
	bpf_probe_read_kernel(to, EV_COMM_LEN, p->comm);
}

/* What sched_switch reports to user space: one letter per bit, the highest bit that is set. */
static __always_inline __u32 reported_state(struct task_struct *p, __u32 state, bool is_preempt)
{
	if (is_preempt)
		return EV_STATE_PREEMPTED;
	if (state <= TASK_UNINTERRUPTIBLE) /* the usual ones; a task that exits has another */
		return state;
	if ((state & (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)) == (TASK_UNINTERRUPTIBLE | TASK_NOLOAD))
		return EV_STATE_IDLE;
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		return EV_STATE_D;
	state = (state | (__u32)p->exit_state) & TASK_REPORT;
	for (__u32 bit = EV_STATE_PARKED; bit; bit >>= 1)
		if (state & bit)
			return bit;
	return EV_STATE_RUNNABLE;
}

/* Interruptible or not: others do not wait for something that a system call has asked for. */
static __always_inline bool is_sleep(const struct switch_args *args)
{
	return reported_state(args->prev, args->state, args->is_preempt) &
	       (EV_STATE_S | EV_STATE_D);
}

/* Which of the two tasks of a switch are part of the stream, and whether one leaves it. */
struct seen_switch {
	struct switch_args args;
	bool wants_prev, wants_next, is_last;
};

/* The time of the record; 0 = there was no room. */
static __always_inline __u64 put_switch(const struct seen_switch *w)
{
	struct ev_switch *e;
	struct slot s;
	__u64 ts_ns;

	e = begin(&s, EV_SWITCH, sizeof(*e));
	if (!e)
		return 0;
	e->hdr.flags |= (__u8)((w->wants_prev ? 0 : EV_FLAG_OTHER_PREV) |
	                       (w->wants_next ? 0 : EV_FLAG_OTHER_NEXT));
	if (w->is_last)
		e->hdr.flags |= EV_FLAG_LAST;
	e->prev_tid = (__u32)w->args.prev->pid;
	e->next_tid = (__u32)w->args.next->pid;
	e->prev_state = reported_state(w->args.prev, w->args.state, w->args.is_preempt);
	e->prev_prio = (__s16)w->args.prev->prio;
	e->next_prio = (__s16)w->args.next->prio;
	ts_ns = e->hdr.ts_ns;
	end(&s);
	if (cfg.measures & EV_MEASURES_QUOTA && w->wants_prev && w->args.prev->throttled)
		put_throttle(w->args.prev);
	if (cfg.measures & EV_MEASURES_QUOTA_CPU)
		note_clock(s.c, w->args.prev, ts_ns);
	if (cfg.measures & EV_MEASURES_STEAL)
		note_steal(s.c, w->args.prev);
	if (cfg.measures & EV_MEASURES_LIMITS &&
	    (w->args.prev->prio < FIRST_FAIR_PRIO || s.c->is_rt_limited))
		note_limits(s.c, w->args.prev, w->args.next);
	return ts_ns;
}

/*
 * One time for both, so that a reader can match counters and slice: that of the record reserved
 * last, because a reader that reads between the two would take the second for younger than it says.
 * The record of counters is checked once, as begin() requires.
 */
static __always_inline void put_counted_switch(const struct seen_switch *w, struct ev_cpu *c)
{
	__u32 prev_tid = w->wants_prev ? (__u32)w->args.prev->pid : 0;
	bool has_slice = prev_tid && c->shown_tid == prev_tid;
	struct ev_pmu *pmu;
	struct slot s;
	__u64 ts_ns;

	c->shown_tid = w->wants_next ? (__u32)w->args.next->pid : 0;
	if (has_slice) {
		pmu = begin(&s, EV_PMU, (__u32)(sizeof(*pmu) + cfg.nr_counters * sizeof(__u64)));
		if (pmu) {
			fill_pmu(pmu, c, prev_tid);
			ts_ns = put_switch(w);
			if (ts_ns)
				pmu->hdr.ts_ns = ts_ns;
			end(&s);
			return;
		}
	}
	read_counters(c, NULL);
	put_switch(w);
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct seen_switch w = { .is_last = false };
	struct ev_cpu *c = NULL;

	switch_args_read(ctx, cfg.switch_args, &w.args);
	if (cfg.has_locks)
		put_spins();
	w.wants_prev = is_wanted(w.args.prev);
	w.wants_next = is_wanted(w.args.next);
	if (is_sampling())
		w.is_last = follow_switch(&w.args, &w.wants_prev, &w.wants_next);
	if (cfg.filter_cgroup || cfg.nr_counters) {
		c = this_cpu();
		if (!c || !is_open)
			return 0;
		/* One that was moved out of the cgroup while it ran: its slice has an end too. */
		if (w.args.prev->pid && (__u32)w.args.prev->pid == c->shown_tid)
			w.wants_prev = true;
		if (!cfg.nr_counters || (!w.wants_prev && !w.wants_next))
			c->shown_tid = w.wants_next ? (__u32)w.args.next->pid : 0;
	}
	if (!w.wants_prev && !w.wants_next)
		return 0;
	if (w.wants_next)
		note_policy(w.args.next);
	if (cfg.has_sleeps && w.wants_prev && is_sleep(&w.args))
		put_sleep(w.args.prev);
	if (cfg.nr_counters && c)
		put_counted_switch(&w, c);
	else
		put_switch(&w);
	return 0;
}

/* Other records say in their flags what is known without reading the kernel's count. */
static __always_inline __u8 context_flags(enum abi_context in)
{
	if (in == ABI_IN_HARDIRQ)
		return EV_FLAG_HARDIRQ;
	if (in == ABI_IN_SOFTIRQ)
		return EV_FLAG_SOFTIRQ;
	return in == ABI_IN_NMI ? EV_FLAG_NMI : 0;
}

static __always_inline int wake(struct task_struct *p, __u8 kind)
{
	struct context context;
	struct ev_wake *e;
	struct slot s;

	if (!p->pid || !is_wanted(p))
		return 0;
	e = begin(&s, kind, sizeof(*e));
	if (!e)
		return 0;
	context = context_of(&s.c->context);
	e->hdr.flags = context_flags(context.in);
	e->tid = (__u32)p->pid;
	e->waker_tid = current_tid();
	e->target_cpu = task_cpu(p);
	e->prio = (__s16)p->prio;
	e->by = context.in == ABI_IN_UNKNOWN ? ABI_BY_NOT_RECORDED : context.by;
	end(&s);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];

	if (is_sampling() && (!is_wanted(p) || !follow_waking(p)))
		return 0;
	return wake(p, EV_WAKING);
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];

	if (is_sampling() && !follow_wakeup(p))
		return 0;
	return wake(p, EV_WAKEUP);
}

SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];

	if (is_sampling() && (!is_wanted(p) || !follow_begin(p, FOLLOW_WAIT)))
		return 0;
	return wake(p, EV_WAKEUP_NEW);
}

SEC("tp_btf/sched_migrate_task")
int on_migrate(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct ev_migrate *e;
	struct slot s;

	if (!p->pid || !is_wanted(p) || (is_sampling() && !follow_migrate(p)))
		return 0;
	e = begin(&s, EV_MIGRATE, sizeof(*e));
	if (!e)
		return 0;
	e->tid = (__u32)p->pid;
	e->from_cpu = task_cpu(p);
	e->to_cpu = (__u32)ctx[1];
	e->prio = (__s16)p->prio;
	e->pad_ = 0;
	end(&s);
	return 0;
}

/* Lifecycle and names are never filtered: they are few, and others' records need them. */
SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];
	struct slot s;
	struct ev_fork *e = begin(&s, EV_FORK, sizeof(*e));

	if (!e)
		return 0;
	e->parent_tid = (__u32)parent->pid;
	e->parent_tgid = (__u32)parent->tgid;
	e->tid = (__u32)child->pid;
	e->tgid = (__u32)child->tgid;
	copy_comm(e->comm, child);
	end(&s);
	cgroup_of_child(parent, child);
	if (cfg.has_policies)
		put_changes(child, true);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct ev_exec *e;
	struct slot s;

	if (is_sampling())
		follow_exec(p, (__u32)ctx[1]);
	e = begin(&s, EV_EXEC, sizeof(*e));
	if (!e)
		return 0;
	e->tid = (__u32)p->pid;
	e->old_tid = (__u32)ctx[1];
	copy_comm(e->comm, p);
	end(&s);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct slot s;
	struct ev_exit *e = begin(&s, EV_EXIT, sizeof(*e));

	if (!e)
		return 0;
	e->tid = (__u32)p->pid;
	e->tgid = (__u32)p->tgid;
	e->prio = (__s16)p->prio;
	e->pad_[0] = e->pad_[1] = e->pad_[2] = 0;
	copy_comm(e->comm, p);
	end(&s);
	return 0;
}

SEC("tp_btf/task_rename")
int on_rename(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct slot s;
	struct ev_rename *e = begin(&s, EV_RENAME, sizeof(*e));

	if (!e)
		return 0;
	e->tid = (__u32)p->pid;
	e->tgid = (__u32)p->tgid;
	copy_comm(e->old_comm, p);
	__builtin_memset(e->comm, 0, sizeof(e->comm));
	bpf_probe_read_kernel_str(e->comm, sizeof(e->comm), (const void *)ctx[1]);
	end(&s);
	return 0;
}

SEC("tp_btf/sched_process_free")
int on_free(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct slot s;
	struct ev_free *e = begin(&s, EV_FREE, sizeof(*e));

	if (!e)
		return 0;
	e->tid = (__u32)p->pid;
	e->prio = (__s16)p->prio;
	e->pad_ = 0;
	copy_comm(e->comm, p);
	end(&s);
	return 0;
}

static __always_inline int about_task(struct task_struct *p, __u8 kind)
{
	struct slot s;
	struct ev_task *e = begin(&s, kind, sizeof(*e));

	if (!e)
		return 0;
	e->tid = (__u32)p->pid;
	e->prio = (__s16)p->prio;
	e->pad_ = 0;
	copy_comm(e->comm, p);
	end(&s);
	return 0;
}

SEC("tp_btf/sched_process_hang")
int on_hang(__u64 *ctx)
{
	return about_task((struct task_struct *)ctx[0], EV_HANG);
}

/* The tracepoint's own argument is the task waited for, not the one that waits. */
SEC("tp_btf/sched_process_wait")
int on_wait(__u64 *ctx)
{
	return about_task(bpf_get_current_task_btf(), EV_WAIT);
}

/* The cookie of the attachment says which probe it was (Linux 5.15). */
SEC("kprobe")
int on_kprobe(struct pt_regs *ctx)
{
	return put_probe((__u32)bpf_get_attach_cookie(ctx), bpf_get_func_ip(ctx));
}

/* Of a return probe, the address is the one to which the function returns. */
SEC("uprobe")
int on_uprobe(struct pt_regs *ctx)
{
	return put_probe((__u32)bpf_get_attach_cookie(ctx), PT_REGS_IP(ctx));
}
