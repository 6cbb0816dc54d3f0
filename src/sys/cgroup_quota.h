/*
 * sys/cgroup_quota — which cgroup its quota throttled most, as the kernel counts it (cpu.stat), version 1 or 2.
 *
 * Only cgroups that have a quota are read; new ones are found at every tenth look. Reads files only, needs no rights. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define CGROUP_QUOTA_PATH 128

/* In how many of the periods that it had something to run in. */
struct cgroup_throttled {
	char path[CGROUP_QUOTA_PATH]; /* below the mount; cut where it is longer. "": none was throttled */
	uint64_t nr_periods;
	uint64_t nr_throttled;
};

struct cgroup_quota;

/* mount NULL: that of the hierarchy with the controller cpu. NULL without memory, or if it is not mounted. */
struct cgroup_quota *cgroup_quota_open(const char *mount);
void cgroup_quota_close(struct cgroup_quota *q); /* NULL is fine */
/* The one that was throttled in most periods since the last look, or, if is_total, since it was first seen. */
void cgroup_quota_look(struct cgroup_quota *q, bool is_total, struct cgroup_throttled *out);
