/*
 * bpf/context — does this CPU run a task or handle an interrupt, and which?
 *
 * preempt_count says whether; x86-64 keeps it in the CPU's area, whose base follows from the address of the run queue
 * of the current task, which is always that of its CPU. The programs below only remember the name of the interrupt that
 * is being handled. Where preempt_count cannot be found, they count the depth: all exits are attached before the first
 * entry (collect/context), and each switch, which no interrupt survives, sets it to 0.
 *
 * Rescheduling IPIs of x86-64 have no name, because they wake nothing. Other rare vectors are
 * interrupts with an unknown name.
 *
 * An object that includes this defines context_here() before: the state of its CPU, never NULL
 * except for the verifier.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/context.h"
#include "bpf/kernel.bpf.h"

/* include/linux/preempt.h; unchanged since 5.8 */
#define COUNT_SERVING_SOFTIRQ 0x00000100U
#define COUNT_SOFTIRQ         0x0000ff00U
#define COUNT_HARDIRQ         0x000f0000U
#define COUNT_NMI             0x00f00000U

const volatile struct context_cfg context_cfg = {};

struct context {
	enum abi_context in;
	__u16 by; /* ABI_BY_* */
};

/* Linux 6.2. A load instead of a call: 3 ns instead of 10. */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

static __always_inline bool context_read_at(__u64 address, __u32 *out)
{
	const struct refcount_struct *word; /* any type that begins with 32 bits */

	if (!bpf_rdonly_cast)
		return !bpf_probe_read_kernel(out, sizeof(*out), (const void *)address);
	word = bpf_rdonly_cast((const void *)address,
	                       bpf_core_type_id_kernel(struct refcount_struct));
	*out = (__u32)word->refs.counter;
	return true;
}

/* The branches are constants: one of them is loaded. */
static __always_inline bool context_count(struct task_struct *p, __u32 *out)
{
	struct task_struct___rt *rt = (void *)p;
	__u64 base = 0;
	bool is_read = false;

	if (context_cfg.source == ABI_CONTEXT_TASK &&
	    bpf_core_field_exists(p->thread_info.preempt_count)) {
		*out = (__u32)p->thread_info.preempt_count;
		is_read = true;
	} else if (context_cfg.source == ABI_CONTEXT_QUEUE && bpf_core_field_exists(p->se.cfs_rq)) {
		is_read = context_read_at((__u64)p->se.cfs_rq->rq + context_cfg.count, out);
	} else if (context_cfg.source == ABI_CONTEXT_OFFSETS) {
		__u64 cpu = bpf_get_smp_processor_id();

		is_read = !bpf_probe_read_kernel(&base, sizeof(base),
		                                 (const void *)(context_cfg.offsets + 8 * cpu)) &&
		          context_read_at(base + context_cfg.count, out);
	}
	/* With PREEMPT_RT, softirqs are tasks' work and counted there. */
	if (is_read && bpf_core_field_exists(rt->softirq_disable_cnt))
		*out |= (__u32)BPF_CORE_READ(rt, softirq_disable_cnt) & COUNT_SOFTIRQ;
	return is_read;
}

static __always_inline struct context context_by_depth(const struct context_cpu *c)
{
	if (c->depth)
		return (struct context){ ABI_IN_HARDIRQ, c->hard };
	return (struct context){ c->soft ? ABI_IN_SOFTIRQ : ABI_IN_TASK, c->soft };
}

/* Of the CPU that runs this. */
static __always_inline struct context context_of(const struct context_cpu *c)
{
	__u32 count = 0;

	if (context_cfg.source == ABI_CONTEXT_COUNTED)
		return context_by_depth(c);
	if (!context_count(bpf_get_current_task_btf(), &count))
		return (struct context){ ABI_IN_UNKNOWN, ABI_BY_UNKNOWN };
	if (count & COUNT_NMI)
		return (struct context){ ABI_IN_NMI, ABI_BY_UNKNOWN };
	if (count & COUNT_HARDIRQ)
		return (struct context){ ABI_IN_HARDIRQ, c->hard };
	if (count & COUNT_SERVING_SOFTIRQ)
		return (struct context){ ABI_IN_SOFTIRQ, c->soft };
	return (struct context){ ABI_IN_TASK, ABI_BY_UNKNOWN };
}

