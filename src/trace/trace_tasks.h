/*
 * trace/trace_tasks — the task of a tid, as far as the stream has described it; bounded.
 *
 * Tasks stay where they are, so pointers are valid until the task is evicted: first the one that
 * exited longest ago, else one that was not looked up lately. tid 0 is not a task. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/event.h"
#include "base/attr.h"

enum {
	TASK_HAS_NAME = 1, /* comm came from the stream; else it is made of the tid */
	TASK_KTHREAD = 2,
	TASK_THREAD_WRITTEN = 4,  /* as it is now */
	TASK_PROCESS_WRITTEN = 8, /* of a leader */
	TASK_HAS_TRACK = 16,
	TASK_HAS_PMU_TRACK = 32,
	TASK_GONE = 64,
	TASK_RECENT = 128,
	TASK_RESTRICTED = 256, /* the trace says that it may not run on all CPUs */
	TASK_HAS_SCX_TRACK = 512,
	TASK_RENAMED = 2048,      /* by a description alone: the next event in full says so */
	TASK_UNRESTRICTED = 1024, /* it may run on all CPUs, and the trace does not say so */
};

struct trace_task {
	uint32_t tid;
	uint32_t tgid; /* 0 = unknown */
	uint32_t ppid; /* 0 = unknown */
	uint32_t flags;
	uint32_t image; /* of a leader: another number for each program that it becomes; 0 = the first known */
	uint64_t start_ns; /* 0 = unknown */
	/* The place of comm in the table of the bundle of that number, see ftrace_out. */
	uint32_t bundle;
	uint32_t comm_idx;
	uint32_t older, newer;  /* among those that are gone */
	char comm[EV_COMM_LEN]; /* never empty */
};

struct trace_tasks;

/* At most cap tasks, 16 at least. 0 or -ENOMEM. */
MUST_USE int trace_tasks_new(uint32_t cap, struct trace_tasks **out);
void trace_tasks_free(struct trace_tasks *t); /* NULL is fine */

/* NULL if it is not known. */
struct trace_task *trace_tasks_find(struct trace_tasks *t, uint32_t tid);
/* The task, known or not; NULL only without memory. */
struct trace_task *trace_tasks_get(struct trace_tasks *t, uint32_t tid);
/* Another one now has this tid: forgets all about the old one. */
void trace_tasks_reborn(struct trace_tasks *t, struct trace_task *task);
/* Exited: evicted some time later, because records of it may still come. */
void trace_tasks_gone(struct trace_tasks *t, struct trace_task *task);
/* True if the name is another one; an empty comm changes nothing. */
bool trace_tasks_rename(struct trace_task *task, const char comm[EV_COMM_LEN]);
uint32_t trace_tasks_nr(const struct trace_tasks *t);
