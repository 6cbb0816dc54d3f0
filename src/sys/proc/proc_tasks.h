/*
 * sys/proc/proc_tasks — the tasks that are there now, from /proc.
 *
 * Tasks that vanish during the walk are left out. Blocks on /proc only. Names are raw bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

#define PROC_TASK_COMM_LEN    16
#define PROC_TASK_CMDLINE_LEN 512

struct proc_task {
	uint32_t tid;
	uint32_t tgid;
	uint32_t ppid; /* process of the parent; 0 = none */
	bool is_kthread;
	bool is_runnable;  /* it ran or waited for a CPU */
	uint64_t start_ns; /* after boot; to the clock tick */
	char comm[PROC_TASK_COMM_LEN];
	size_t cmdline_len;                  /* of the process's first thread only; 0 = none */
	char cmdline[PROC_TASK_CMDLINE_LEN]; /* words end with NUL; cut */
};

/* From the text of /proc/PID/stat. False if it is none. */
MUST_USE bool proc_task_parse(const char *text, struct proc_task *out);

/* The process that a thread belongs to; itself for a process; 0 if there is no such thread. */
uint32_t proc_tgid_of(uint32_t tid);

/* Whether /proc shows processes of others to their owners only (hidepid). mounts is the path of a table as /proc/self/mounts. */
bool proc_hides_processes(const char *mounts);

/* A negative errno of fn ends the walk. root is "/proc", or a copy of such a tree. */
typedef int proc_task_fn(void *ctx, const struct proc_task *task);
MUST_USE int proc_tasks_each(const char *root, proc_task_fn *fn, void *ctx, struct diag *d);
