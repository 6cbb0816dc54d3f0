/* sys/scx/scx_counters — what the kernel counts about the sched_ext scheduler in charge (Linux 6.15). Blocks on /sys only. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define SCX_COUNTERS_MAX 64

struct scx_counter {
	char name[48]; /* as the kernel's, without SCX_EV_ and in small letters: "select_cpu_fallback" */
	int64_t value; /* since the scheduler was loaded */
};

struct scx_counters {
	size_t nr;
	struct scx_counter items[SCX_COUNTERS_MAX];
};

/* root is "" or a copy of such a tree. -ENOENT: no scheduler is in charge, or the kernel is older; -EIO: not as expected. */
MUST_USE int scx_counters_read(const char *root, struct scx_counters *out);
