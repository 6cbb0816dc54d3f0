/*
 * collect/sample/mmap_ring — which processes map which files, as it happens: perf's records of mmap, exec, fork and exit.
 *
 * One software event per CPU that counts nothing and reports mappings, files by device and inode.
 * The kernel could report build ids instead (Linux 5.12), but then marks the same records of all
 * other listeners too (6.18 still does), and a `perf record` that runs meanwhile crashes. Only
 * mappings that can be executed. Reports of a process are in the order in which they happened, also
 * across takes; those of different processes are merged by time within one take. It reports from
 * the moment it is open. Each CPU's ring holds 128 KiB, some hundred execs: a caller that waits for
 * something else can wait for mmap_ring_poll_fd() as well. What a full ring dropped is counted.
 * Works without BPF. One thread; nothing blocks. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "sys/cpulist.h"

struct mmap_ring;

enum mmap_what { MMAP_MAPPED, MMAP_EXEC, MMAP_FORK, MMAP_EXIT };

struct mmap_report {
	enum mmap_what what;
	uint64_t ts_ns; /* boot time */
	uint32_t tgid;
	uint32_t parent_tgid; /* of MMAP_FORK */
	uint64_t start, end, offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	const char *path; /* of MMAP_MAPPED; lent during the call */
};

typedef int mmap_report_fn(void *ctx, const struct mmap_report *r);

/* tgid 0 = all processes; else this one, and children started meanwhile. -EACCES without the right to. */
MUST_USE int mmap_ring_open(const struct cpulist *online, uint32_t tgid, struct diag *d,
                            struct mmap_ring **out);
/* CPUs have gone online or offline. 0, or the first -errno of a CPU that stays unwatched. */
MUST_USE int mmap_ring_follow(struct mmap_ring *m, const struct cpulist *online, struct diag *d);
/* All reports so far; threads that are not leaders are left out. A negative errno of report() ends it. */
MUST_USE int mmap_ring_take(struct mmap_ring *m, mmap_report_fn *report, void *ctx);
int mmap_ring_poll_fd(const struct mmap_ring *m);   /* readable when a ring is half full */
uint64_t mmap_ring_lost(const struct mmap_ring *m); /* as of the last take */
void mmap_ring_close(struct mmap_ring *m);          /* NULL is fine */
DEFINE_SCOPED(mmap_ring, mmap_ring_close)
