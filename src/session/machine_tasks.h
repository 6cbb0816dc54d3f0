/*
 * session/machine_tasks — the threads and processes of a machine, kept up to date from /proc.
 *
 * list() finds those that are new or gone, and reads directories only if /proc/loadavg says that there are any. read()
 * reads the numbers: of each thread its schedstat, through a descriptor that stays open where there is room for it, and
 * the rest only if the thread has run since. First those that somebody told about, and new ones, then the others in
 * turn, until the time is up: a thread that had no turn keeps its last numbers, and its next ones are over the whole
 * time between. Times to run and to wait are the kernel's own; it tells of a wait when it ends, so that one that began
 * long ago can be longer than the interval. Command lines come later, from sys/cmdline_reader.
 *
 * Rows are lent and stay in place until the next list(). One thread. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/machine.h"
#include "base/attr.h"
#include "base/diag.h"
#include "sys/proc_thread.h"

#define MACHINE_THREADS_MAX (1U << 18)

struct machine_tasks;

struct machine_tasks_cfg {
	const char *root;        /* put before /proc; "" on a real machine */
	uint32_t tgid;           /* only this process; 0 = all */
	uint64_t (*clock)(void); /* boot time; NULL = the real one */
};

struct machine_tasks_read {
	uint64_t new_ns;   /* how long new ones, */
	uint64_t turn_ns;  /* and those whose turn it is, may take */
	bool has_switches; /* are wanted from /proc */
	bool is_ext;       /* sched_ext has the normal tasks */
};

MUST_USE int machine_tasks_new(const struct machine_tasks_cfg *cfg, struct diag *d,
                               struct machine_tasks **out);
void machine_tasks_free(struct machine_tasks *t); /* NULL is fine */

MUST_USE int machine_tasks_list(struct machine_tasks *t, struct diag *d);
void machine_tasks_hint(struct machine_tasks *t, uint32_t tid); /* has run: read it first */
MUST_USE int machine_tasks_read(struct machine_tasks *t, const struct machine_tasks_read *how,
                                struct diag *d);
/* Makes processes the sums of their threads, and remembers; after all else. 0 or -ENOMEM. */
MUST_USE int machine_tasks_sum(struct machine_tasks *t);

/* To add what others know; NULL if there is none. */
struct machine_task *machine_tasks_thread(struct machine_tasks *t, uint32_t tid);
struct machine_task *machine_tasks_process(struct machine_tasks *t, uint32_t tgid);
/* What others know of a task in an interval in which nothing happened: 0, or NAN if nobody knows. */
void machine_task_quiet(struct machine_task *row, double rate);
/* The same for all, and for those to come. */
void machine_tasks_quiet(struct machine_tasks *t, bool is_known);

const struct machine_task *machine_tasks_threads(const struct machine_tasks *t, size_t *nr);
const struct machine_task *machine_tasks_processes(const struct machine_tasks *t, size_t *nr);
const struct proc_load *machine_tasks_load(const struct machine_tasks *t); /* NULL = unknown */
uint32_t machine_tasks_nr_hung(const struct machine_tasks *t); /* command lines that hang */
size_t machine_tasks_nr_unread(const struct machine_tasks *t); /* new ones that had no turn yet */
