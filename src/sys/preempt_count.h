/*
 * sys/preempt_count — where a kernel keeps how deep in interrupts each CPU is.
 *
 * arm64 keeps it with the running task. x86-64 keeps it in a variable of each CPU: `__preempt_count`, and from Linux 6.2
 * to 6.14 as a member of `pcpu_hot`. Where that lies is known, in this order: from the kernel's BTF, as the distance from
 * the CPU's run queue, whose address every task knows (with group scheduling); from kallsyms, which has the symbols of
 * variables only with CONFIG_KALLSYMS_ALL, and shows addresses to CAP_SYSLOG only. Blocks on that file.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct btf;

enum preempt_count_place {
	PREEMPT_COUNT_UNKNOWN,
	PREEMPT_COUNT_TASK,    /* in thread_info of the current task */
	PREEMPT_COUNT_QUEUE,   /* `address` beyond the run queue of the CPU; wraps around */
	PREEMPT_COUNT_OFFSETS, /* `address` plus what the array at `offsets` has for the CPU */
};

struct preempt_count {
	enum preempt_count_place place;
	uint64_t offsets;
	uint64_t address;
};

/* kallsyms is the name of the file; NULL = do not use it. */
void preempt_count_find(const struct btf *vmlinux, const char *kallsyms, struct preempt_count *out);
