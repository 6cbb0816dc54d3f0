/* bpf/wanted — the cgroup filter: is a task in one of the wanted cgroups, or below one? */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/wanted.h"
#include "bpf/kernel.bpf.h"
#include "bpf/task.bpf.h"

/* cgroup id -> enum abi_cgroup_mode */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u8);
} wanted_cgroups SEC(".maps");

static __noinline bool is_cgroup_wanted(struct task_struct *p, bool is_v1)
{
	struct cgroup *cgrp = task_cgroup(p, is_v1);
	__u64 id = BPF_CORE_READ(cgrp, kn, id);
	int level = BPF_CORE_READ(cgrp, level);
	__u8 *mode;

	if (bpf_map_lookup_elem(&wanted_cgroups, &id))
		return true;
	for (int i = 0; i < ABI_MAX_ANCESTOR; i++) {
		if (i >= level)
			break;
		id = cgroup_ancestor_id(cgrp, (__u32)i);
		mode = bpf_map_lookup_elem(&wanted_cgroups, &id);
		if (mode && *mode == ABI_CGROUP_SUBTREE)
			return true;
	}
	return false;
}
