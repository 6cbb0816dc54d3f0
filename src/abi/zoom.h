/*
 * abi/zoom — what the programs that watch one thread keep of it: what wakes it, what holds the CPU
 * while it waits.
 *
 * All is added up in the kernel; user space reads it when a screen is drawn. Times are boot-time nanoseconds; 0 means
 * "none". Counters only grow. The times of the holders of a wait add up to its length.
 */
#pragma once

#include <linux/types.h>

#include "abi/context.h"
#include "abi/hist.h"
#include "abi/stat.h"
#include "abi/switch_args.h"

#define ZOOM_COMM    16
#define ZOOM_WAITS   64 /* the last ones; a power of two */
#define ZOOM_HOLDERS 4  /* listed by name, of one wait */
#define ZOOM_WAKERS  256
#define ZOOM_RIVALS  1024
#define ZOOM_CAUSES  3 /* enum stat_cause */
#define ZOOM_SLEEPS  3 /* S, D, other */

/* Set before the programs are loaded. */
struct zoom_cfg {
	__u8 switch_args; /* enum abi_switch_args */
	__u8 pad_[7];
};

struct zoom_waker_key {
	__u32 tid;     /* 0 in interrupts */
	__u16 context; /* enum abi_context */
	__u16 by;      /* ABI_BY_* */
};

struct zoom_waker {
	char comm[ZOOM_COMM]; /* the last one */
	struct abi_hist waits;
};

/* The task that held the CPU, by tid; 0 = it was idle. */
struct zoom_rival {
	char comm[ZOOM_COMM]; /* the last one */
	__u64 ns;
	__u64 max_ns;
	__u64 nr;       /* times */
	__u64 nr_taken; /* times that it took the CPU from the thread */
};

struct zoom_holder {
	__u64 ns;
	__u32 tid;
	__u32 nr; /* times */
	char comm[ZOOM_COMM];
};

struct zoom_wait {
	__u64 start_ns;
	__u64 end_ns;
	__u64 run_ns;    /* on a CPU before it; 0 = unknown */
	__u64 sleep_ns;  /* asleep after that; 0 = it did not sleep, or unknown */
	__u64 others_ns; /* holders beyond ZOOM_HOLDERS, or unknown ones */
	__u32 from_cpu;  /* where it ran before; ~0 = unknown */
	__u32 queue_cpu; /* where it began to wait */
	__u32 cpu;       /* where it finally ran */
	__u32 waker_tid; /* or the task that took its CPU; 0 in interrupts */
	char waker_comm[ZOOM_COMM];
	__u8 cause;       /* enum stat_cause */
	__u8 context;     /* enum abi_context; of wakeups */
	__u8 sleep_state; /* index below ZOOM_SLEEPS, if it slept */
	__u8 nr_holders;
	__u16 by; /* ABI_BY_*; of wakeups in interrupts */
	__u16 pad_;
	struct zoom_holder holders[ZOOM_HOLDERS];
};

struct zoom_sleep {
	__u64 nr;
	__u64 ns;
	__u64 max_ns;
};

/* Its last waker; written under another lock than the other fields. */
struct zoom_waking {
	__u64 ns; /* when; 0 = its wakeup is over, or was not seen */
	__u32 tid;
	__u16 context; /* enum abi_context */
	__u16 by;      /* ABI_BY_* */
	char comm[ZOOM_COMM];
};

struct zoom_state {
	__u32 tid;        /* the watched thread; 0 = none, or it has exited */
	__u32 wait_queue; /* 1 + the CPU where it waits; 0 = it does not */
	__u64 ended_ns;
	__u64 held_ns;   /* since when the present holder of the CPU holds it, within the wait */
	__u64 on_cpu_ns; /* 0 = it is not, or unknown since when */
	__u64 off_cpu_ns;
	__u64 run_ns;      /* the last slice */
	__u32 from_cpu;    /* of that */
	__u32 sleep_state; /* 1 + index while it sleeps; 0 = it does not, or unknown */
	__u64 nr_waits;    /* that have ended; number n is in slot n % ZOOM_WAITS, counted from 0 */
	__u64 nr_migrations;
	struct zoom_waking waking;
	struct zoom_sleep sleeps[ZOOM_SLEEPS];
	__u64 nr_cut; /* waits whose end was not seen: on some machines switches are missing */
	__u64 cut_ns; /* that they are known to have lasted */
	struct abi_hist delays[ZOOM_CAUSES];
	/* For which there was no room by name. */
	struct abi_hist other_wakers;
	struct zoom_rival other_rivals;
	struct zoom_wait waits[ZOOM_WAITS];
};

_Static_assert(sizeof(struct zoom_wait) == 80 + ZOOM_HOLDERS * sizeof(struct zoom_holder),
               "layout shared with BPF");
