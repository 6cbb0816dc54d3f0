/*
 * sys/cgroup_mount — where the hierarchies of cgroups are mounted, and which of them has the controller "cpu".
 *
 * Hybrid systems have the v2 hierarchy beside those of v1; then quotas and weights are in the one of v1 that "cpu" is mounted
 * with. Only /proc is read.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"

struct cgroup_hierarchy {
	int id; /* the kernel's number; 0 = v2 */
	bool is_v1;
	char *mount; /* NULL = it is not mounted here: its cgroups have no names */
};

/* The one that has the controller "cpu", of the process whose folder in /proc it is. -errno if that says nothing. */
MUST_USE int cgroup_find_cpu(const char *proc_self, struct cgroup_hierarchy *out);
void cgroup_hierarchy_done(struct cgroup_hierarchy *h);
