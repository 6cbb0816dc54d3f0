/* bpf/events_interrupt — the records of interrupts and deferred work: softirqs, hard interrupts, IPIs, work items. */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi/event.h"
#include "bpf/events_ring.bpf.h"
/* Needs context_here() of events_ring. */
#include "bpf/context.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/task.bpf.h"

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
	context_enter_softirq((__u32)ctx[0]);
	return softirq((__u32)ctx[0], EV_SOFTIRQ_ENTRY);
}

SEC("tp_btf/softirq_exit")
int on_softirq_exit(__u64 *ctx)
{
	int ret = softirq((__u32)ctx[0], EV_SOFTIRQ_EXIT);

	context_leave_softirq();
	return ret;
}

SEC("tp_btf/irq_handler_entry")
int on_irq_entry(__u64 *ctx)
{
	struct irqaction *action = (struct irqaction *)ctx[1];
	struct ev_irq_entry *e;
	struct slot s;

	context_enter_irq((__u32)ctx[0]);
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
	struct slot s;
	struct ev_irq_exit *e = begin(&s, EV_IRQ_EXIT, sizeof(*e));

	if (e) {
		e->irq = (__u32)ctx[0];
		e->ret = (__s32)ctx[2];
		end(&s);
	}
	context_leave();
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
	context_enter_ipi((const char *)ctx[0]);
	return ipi((const char *)ctx[0], EV_IPI_ENTRY);
}

SEC("tp_btf/ipi_exit")
int on_ipi_exit(__u64 *ctx)
{
	int ret = ipi((const char *)ctx[0], EV_IPI_EXIT);

	context_leave();
	return ret;
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