static __always_inline bool context_is_interrupt(struct context c)
{
	return c.in != ABI_IN_TASK && c.in != ABI_IN_UNKNOWN;
}

/* An interrupt of which the name is to be remembered begins. */
static __always_inline void context_enter(__u16 by)
{
	struct context_cpu *c = context_here();

	if (!c)
		return;
	c->hard = by;
	if (context_cfg.source == ABI_CONTEXT_COUNTED)
		c->depth++;
}

static __always_inline void context_leave(void)
{
	struct context_cpu *c = context_here();

	if (!c)
		return;
	c->hard = ABI_BY_UNKNOWN;
	if (context_cfg.source == ABI_CONTEXT_COUNTED && c->depth)
		c->depth--;
}

static __always_inline void context_enter_irq(__u32 irq)
{
	__u16 by = irq < ABI_BY_IRQS ? (__u16)(ABI_BY_IRQ + irq) : ABI_BY_UNKNOWN;

	context_enter(irq == context_cfg.timer_irq ? ABI_BY_TIMER : by);
}

/* By the first letter of what arm64 calls it: Timer broadcast, Function call, IRQ work, Rescheduling interrupts. */
static __always_inline void context_enter_ipi(const char *reason)
{
	char letter = 0;

	(void)bpf_probe_read_kernel(&letter, sizeof(letter), reason);
	if (letter == 'T')
		context_enter(ABI_BY_TIMER);
	else if (letter == 'F')
		context_enter(ABI_BY_CALL_FUNCTION);
	else if (letter == 'I')
		context_enter(ABI_BY_IRQ_WORK);
	else
		context_enter(letter == 'R' ? ABI_BY_RESCHEDULE : ABI_BY_IPI);
}

static __always_inline void context_set_softirq(__u16 by)
{
	struct context_cpu *c = context_here();

	if (c)
		c->soft = by;
}

static __always_inline void context_enter_softirq(__u32 vector)
{
	context_set_softirq((__u16)(ABI_BY_SOFTIRQ + (vector & (ABI_BY_IRQ - ABI_BY_SOFTIRQ - 1))));
}

static __always_inline void context_leave_softirq(void)
{
	context_set_softirq(ABI_BY_UNKNOWN);
}

/* Programs for tracepoints that begin and end the handling of one kind of interrupt. */
#define CONTEXT_PROGRAMS(name, by)                \
	SEC("tp_btf/" #name "_exit")              \
	int on_context_##name##_exit(__u64 *ctx)  \
	{                                         \
		(void)ctx;                        \
		context_leave();                  \
		return 0;                         \
	}                                         \
	SEC("tp_btf/" #name "_entry")             \
	int on_context_##name##_entry(__u64 *ctx) \
	{                                         \
		(void)ctx;                        \
		context_enter(by);                \
		return 0;                         \
	}

CONTEXT_PROGRAMS(local_timer, ABI_BY_TIMER)
CONTEXT_PROGRAMS(call_function, ABI_BY_CALL_FUNCTION)
CONTEXT_PROGRAMS(call_function_single, ABI_BY_CALL_FUNCTION)
CONTEXT_PROGRAMS(irq_work, ABI_BY_IRQ_WORK)

SEC("tp_btf/ipi_exit")
int on_context_ipi_exit(__u64 *ctx)
{
	(void)ctx;
	context_leave();
	return 0;
}

SEC("tp_btf/ipi_entry")
int on_context_ipi_entry(__u64 *ctx)
{
	context_enter_ipi((const char *)ctx[0]);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int on_context_irq_handler_exit(__u64 *ctx)
{
	(void)ctx;
	context_leave();
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int on_context_irq_handler_entry(__u64 *ctx)
{
	context_enter_irq((__u32)ctx[0]);
	return 0;
}

SEC("tp_btf/softirq_exit")
int on_context_softirq_exit(__u64 *ctx)
{
	(void)ctx;
	context_leave_softirq();
	return 0;
}

SEC("tp_btf/softirq_entry")
int on_context_softirq_entry(__u64 *ctx)
{
	context_enter_softirq((__u32)ctx[0]);
	return 0;
}

/* Only where interrupts are counted. */
SEC("tp_btf/sched_switch")
int on_context_switch(__u64 *ctx)
{
	struct context_cpu *c = context_here();

	(void)ctx;
	if (c)
		*c = (struct context_cpu){ 0 };
	return 0;
}
