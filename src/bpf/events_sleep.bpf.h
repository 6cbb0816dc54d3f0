/* bpf/events_sleep — in which system call a task goes to sleep. Nothing is paid when a system call is entered or left. */
#pragma once

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/call.h"
#include "abi/event_cfg.h"
#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"

const volatile __u8
	call_of_nr[EV_NR_CALLS]; /* ABI_CALL_* by the kernel's number, ABI_CALL_UNKNOWN = other */

struct entry_regs {
	long nr; /* negative: not in a system call */
	bool is_foreign;
	__u64 args[2];
};

#if defined(__TARGET_ARCH_arm64)
#define TIF_32BIT 22

static __always_inline void read_entry(struct task_struct *p, struct entry_regs *out)
{
	struct pt_regs___entry_arm64 *regs = (void *)bpf_task_pt_regs(p);
	struct thread_info___arm64 *info = (void *)&p->thread_info;

	out->nr = BPF_CORE_READ(regs, syscallno);
	out->args[0] = BPF_CORE_READ(regs, orig_x0); /* the register itself has the result */
	out->args[1] = BPF_CORE_READ(regs, regs[1]);
	out->is_foreign = BPF_CORE_READ(info, flags) & (1UL << TIF_32BIT);
}
#else
#define TS_COMPAT 2

static __always_inline void read_entry(struct task_struct *p, struct entry_regs *out)
{
	struct pt_regs___entry_x86 *regs = (void *)bpf_task_pt_regs(p);
	struct thread_info___x86 *info = (void *)&p->thread_info;

	out->nr = (long)BPF_CORE_READ(regs, orig_ax);
	out->args[0] = BPF_CORE_READ(regs, di);
	out->args[1] = BPF_CORE_READ(regs, si);
	out->is_foreign = BPF_CORE_READ(info, status) & TS_COMPAT;
}
#endif

static __always_inline void put_sleep(struct task_struct *p)
{
	struct entry_regs entry;
	struct ev_sleep *e;
	struct slot s;

	if (p->flags & (PF_KTHREAD | PF_USER_WORKER | PF_IO_WORKER))
		return;
	e = begin(&s, EV_SLEEP, sizeof(*e));
	if (!e)
		return;
	read_entry(p, &entry);
	e->tid = (__u32)p->pid;
	e->nr = 0;
	e->args[0] = e->args[1] = 0;
	if (entry.nr < 0) {
		e->call = ABI_CALL_NONE;
	} else if (entry.is_foreign) {
		e->call = ABI_CALL_FOREIGN;
	} else {
		e->call = entry.nr < EV_NR_CALLS ? call_of_nr[entry.nr & (EV_NR_CALLS - 1)] : 0;
		e->args[0] = entry.args[0];
		e->args[1] = entry.args[1];
		if (!e->call) {
			e->call = ABI_CALL_OTHER;
			e->nr = (__u16)entry.nr;
		}
	}
	end(&s);
}
