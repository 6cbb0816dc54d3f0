/*
 * The event stream: one record per event, in ring buffers shared by neighbouring CPUs.
 *
 * A record is reserved first and stamped then: whoever reads the clock, then the end of a ring, knows that
 * all records beyond that end are younger. Each kind has its own program and is loaded only if asked for.
 * A record that finds no room is counted for its kind and CPU.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "abi/event_cfg.h"
#include "bpf/events_filter.bpf.h"
#include "bpf/events_follow.bpf.h"
#include "bpf/events_pmu.bpf.h"
#include "bpf/events_probe.bpf.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/switch_args.bpf.h"
#include "bpf/task.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void copy_comm(char *to, struct task_struct *p)
{
	bpf_probe_read_kernel(to, EV_COMM_LEN, p->comm);
}

/* What sched_switch tells user space: one letter per bit, the highest of those that are set. */
static __always_inline __u32 reported_state(struct task_struct *p, __u32 state, bool is_preempt)
{
	if (is_preempt)
		return EV_STATE_PREEMPTED;
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

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	bool wants_prev, wants_next, is_last = false;
	struct slot s;
	__u64 pmu_ns = 0;
	struct switch_args a;
	struct ev_switch *e;
	struct ev_cpu *c;

	switch_args_read(ctx, cfg.switch_args, &a);
	wants_prev = is_wanted(a.prev);
	wants_next = is_wanted(a.next);
	if (is_sampling())
		is_last = follow_switch(&a, &wants_prev, &wants_next);
	if (cfg.filter_cgroup || cfg.nr_counters) {
		c = this_cpu();
		if (!c || !is_open)
			return 0;
		/* One that was moved out of the cgroup while it ran: its slice has an end too. */
		if (a.prev->pid && (__u32)a.prev->pid == c->shown_tid)
			wants_prev = true;
		if (cfg.nr_counters && (wants_prev || wants_next))
			pmu_ns = put_pmu(c, wants_prev ? (__u32)a.prev->pid : 0);
		c->shown_tid = wants_next ? (__u32)a.next->pid : 0;
	}
	if (!wants_prev && !wants_next)
		return 0;
	e = begin(&s, EV_SWITCH, sizeof(*e));
	if (!e)
		return 0;
	/* One moment for both: whoever reads them can tell which slice it was. */
	if (pmu_ns)
		e->hdr.ts_ns = pmu_ns;
	e->hdr.flags |= (__u8)((wants_prev ? 0 : EV_FLAG_OTHER_PREV) |
	                       (wants_next ? 0 : EV_FLAG_OTHER_NEXT));
	if (is_last)
		e->hdr.flags |= EV_FLAG_LAST;
	e->prev_tid = (__u32)a.prev->pid;
	e->next_tid = (__u32)a.next->pid;
	e->prev_state = reported_state(a.prev, a.state, a.is_preempt);
	e->prev_prio = (__s16)a.prev->prio;
	e->next_prio = (__s16)a.next->prio;
	end(&s);
	return 0;
}

static __always_inline int wake(struct task_struct *p, __u8 kind)
{
	struct ev_wake *e;
	struct slot s;

	if (!p->pid || !is_wanted(p))
		return 0;
	e = begin(&s, kind, sizeof(*e));
	if (!e)
		return 0;
	e->tid = (__u32)p->pid;
	e->waker_tid = current_tid();
	e->target_cpu = task_cpu(p);
	e->prio = (__s16)p->prio;
	e->pad_ = 0;
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

/* The tracepoint's own argument is whom the task waits for, not who waits. */
SEC("tp_btf/sched_process_wait")
int on_wait(__u64 *ctx)
{
	return about_task(bpf_get_current_task_btf(), EV_WAIT);
}

static __always_inline int softirq(__u32 vector, __u8 kind)
{
	struct slot s;
	struct ev_softirq *e = begin(&s, kind, sizeof(*e));

	if (!e)
		return 0;
	e->vector = vector;
	e->tid = current_tid();
	end(&s);
	return 0;
}

SEC("tp_btf/softirq_entry")
int on_softirq_entry(__u64 *ctx)
{
	struct ev_cpu *c = this_cpu();

	if (c)
		c->softirq_depth = 1;
	return softirq((__u32)ctx[0], EV_SOFTIRQ_ENTRY);
}

SEC("tp_btf/softirq_exit")
int on_softirq_exit(__u64 *ctx)
{
	struct ev_cpu *c = this_cpu();
	int ret = softirq((__u32)ctx[0], EV_SOFTIRQ_EXIT);

	if (c)
		c->softirq_depth = 0;
	return ret;
}

SEC("tp_btf/irq_handler_entry")
int on_irq_entry(__u64 *ctx)
{
	struct irqaction *action = (struct irqaction *)ctx[1];
	struct ev_cpu *c = this_cpu();
	struct ev_irq_entry *e;
	struct slot s;

	if (c)
		c->hardirq_depth++;
	e = begin(&s, EV_IRQ_ENTRY, sizeof(*e));
	if (!e)
		return 0;
	e->irq = (__u32)ctx[0];
	e->tid = current_tid();
	__builtin_memset(e->name, 0, sizeof(e->name));
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), action->name);
	end(&s);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int on_irq_exit(__u64 *ctx)
{
	struct ev_cpu *c = this_cpu();
	struct slot s;
	struct ev_irq_exit *e = begin(&s, EV_IRQ_EXIT, sizeof(*e));

	if (e) {
		e->irq = (__u32)ctx[0];
		e->ret = (__s32)ctx[2];
		end(&s);
	}
	if (c && c->hardirq_depth) /* entries from before we attached have no place here */
		c->hardirq_depth--;
	return 0;
}

