/*
 * analyze/units — what an analysis counts by: threads, processes with all their threads, tasks of one name, of one cgroup or of
 * one class of the scheduler. A task may be in several cgroups and classes, one after the other: units_at() tells which.
 *
 * A thread whose process is not known is a process of its own, and so is a task without a name. A process is named by
 * its main thread where that was seen, else by any; tasks of one name by the first, and by the name that each has last.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/classes.h"
#include "analyze/scope.h"
#include "base/attr.h"

struct units {
	const struct source *s;
	enum pass_by by;
	uint32_t nr;
	uint32_t *of_task; /* NULL: each task is one, or by cgroup and class */
	struct classes classes;
	uint32_t *names;   /* by unit: the task that names it */
	uint32_t *threads; /* by unit: tasks that ran or were woken */
};

/* -ENOMEM, or -ENODATA for cgroups that are unknown, with a sentence. */
MUST_USE int units_init(struct units *u, const struct scope *sc, struct diag *d);
void units_done(struct units *u);

/* At the time when a row about it begins. */
uint32_t units_at(const struct units *u, uint32_t task, uint64_t ts_ns);
/* The last one of a task, and since when; a class since UINT64_MAX, as it may change with each slice. */
uint32_t units_last(const struct units *u, uint32_t task, uint64_t *since_ns);
/* Of threads, processes and names, which never change. */
uint32_t units_of(const struct units *u, uint32_t task);
/* Of threads, processes and names: the task that names it. */
uint32_t units_task(const struct units *u, uint32_t unit);
/* The number by which a reader knows it: a tid, or a tgid. */
uint32_t units_pid(const struct units *u, uint32_t unit);
/* Members pid, tgid, comm; or cgroup; or class. */
void units_report(const struct units *u, struct report *r, uint32_t unit);
/* "aggregation_mode": per_thread, per_process, per_comm, per_cgroup or per_class. */
void units_report_mode(const struct units *u, struct report *r);
uint32_t units_threads(const struct units *u, uint32_t unit);

/* Members pid (of the thread), tgid and comm of a task; all null for none. */
void task_report(const struct source *s, struct report *r, uint32_t task);
/*
 * Members waker_pid and waker_comm, null where no task woke; waker_interrupt, null unless an interrupt did. by is of
 * latency_waker(). A waker has the name that it had then; in rows about all of the time, its last one.
 */
#define UNITS_LAST_NAME UINT64_MAX
void waker_report(const struct source *s, struct report *r, uint32_t by, uint64_t ts_ns);
