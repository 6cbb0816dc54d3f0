/*
 * bpf/stat_dsq_programs — the programs behind `stat -g dsq`: tasks that enter and leave queues,
 * schedulers that are loaded and unloaded.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/ptrace.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/kernel.bpf.h"
#include "bpf/scx_args.bpf.h"
#include "bpf/stat_dsq.bpf.h"
#include "bpf/stat_maps.bpf.h"

/* Where these attach is set by user space (collect/scx_plan); dsq_at is a constant to the verifier. */
SEC("fentry")
int on_dsq_enter(__u64 *ctx)
{
	if (cfg.dsq_at == 0)
		dsq_insert((struct scx_dispatch_q *)ctx[0], (struct task_struct *)ctx[1], ctx[2],
		           false);
	else if (cfg.dsq_at == 1)
		dsq_insert((struct scx_dispatch_q *)ctx[1], (struct task_struct *)ctx[2], ctx[3],
		           false);
	else
		dsq_insert((struct scx_dispatch_q *)ctx[2], (struct task_struct *)ctx[3], ctx[4],
		           false);
	return 0;
}

SEC("kprobe")
int on_dsq_enter_k(struct pt_regs *ctx)
{
	struct scx_enter_args a;

	scx_enter_args_k(ctx, cfg.dsq_at, &a);
	dsq_insert(a.dsq, a.p, a.flags, true);
	return 0;
}

SEC("fentry")
int on_dsq_unlink(__u64 *ctx)
{
	dsq_remove((struct scx_dispatch_q *)ctx[1], false);
	return 0;
}

SEC("kprobe")
int on_dsq_unlink_k(struct pt_regs *ctx)
{
	dsq_remove((struct scx_dispatch_q *)PT_REGS_PARM2(ctx), true);
	return 0;
}

/*
 * bpf_scx_reg() is called: its queues are used before it returns. A scheduler registered too early
 * is refused.
 */
static __always_inline int scx_begin(void)
{
	if (!is_scx_on) {
		scheduler_nr++;
		is_scx_coming = 1;
	}
	return 0;
}

SEC("fentry")
int on_scx_begin(__u64 *ctx)
{
	return scx_begin();
}

SEC("kprobe")
int on_scx_begin_k(struct pt_regs *ctx)
{
	return scx_begin();
}

/* bpf_scx_reg() has returned. */
static __always_inline int scx_reg(int result)
{
	if (!result) {
		if (!is_scx_coming) /* the end of the last one was not reported */
			scheduler_nr++;
		is_scx_on = 1;
	}
	is_scx_coming = 0;
	return 0;
}

/* Behind the two arguments. */
SEC("fexit")
int on_scx_reg(__u64 *ctx)
{
	return scx_reg((int)ctx[2]);
}

SEC("kretprobe")
int on_scx_reg_k(struct pt_regs *ctx)
{
	return scx_reg((int)PT_REGS_RC(ctx));
}

SEC("fentry")
int on_scx_disable(__u64 *ctx)
{
	is_scx_on = 0;
	return 0;
}

SEC("kprobe")
int on_scx_disable_k(struct pt_regs *ctx)
{
	is_scx_on = 0;
	return 0;
}
