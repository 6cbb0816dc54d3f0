/* bpf/events_filter — which events are recorded: those of the requested process and cgroups. */
#pragma once

#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bpf/events_ring.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/wanted.bpf.h"

static __always_inline bool is_wanted(struct task_struct *p)
{
	if (cfg.filter_tgid && (__u32)p->tgid != cfg.filter_tgid)
		return false;
	return !cfg.filter_cgroup || is_cgroup_wanted(p, cfg.is_cgroup_v1);
}

static __always_inline __u32 current_tid(void)
{
	return (__u32)bpf_get_current_pid_tgid();
}
