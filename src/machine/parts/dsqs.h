/*
 * machine/parts/dsqs — the dispatch queues of sched_ext over an interval, for a screen: `stat -g
 * dsq`, opened in a separate thread, since the kernel takes long to verify the programs.
 *
 * A step covers the time since the last one; everything is lent until the next. Calls come from one
 * thread and return at once, but for close(), which waits for an opening that is on its way. Never
 * prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/machine_scx.h"

struct machine_dsqs;

/* A thread that was dispatched from a queue in the interval. */
struct machine_dsqs_thread {
	uint32_t tid, tgid;
	uint64_t dsq;
};

/* tgid: only this process; 0 = all. 0 or -errno. */
MUST_USE int machine_dsqs_open(uint32_t tgid, bool is_by_kprobe, struct machine_dsqs **out);
void machine_dsqs_close(struct machine_dsqs *q); /* NULL is fine; detaches */
/* 1: there is new data; 0: not yet; an error in d is final. */
MUST_USE int machine_dsqs_step(struct machine_dsqs *q, struct diag *d);

const struct machine_dsq *machine_dsqs_queues(const struct machine_dsqs *q, size_t *nr);
const struct machine_dsqs_thread *machine_dsqs_threads(const struct machine_dsqs *q, size_t *nr);
struct machine_scx_task *machine_dsqs_processes(struct machine_dsqs *q, size_t *nr);
uint64_t machine_dsqs_lost(const struct machine_dsqs *q); /* since the start */