static __always_inline int ipi_send(__u32 target, __u64 callsite, __u64 callback)
{
	struct slot s;
	struct ev_ipi_send *e = begin(&s, EV_IPI_SEND, sizeof(*e));

	if (!e)
		return 0;
	e->target_cpu = target;
	e->tid = current_tid();
	e->callsite = callsite;
	e->callback = callback;
	end(&s);
	return 0;
}

SEC("tp_btf/ipi_send_cpu")
int on_ipi_send_cpu(__u64 *ctx)
{
	return ipi_send((__u32)ctx[0], ctx[1], ctx[2]);
}

SEC("tp_btf/ipi_send_cpumask")
int on_ipi_send_cpumask(__u64 *ctx)
{
	return ipi_send(~0U, ctx[1], ctx[2]);
}

static __always_inline int ipi(const char *reason, __u8 kind)
{
	struct slot s;
	struct ev_ipi *e = begin(&s, kind, sizeof(*e));

	if (!e)
		return 0;
	__builtin_memset(e->reason, 0, sizeof(e->reason));
	bpf_probe_read_kernel_str(e->reason, sizeof(e->reason), reason);
	end(&s);
	return 0;
}

SEC("tp_btf/ipi_entry")
int on_ipi_entry(__u64 *ctx)
{
	return ipi((const char *)ctx[0], EV_IPI_ENTRY);
}

SEC("tp_btf/ipi_exit")
int on_ipi_exit(__u64 *ctx)
{
	return ipi((const char *)ctx[0], EV_IPI_EXIT);
}

static __always_inline int work(struct work_struct *w, __u8 kind)
{
	struct slot s;
	struct ev_work *e = begin(&s, kind, sizeof(*e));

	if (!e)
		return 0;
	e->work = (__u64)w;
	/* Once it has run, the item may be gone: its end carries no function. */
	e->function = kind == EV_WORK_START ? (__u64)w->func : 0;
	e->tid = current_tid();
	e->pad_ = 0;
	end(&s);
	return 0;
}

SEC("tp_btf/workqueue_execute_start")
int on_work_start(__u64 *ctx)
{
	return work((struct work_struct *)ctx[0], EV_WORK_START);
}

SEC("tp_btf/workqueue_execute_end")
int on_work_end(__u64 *ctx)
{
	return work((struct work_struct *)ctx[0], EV_WORK_END);
}

SEC("tp_btf/cpu_idle")
int on_cpu_idle(__u64 *ctx)
{
	struct slot s;
	struct ev_cpu_idle *e = begin(&s, EV_CPU_IDLE, sizeof(*e));

	if (!e)
		return 0;
	e->state = (__u32)ctx[0];
	e->cpu = (__u32)ctx[1];
	end(&s);
	return 0;
}

SEC("tp_btf/cpu_frequency")
int on_cpu_freq(__u64 *ctx)
{
	struct slot s;
	struct ev_cpu_freq *e = begin(&s, EV_CPU_FREQ, sizeof(*e));

	if (!e)
		return 0;
	e->khz = (__u32)ctx[0];
	e->cpu = (__u32)ctx[1];
	end(&s);
	return 0;
}

static __always_inline struct ev_cpu_hotplug *hotplug(struct slot *s, __u32 cpu)
{
	struct ev_cpu_hotplug *e = begin(s, EV_CPU_HOTPLUG, sizeof(*e));

	if (!e)
		return NULL;
	e->cpu = cpu;
	e->target = 0;
	e->step = 0;
	e->ret = 0;
	e->is_exit = 0;
	e->pad_ = 0;
	return e;
}

SEC("tp_btf/cpuhp_enter")
int on_hotplug_enter(__u64 *ctx)
{
	struct slot s;
	struct ev_cpu_hotplug *e = hotplug(&s, (__u32)ctx[0]);

	if (!e)
		return 0;
	e->target = (__s32)ctx[1];
	e->step = (__s32)ctx[2];
	end(&s);
	return 0;
}

SEC("tp_btf/cpuhp_exit")
int on_hotplug_exit(__u64 *ctx)
{
	struct slot s;
	struct ev_cpu_hotplug *e = hotplug(&s, (__u32)ctx[0]);

	if (!e)
		return 0;
	e->step = (__s32)ctx[1];
	e->ret = (__s32)ctx[3];
	e->is_exit = 1;
	end(&s);
	return 0;
}

static __always_inline int pressure(__u32 cpu, __u64 value)
{
	struct slot s;
	struct ev_hw_pressure *e = begin(&s, EV_HW_PRESSURE, sizeof(*e));

	if (!e)
		return 0;
	e->pressure = value;
	e->cpu = cpu;
	e->pad_ = 0;
	end(&s);
	return 0;
}

SEC("tp_btf/hw_pressure_update")
int on_hw_pressure(__u64 *ctx)
{
	return pressure((__u32)ctx[0], ctx[1]);
}

/* Its name before 6.10. */
SEC("tp_btf/thermal_pressure_update")
int on_thermal_pressure(__u64 *ctx)
{
	return pressure((__u32)ctx[0], ctx[1]);
}

SEC("tp_btf/gpu_mem_total")
int on_gpu_mem(__u64 *ctx)
{
	struct slot s;
	struct ev_gpu_mem *e = begin(&s, EV_GPU_MEM, sizeof(*e));

	if (!e)
		return 0;
	e->bytes = ctx[2];
	e->gpu = (__u32)ctx[0];
	e->tgid = (__u32)ctx[1];
	end(&s);
	return 0;
}

/* Which probe it was comes as a cookie of the attachment (Linux 5.15). */
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
