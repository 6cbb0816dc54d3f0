/*
 * sys/proc/proc_thread — what /proc/PID/task/TID reports of one thread, as numbers.
 *
 * Pure: the parsers take any text, are bounded by the room they are given, and say false for what is not what it
 * should be; nothing is written then. All counts are since the thread was created. Names are raw bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define PROC_THREAD_COMM 16

/* From stat. */
struct proc_thread_stat {
	char comm[PROC_THREAD_COMM];
	char state;
	uint64_t run_ticks;   /* user and system */
	uint64_t start_ticks; /* after boot; with the tid, never repeats */
	int32_t prio;         /* the kernel's: 120 = nice 0, below 100 = real time, -1 = deadline */
	int32_t policy;       /* SCHED_* */
	int32_t cpu;          /* where it ran last */
	bool is_kthread;
	uint32_t parent;       /* the process that waits for its end; 0 = none */
	uint64_t memory_pages; /* resident, of the process */
};

/* From schedstat. */
struct proc_thread_sched {
	uint64_t run_ns;
	uint64_t wait_ns; /* runnable; reported when the wait ends */
	uint64_t slices;
};

/* From status. */
struct proc_thread_switches {
	uint64_t voluntary;
	uint64_t involuntary;
};

MUST_USE bool proc_thread_stat_parse(const char *text, struct proc_thread_stat *out);
MUST_USE bool proc_thread_sched_parse(const char *text, struct proc_thread_sched *out);
MUST_USE bool proc_thread_switches_parse(const char *text, struct proc_thread_switches *out);
/* The path in the hierarchy that has the controller cpu: one of v1, else v2. Up to the end of the line; NULL if there is none. */
const char *proc_thread_cgroup_parse(const char *text, size_t *len);

/* The last two words of /proc/loadavg: a new task has moved last_pid, whatever else has happened. */
struct proc_load {
	double load[3];
	uint64_t nr_threads;
	uint64_t last_pid;
};
MUST_USE bool proc_load_parse(const char *text, struct proc_load *out);
