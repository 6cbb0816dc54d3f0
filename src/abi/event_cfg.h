/*
 * abi/event_cfg — settings that user space passes to the programs of the event stream, and what
 * they count.
 */
#pragma once

#include <linux/types.h>

#include "abi/context.h"
#include "abi/event.h"
#include "abi/switch_args.h"

#define EV_NR_CALLS   512   /* numbers of system calls that are known to the programs */
#define EV_SEEN_TASKS 65536 /* whose policy and CPUs are remembered at a time */
#define EV_LOCK_TASKS 16384 /* whose wait for a lock is remembered at a time */
#define EV_WAKE_CHECK 128   /* records of a CPU between two checks of how full its ring is */

/* Set before the programs are loaded. */
struct ev_cfg {
	__u32 filter_tgid; /* 0 = any */
	__u8 filter_cgroup;
	__u8 switch_args; /* enum abi_switch_args */
	__u8 is_cgroup_v1; /* the cgroups of tasks are those of v1's hierarchy of the controller cpu */
	__u8 measures;     /* EV_MEASURES_* */
	__u32 one_in;      /* record one wakeup in so many; 0 and 1 = all */
	__s32 cgroup_hierarchy; /* the kernel's number of that hierarchy, 0 for v2; -1 = do not ask */
	__u64 wake_bytes;       /* call the reader when so much waits in a ring */
	__u64 stack_bytes; /* no more stacks when this much does: the remainder is for everything else */
	__u32 nr_counters; /* at most EV_PMU_MAX; 0 = no EV_PMU records */
	__u32 nr_cpus;     /* stride of the array of counters */
	__u8 has_sleeps;   /* EV_SLEEP before the switch of a task that goes to sleep */
	__u8 has_policies; /* EV_POLICY and EV_AFFINITY before the switch at which a change is seen */
	__u8 has_locks;    /* EV_LOCK of spinning CPUs, before a switch */
	__u8 pad_[5];
};

/* What the iterator over tasks writes. */
struct ev_task_cgroup {
	__u32 tid;
	__u32 pad_;
	__u64 cgroup;
};

struct ev_cpu {
	__u32 cpu;  /* its number; it and ring are set before the programs are attached */
	__u32 ring; /* into which its records go */
	__u64 nr_records;
	struct context_cpu context;
	__u64 clock_ns;      /* from the clock of its run queue to that of records; 0 = unknown */
	__u64 is_rt_limited; /* since the last recorded switch of a real-time task */
	__u64 steal_ns;      /* at the last recorded switch, plus 1; 0 = unknown */
	__u32 shown_tid;  /* the wanted task that runs since the last recorded switch; 0 = none */
	__u32 nr_to_skip; /* wakings until the next one that is recorded, when sampling */
	__u64 counters[EV_PMU_MAX]; /* then */
	__u64 seen[EV_KIND_MAX];    /* fired, recorded or not */
	__u64 lost[EV_KIND_MAX];    /* found no room */
};
