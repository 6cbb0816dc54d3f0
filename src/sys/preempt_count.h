/*
 * sys/preempt_count — where a kernel keeps how deep in interrupts each CPU is, if not with the running task.
 *
 * x86-64 keeps it in a variable of each CPU: `__preempt_count`, and from Linux 6.2 to 6.14 as the second member of
 * `pcpu_hot`. The addresses come from kallsyms, which shows them to CAP_SYSLOG only. Blocks on that file.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct preempt_count {
	uint64_t offsets; /* of an array: what to add for each CPU */
	uint64_t address; /* before that is added */
};

/* 0, -ENOENT where it is kept elsewhere or hidden, or another -errno of the file. */
MUST_USE int preempt_count_find(const char *kallsyms, struct preempt_count *out);
