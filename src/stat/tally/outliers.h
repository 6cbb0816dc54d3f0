/*
 * stat/tally/outliers — which tasks held the CPU while a task waited too long for it.
 *
 * The kernel hands over the task's wait and the last slices of the queue it waited on. A plain value
 * comes out. Input is untrusted: a malformed record is refused with -EBADMSG, and slices that are torn
 * or overlap never explain more than the wait.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"
#include "base/attr.h"

struct outlier_holder {
	uint64_t ns; /* of the wait */
	uint32_t tid;
	uint32_t tgid;
	uint32_t nr_slices;
	char comm[STAT_COMM_LEN]; /* in its latest slice */
};

struct outlier {
	uint64_t at_ns; /* when it got the CPU, boot time */
	uint64_t wait_ns;
	enum stat_cause cause;
	uint32_t cpu;      /* where it ran in the end */
	uint32_t wait_cpu; /* the queue it waited on */
	uint32_t tid;
	uint32_t tgid;
	uint64_t cgroup_id;
	char comm[STAT_COMM_LEN];
	/* holders' time + idle_ns + unexplained_ns = wait_ns */
	uint32_t nr_holders;
	struct outlier_holder holders[STAT_HISTORY + 1]; /* longest first */
	uint64_t idle_ns;                                /* the CPU had nothing to do */
	uint64_t unexplained_ns; /* before the slices remembered, or between them */
};

MUST_USE int outlier_read(const void *rec, size_t len, struct outlier *out);
