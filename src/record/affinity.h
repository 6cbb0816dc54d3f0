/*
 * record/affinity — adds to a stream of records on which CPUs its tasks may run.
 *
 * Sits between a source and its sink. After each record that describes a task (EV_TASK_INFO) the kernel is queried, and an
 * EV_AFFINITY with the same time follows; the answer is as of the moment at which the record is read, and a task that has
 * exited by then has none. The EV_AFFINITY of the source itself, of new tasks and of changes, pass with the flag that only
 * user space knows: whether these are all CPUs that are online. Everything else passes unchanged. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"

#define AFFINITY_WORDS 128 /* 8192 CPUs */

struct affinity;
struct cpulist;

/* CPUs of a task into words, the lowest first; how many words, or -errno, -ESRCH if it is gone. */
typedef int affinity_read_fn(uint32_t tid, uint64_t words[AFFINITY_WORDS]);
affinity_read_fn affinity_of_task; /* asks the kernel */

/* online is copied: a task that may run on all of these is not restricted. read NULL: the kernel is not queried. */
MUST_USE int affinity_new(struct ev_sink down, const struct cpulist *online, affinity_read_fn *read,
                          struct affinity **out);
struct ev_sink affinity_sink(struct affinity *a);
void affinity_free(struct affinity *a); /* NULL is fine */
