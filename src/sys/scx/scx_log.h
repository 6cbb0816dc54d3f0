/*
 * sys/scx/scx_log — why a scheduler of sched_ext ended, from the kernel's log: its files keep no reason.
 *
 * Reads /dev/kmsg from where it was opened on, without blocking. Needs CAP_SYSLOG, or a machine that shows its log to all.
 */
#pragma once

#include <stdbool.h>

struct scx_log_end {
	char scheduler[64];
	char reason[160]; /* "runnable task stall", with what follows if the kernel said more */
};

int scx_log_open(void); /* a descriptor to be closed, or -errno */
/* Whether an end was logged since the last call; *out is the last one then. */
bool scx_log_read(int fd, struct scx_log_end *out);
/* One record of /dev/kmsg. True: it begins or completes *out. */
bool scx_log_parse(const char *record, struct scx_log_end *out);
