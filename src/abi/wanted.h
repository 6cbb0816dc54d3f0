/*
 * abi/wanted — which cgroups a filter lets through: values of the map that BPF reads, by cgroup id.
 */
#pragma once

enum abi_cgroup_mode {
	ABI_CGROUP_EXACT = 1,   /* this one alone */
	ABI_CGROUP_SUBTREE = 2, /* with all below it */
};

#define ABI_MAX_ANCESTOR 32 /* levels that the filter checks */
