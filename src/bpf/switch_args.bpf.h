/* bpf/switch_args — the arguments of sched_switch, whatever the order in which a kernel passes them. */
#pragma once

#include <stdbool.h>

#include "abi/switch_args.h"
#include "bpf/kernel.bpf.h"
#include "bpf/task.bpf.h"

struct switch_args {
	struct task_struct *prev;
	struct task_struct *next;
	__u32 state; /* of prev, as it left */
	bool is_preempt;
};

/* order is a constant to the verifier, which never checks the other branches. */
static __always_inline void switch_args_read(__u64 *ctx, __u8 order, struct switch_args *out)
{
	out->is_preempt = ctx[0] & 1;
	if (order == ABI_SWITCH_STATE_LAST) {
		out->prev = (struct task_struct *)ctx[1];
		out->next = (struct task_struct *)ctx[2];
		out->state = (__u32)ctx[3];
	} else if (order == ABI_SWITCH_STATE_2ND) {
		out->state = (__u32)ctx[1];
		out->prev = (struct task_struct *)ctx[2];
		out->next = (struct task_struct *)ctx[3];
	} else {
		out->prev = (struct task_struct *)ctx[1];
		out->next = (struct task_struct *)ctx[2];
		out->state = task_state(out->prev);
	}
}
