/*
 * bpf/scx_args — what programs at functions of sched_ext share. Each exists twice: with fentry, for
 * kernels that allow it on these functions, and with kprobe (_k) for others. The latter get
 * addresses that the verifier does not trust: they read through a helper and identify tasks by tid.
 * has_kprobes is a constant where it is passed on.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/kernel.bpf.h"

#define SCX_ENQ_DSQ_PRIQ (1ULL << 57) /* in the order of vtime */

#define READ(p, field) (has_kprobes ? BPF_CORE_READ(p, field) : (p)->field)

/* Of dispatch_enqueue(). */
struct scx_enter_args {
	struct scx_dispatch_q *dsq;
	struct task_struct *p;
	__u64 flags;
};

/* Read before one is chosen: verifiers up to 6.12 refuse an address in the registers that was computed. */
static __always_inline __u64 kept(__u64 value)
{
	asm volatile("" : "+r"(value));
	return value;
}

/* dsq_at says which argument is the queue; the task and the flags follow it. */
static __always_inline void scx_enter_args_k(struct pt_regs *ctx, __u32 dsq_at,
                                             struct scx_enter_args *out)
{
	const __u64 args[] = { kept(PT_REGS_PARM1(ctx)), kept(PT_REGS_PARM2(ctx)),
		               kept(PT_REGS_PARM3(ctx)), kept(PT_REGS_PARM4(ctx)),
		               kept(PT_REGS_PARM5(ctx)) };

	out->dsq = (void *)(dsq_at == 0 ? args[0] : dsq_at == 1 ? args[1] : args[2]);
	out->p = (void *)(dsq_at == 0 ? args[1] : dsq_at == 1 ? args[2] : args[3]);
	out->flags = dsq_at == 0 ? args[2] : dsq_at == 1 ? args[3] : args[4];
}
