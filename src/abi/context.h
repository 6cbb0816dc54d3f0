/*
 * abi/context — in which context a CPU was when something happened: running a task, or handling an
 * interrupt.
 *
 * The kernel's preempt_count decides; tracepoints only name the interrupt (bpf/context.bpf.h). In
 * an interrupt the current task is only the interrupted one; it is not the cause of anything.
 */
#pragma once

#include <linux/types.h>

enum abi_context {
	ABI_IN_TASK,
	ABI_IN_SOFTIRQ,
	ABI_IN_HARDIRQ,
	ABI_IN_NMI,
	ABI_IN_UNKNOWN, /* a task, or an interrupt during it */
};

/*
 * Which interrupt, in 16 bits; numbers are in files: append, never reuse. Those without a number of their own are
 * ABI_BY_SOFTIRQ + vector (below ABI_BY_IRQ) and ABI_BY_IRQ + number of the kernel's interrupt (below ABI_BY_NOT_RECORDED).
 * name, number, what it is called in tables, what stands behind "woken by"
 */
#define ABI_BY(X)                                                                          \
	X(TIMER, 1, "timer interrupt", "the timer interrupt")                              \
	X(CALL_FUNCTION, 2, "function call IPI", "a function call from another CPU (IPI)") \
	X(IRQ_WORK, 3, "irq_work", "an interrupt for deferred work (irq_work)")            \
	X(RESCHEDULE, 4, "rescheduling IPI", "a rescheduling IPI")                         \
	X(IPI, 5, "IPI", "an inter-processor interrupt")

enum {
	ABI_BY_UNKNOWN = 0, /* a task, or an interrupt of which the name is not known */
#define X(name, nr, title, words) ABI_BY_##name = (nr),
	ABI_BY(X)
#undef X
		ABI_BY_SOFTIRQ = 32,
	ABI_BY_IRQ = 64,
	ABI_BY_NOT_RECORDED = 0xffff, /* in a file: whether it was an interrupt was not recorded */
};

#define ABI_BY_IRQS (ABI_BY_NOT_RECORDED - ABI_BY_IRQ) /* numbers of interrupts that have a place */

/* Where the programs read preempt_count. */
enum abi_context_source {
	ABI_CONTEXT_COUNTED, /* not found: interrupts are counted from their tracepoints */
	ABI_CONTEXT_TASK,    /* with the task: arm64 */
	ABI_CONTEXT_QUEUE,   /* in the CPU's area, at a distance from its run queue: x86-64 */
	ABI_CONTEXT_OFFSETS, /* there, too, by the table of the areas' offsets */
};

/* Set before the programs are loaded. */
struct context_cfg {
	__u64 offsets; /* of OFFSETS: address of the array of all CPUs' offsets */
	__u64 count; /* of QUEUE: what to add to the run queue's address; of OFFSETS: address before the offset */
	__u32 timer_irq; /* the kernel's number of the timer's interrupt; ~0 = it has none */
	__u8 source;     /* enum abi_context_source */
	__u8 pad_[3];
};

/* Of each CPU: what the tracepoints reported. */
struct context_cpu {
	__u16 hard;  /* ABI_BY_* of the handler that runs; ABI_BY_UNKNOWN = none that is known */
	__u16 soft;  /* of the softirq */
	__u32 depth; /* of hard interrupts, where they are counted */
};
