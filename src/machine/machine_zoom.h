/*
 * machine/machine_zoom — one thread of a machine in detail: its waits, what it waited for, what
 * wakes it.
 *
 * Everything covers the time since the view was opened (seconds), so that numbers settle; reopening
 * it restarts. A wait begins with the wakeup, or when the CPU is taken from it, and ends when it
 * runs: the definitions of struct machine_task.latency and .preempted. The times of all rivals add
 * up to the waits. Names are untrusted.
 */
#pragma once

#include "machine/machine.h"

#define MACHINE_ZOOM_HOLDERS 4

enum machine_cause { MACHINE_WOKEN, MACHINE_NEW, MACHINE_PREEMPTED };

#define MACHINE_INTERRUPT 32 /* bytes of the title of one */

/* What its CPU did when it woke the thread. An interrupt has no thread: tid is 0 then. */
enum machine_from {
	MACHINE_FROM_THREAD,
	MACHINE_FROM_SOFTIRQ,
	MACHINE_FROM_HARDIRQ,
	MACHINE_FROM_NMI,
};

struct machine_waker {
	uint32_t tid;
	const char *comm; /* NULL in interrupts */
	enum machine_from from;
	char interrupt[MACHINE_INTERRUPT]; /* which one: "timer interrupt"; empty = a thread */
	bool is_from_known; /* else it may have been an interrupt, and the thread just interrupted */
	struct machine_dist wait; /* that it began */
};

/* What held the CPU while the thread waited for it. */
struct machine_rival {
	uint32_t tid; /* 0 = none: the CPU was idle */
	const char *comm;
	uint64_t ns, max_ns;
	double share;   /* of all time waited */
	uint64_t times; /* in a row */
	uint64_t taken; /* times that it took the CPU from the thread */
};

struct machine_holder {
	uint32_t tid; /* 0 = idle */
	const char *comm;
	uint64_t ns;
	uint32_t times;
};

enum machine_sleep { MACHINE_SLEEP_S, MACHINE_SLEEP_D, MACHINE_SLEEP_OTHER, MACHINE_SLEEPS };

struct machine_zoom_wait {
	uint64_t start_ns; /* boot time */
	uint64_t wait_ns;
	uint64_t run_ns;   /* how long it had run before; 0 = unknown */
	uint64_t sleep_ns; /* and slept then; 0 = not, or unknown */
	enum machine_sleep sleep;
	enum machine_cause cause;
	enum machine_from from;      /* of the waker */
	int32_t from_cpu, queue_cpu; /* where it ran before, -1 = unknown; where it began to wait */
	int32_t cpu;                 /* where it came to run */
	uint32_t waker_tid;          /* or the task that took the CPU; 0 = an interrupt */
	const char *waker_comm;      /* NULL = an interrupt */
	char interrupt[MACHINE_INTERRUPT];
	struct machine_holder holders[MACHINE_ZOOM_HOLDERS]; /* as they came */
	uint32_t nr_holders;
	uint64_t others_ns; /* held by further tasks, or by an unknown one */
};

struct machine_zoom_sleep {
	uint64_t count;
	uint64_t ns, max_ns;
};

struct machine_zoom {
	uint32_t tid;
	/* Its row of machine.threads, or the last one that there was: then its history is gone. NULL = never seen. */
	const struct machine_task *row;
	bool is_ended;
	const char *missing;          /* why there is nothing of what follows; NULL = it is there */
	bool is_waiting_for_programs; /* nothing yet */
	double seconds;
	uint64_t now_ns;              /* boot time to which all this belongs */
	struct machine_dist waits[3]; /* by enum machine_cause */
	struct machine_zoom_sleep sleeps[MACHINE_SLEEPS];
	uint64_t migrations;
	uint64_t missed; /* events that the kernel did not report */
	uint64_t cut;    /* waits whose end was not seen: only their rivals are known, for cut_ns */
	uint64_t cut_ns;
	const struct machine_waker *wakers; /* the most frequent waker first */
	size_t nr_wakers;
	struct machine_dist other_wakers;   /* beyond those that are remembered */
	const struct machine_rival *rivals; /* the longest holder first */
	size_t nr_rivals;
	uint64_t other_rivals_ns;             /* likewise, and unknown ones */
	const struct machine_zoom_wait *last; /* the newest first */
	size_t nr_last;
};
