/*
 * bpf/unwind_follow — programs that keep what stacks are walked by with its processes: copied at fork, emptied at exec, removed
 * at the end.
 *
 * To be attached before user space reads the processes that are there, so that none of their children is missed.
 */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/kernel.bpf.h"
#include "bpf/unwind.bpf.h"

/* A new process has the code of its parent, until it runs another program. */
SEC("tp_btf/sched_process_fork")
int on_fork_unwind(__u64 *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];
	__u32 of = (__u32)parent->tgid, to = (__u32)child->tgid;
	struct unwind_process *known = bpf_map_lookup_elem(&unwind_processes, &of);

	/* Without room it is walked by frame pointers until user space has noticed it. */
	if (known && of != to)
		(void)bpf_map_update_elem(&unwind_processes, &to, known, BPF_ANY);
	return 0;
}

/* What is known of it ends here; the time stays, so that user space does not report what is older. */
SEC("tp_btf/sched_process_exec")
int on_exec_unwind(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct unwind_process none = { .since_ns = bpf_ktime_get_boot_ns() };
	__u32 tgid = (__u32)p->tgid;

	(void)bpf_map_update_elem(&unwind_processes, &tgid, &none, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_free")
int on_free_unwind(__u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	__u32 tgid = (__u32)p->tgid;

	if (p->pid == p->tgid)
		(void)bpf_map_delete_elem(&unwind_processes, &tgid);
	return 0;
}
