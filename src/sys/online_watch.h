/*
 * sys/online_watch — which CPUs are online, as that changes.
 *
 * Reads one line of sysfs, at most once a second. A CPU that goes offline and online within a
 * second is not noticed. One thread. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "sys/cpulist.h"

struct online_watch {
	int fd; /* -1 = cannot be read: nothing ever changes */
	uint64_t next_ns;
	struct cpulist now;
};

/* From the list that the caller uses; path is that of the kernel, or of a copy. 0 or -ENOMEM. */
MUST_USE int online_watch_open(struct online_watch *w, const char *path,
                               const struct cpulist *from);
#define ONLINE_WATCH_PATH "/sys/devices/system/cpu/online"
/* True: w->now is another list than before. now_ns is of any monotonic clock. */
bool online_watch_poll(struct online_watch *w, uint64_t now_ns);
void online_watch_close(struct online_watch *w); /* a zeroed one must have fd -1 */
