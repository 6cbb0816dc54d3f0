/*
 * machine/machine_tasks — the threads and processes of a machine, kept up to date from /proc.
 *
 * The cost of a refresh is in proportion to the active threads, not to all. Threads that ran in the
 * last interval, that are hinted at, that are new or about to exit are hot, and read each time; the
 * others are read in turn, for a share of the time. A thread that had no turn keeps its last
 * numbers, and its next ones are over the whole time between. list() reads directories if
 * /proc/loadavg shows that a task was created or exited, but no more often than its share of the
 * time allows.
 *
 * So, where BPF reports which threads ran: a thread that ran is updated with the next refresh, and
 * an exited one is removed with it, since a thread cannot exit without running; changes of threads
 * that do not run (a zombie's parent is checked at each refresh; a new cgroup) are seen when their
 * turn comes: 20,000 threads take half a minute. From /proc alone: a thread that ran is noticed
 * when its turn comes (20,000 threads: 2 s), then at each refresh; new and exited ones with the
 * next list(), which follows after 100 times the time that the last one took.
 *
 * Of a thread its schedstat is read, through a descriptor that stays open where there is room for
 * it, and its other files only if it has run since. From /proc alone, times to run and to wait are
 * the kernel's own; it reports a wait when it ends, so that one that began long ago can be longer
 * than the interval.
 *
 * What can hang is read by sys/proc/proc_reader, and comes when it comes: cmdline takes a lock of the process's memory (as
 * environ, maps and smaps would), cgroup takes a lock of all cgroups before Linux 6.8. The rest cannot: stat and status
 * take spinlocks and RCU alone (they ask for the size of the memory, not for its lock), schedstat reads numbers, folders
 * take RCU. Files are opened without waiting, so that even a copy with FIFOs in it (a test) cannot stop a refresh: what
 * does not answer is taken for exited.
 *
 * Rows are lent and stay in place until the next list(). One thread. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/machine.h"
#include "sys/proc/proc_thread.h"

#define MACHINE_THREADS_MAX (1U << 18)

struct machine_tasks;

struct machine_tasks_cfg {
	const char *root;        /* put before /proc; "" on a real machine */
	uint32_t tgid;           /* only this process; 0 = all */
	uint64_t (*clock)(void); /* boot time; NULL = the real one */
};

/* The tasks that a sched_ext scheduler has: none, those of the policy SCHED_EXT, or all of normal priority. */
enum machine_ext { MACHINE_EXT_NONE, MACHINE_EXT_ASKED, MACHINE_EXT_ALL };

struct machine_tasks_read {
	uint64_t new_ns;   /* how long new ones, */
	uint64_t hot_ns;   /* those that did something lately, */
	uint64_t turn_ns;  /* and those whose turn it is, may take */
	bool has_switches; /* are wanted from /proc */
	enum machine_ext ext;
};

MUST_USE int machine_tasks_new(const struct machine_tasks_cfg *cfg, struct diag *d,
                               struct machine_tasks **out);
void machine_tasks_free(struct machine_tasks *t); /* NULL is fine */

void machine_tasks_read_load(struct machine_tasks *t); /* before each list(): it reports changes */
/* Not before some time has passed: for callers that report new tasks by hint(). 0 = as its share allows. */
MUST_USE int machine_tasks_list_rarely(struct machine_tasks *t, uint64_t pause_ns, struct diag *d);
/* Has run: is read, and added if it was unknown. 0 or -errno of memory. */
MUST_USE int machine_tasks_hint(struct machine_tasks *t, uint32_t tid, uint32_t tgid);
MUST_USE int machine_tasks_read(struct machine_tasks *t, const struct machine_tasks_read *how,
                                struct diag *d);
void machine_tasks_sum(struct machine_tasks *t); /* of processes; after all else about threads */
/* Last: what is remembered, which tasks are active, in which order. 0 or -ENOMEM. */
MUST_USE int machine_tasks_settle(struct machine_tasks *t);

/* To add what others know; NULL if there is none. */
struct machine_task *machine_tasks_thread(struct machine_tasks *t, uint32_t tid);
struct machine_task *machine_tasks_process(struct machine_tasks *t, uint32_t tgid);
/* The same, of a task that has done something. */
struct machine_task *machine_tasks_update_thread(struct machine_tasks *t, uint32_t tid);
struct machine_task *machine_tasks_update_process(struct machine_tasks *t, uint32_t tgid);
/* What other sources report of a task in an interval in which nothing happened; else it is unknown. */
void machine_task_quiet(struct machine_task *row, bool is_known);
/* The same for all, and for those to come. While it is known, times are theirs, too. */
void machine_tasks_quiet(struct machine_tasks *t, bool is_known);
/* Gives a thread of which they do not know how long it ran the share by the kernel's account. */
void machine_tasks_own_run(struct machine_tasks *t, uint32_t tid);

const struct machine_task *machine_tasks_threads(const struct machine_tasks *t, size_t *nr);
const struct machine_task *machine_tasks_processes(const struct machine_tasks *t, size_t *nr);
/* NULL = there was no memory for it. */
const struct machine_order *machine_tasks_thread_order(const struct machine_tasks *t);
const struct machine_order *machine_tasks_process_order(const struct machine_tasks *t);
const struct proc_load *machine_tasks_load(const struct machine_tasks *t); /* NULL = unknown */
uint32_t machine_tasks_nr_hung(const struct machine_tasks *t);             /* readers that hang */
