/* abi/event_counter — records of values that have a name. Part of abi/event. */
#pragma once

#include <linux/types.h>

#include "abi/event_hdr.h"

/* Of all that the kernel counts, only what has changed. */
struct ev_scx_counter {
	struct ev_hdr hdr;
	__s64 value; /* since the scheduler was loaded */
	char name[48];
};

/* By the task tid; of a process, tgid 0 = of none. Longer names are cut. */
struct ev_counter {
	struct ev_hdr hdr;
	__s64 value;
	__u32 tid;
	__u32 tgid;
	char name[64];
};
