/*
 * machine/machine_source — a live machine, refreshed repeatedly, for a screen.
 *
 * With privileges and BTF from BPF (stat/stat_session's counters: latency, slices, sleeps, migrations per thread), else
 * from /proc alone; then struct machine.notice says what is missing. Only what a view requests is collected; what stands
 * for itself (power, events, ...) is a machine/parts/part. BPF
 * is attached when it is first needed, by a thread of its own, and detached when it was not for a while; until it is
 * there the source is "proc", without a notice. A refresh never blocks for long: command lines, which can hang, are read by
 * another thread and come when they come, and threads are read for a bounded time (machine/machine_tasks). Opening counts
 * as a refresh, so that the first one has an interval. All calls come from one thread.
 *
 * The latency of a task is that after wakeups, its first as a new task included. Wakeups of a CPU are those made on it;
 * its tid is 0 while it is idle. The prio of a task is the kernel's: 120 is nice 0. Processes are sums of their
 * threads; their distributions hold threads that ended in the interval, too. Their state is R or D if any thread's is.
 * Not reported (absent): layers, dispatch queues.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/machine.h"

struct machine_source;

struct machine_source_cfg {
	bool is_proc_only;
	bool is_layered;          /* tasks with the layers of scx_layered */
	uint32_t tgid;            /* only this process; 0 = all */
	const char *mango_path;   /* that the key of mangoapp's queue comes from; NULL = its own */
	uint32_t mango_poll_ms;   /* 0 = a second */
	const char *stats_socket; /* of a scheduler; NULL = the usual one */
	bool is_scx_by_kprobe;    /* for tests: as on kernels without fentry */
	bool is_context_counted;  /* for tests: as where no preempt_count is found */
	/* For tests: a copy of a machine's files, whose /proc and /sys are below it, and its clock. NULL: the real ones. */
	const char *root;
	uint64_t (*clock)(void); /* boot time in ns */
};

MUST_USE int machine_source_open(const struct machine_source_cfg *cfg, struct diag *d,
                                 struct machine_source **out);
void machine_source_close(
	struct machine_source *s); /* NULL is fine; waits for programs that are being attached */
bool machine_source_is_attaching(const struct machine_source *s);
/* The interval since the last refresh, as far as requested; lent until the next. */
MUST_USE int machine_source_refresh(struct machine_source *s, const struct machine_request *request,
                                    struct diag *d, const struct machine **out);
