/* abi/profile — what the programs that take stacks share with user space. */
#pragma once

#include <linux/types.h>

#define PROF_DEPTH    127 /* frames; the kernel's own default for perf */
#define PROF_ANY_CPU  (~0U)
#define PROF_CPU_BITS 16 /* of the number of a copy */

/* Which user stacks are copied to user space, to be walked there. */
enum prof_copies {
	PROF_COPIES_NONE,
	PROF_COPIES_ALL,
	PROF_COPIES_EARLY, /* of processes that have no tables yet */
};

struct prof_cfg {
	__u64 seed;        /* of the hash of stacks */
	__u64 max_samples; /* 0 = no limit */
	__u64 min_off_ns;
	__u64 every; /* one hit in so many is taken; 0 and 1: each */
	__u32 cpu;   /* PROF_ANY_CPU */
	__u8 filter_tgid;
	__u8 filter_cgroup;
	__u8 is_cgroup_v1; /* as in struct ev_cfg */
	__u8 no_kernel;
	__u8 no_user;
	__u8 switch_args; /* enum abi_switch_args */
	__u8 may_create;  /* task storage can be allocated under scheduler locks */
	__u8 by_tables;   /* user stacks; else by frame pointers */
	__u8 by_copies;   /* user stacks: enum prof_copies */
	__u8 by_cgroup;   /* rows are of one cgroup */
	__u8 pad_[2];
	__u64 pc_mask; /* bits of an address of code; arm64 signs return addresses in the others */
	__u64 wall_ns; /* time between two samples of a CPU, which those that run at the same time share; 0 = not so */
	__u32 nr_cpus; /* of those, possible ones */
	__u32 pad2_;
};

/* Whether a CPU runs a wanted task; on a line of its own. */
struct prof_busy {
	__u32 is_busy;
	__u32 pad_[15];
};

/* Of the programs that take stacks for the event stream. */
struct stacks_cfg {
	__u64 pc_mask; /* as in struct prof_cfg */
	__u32 by_tables;
	__u32 pad_;
};

/* Where the walk of a user stack by tables has ended. */
#define PROF_ENDS(X)                                                           \
	X(NOT_KNOWN, "by frame pointers: whether that is all, is not known")   \
	X(WHOLE, "at the first function of the thread")                        \
	X(NO_TABLE, "in code without a table, and without frame pointers")     \
	X(READ, "at memory that could not be read: paged out, or not a stack") \
	X(DEPTH, "after PROF_DEPTH frames")                                    \
	X(RULE, "at a rule that no row can express")

enum prof_end {
#define X(name, text) PROF_END_##name,
	PROF_ENDS(X)
#undef X
		PROF_NR_ENDS
};

/*
 * Rows and stacks of a generation are read and removed once the next one has begun: that no program writes to any
 * more.
 */
struct prof_stack_key {
	__u64 hash;
	__u32 generation;
	__u32 pad_;
};

/*
 * Which task was where: a task for as long as it is the same program under the same name, and both
 * stacks.
 */
struct prof_key {
	__u64 kernel; /* hash of the stack; 0 = none */
	__u64 user;
	__u64 start_ns; /* of the task: distinguishes it from a later one with the same tid */
	__u64 exec;     /* how many programs it has been */
	__u64 cgroup;   /* 0 = not asked for, or an interrupt */
	__u32 tgid;
	__u32 tid;
	char comm[16];
	__u32 generation;
	__u32 is_copy; /* user is the number of a copy */
};

struct prof_row {
	__u64 count;
	__u64 value;
	__u64 first_ns;
	__u64 last_ns;
	__u32 cpu; /* of the last */
	__u32 pad_;
};

struct prof_stack {
	__u32 nr;
	__u32 end;             /* enum prof_end */
	__u64 ips[PROF_DEPTH]; /* what is beyond nr means nothing */
};

/* What comes with a copy of a user stack. In the key of its row the number stands for the stack. */
struct prof_copy {
	__u64 number;
	__u64 ts_ns; /* boot time */
	__u32 tgid;
	__u32 pad_;
};

struct prof_cpu {
	__u64 seen; /* samples of wanted tasks */
	__u64 kept;
	__u64 lost;
	__u64 idle;
	__u64 no_stack; /* stacks that the kernel would not walk */
	__u64 nr_hits;  /* for cfg.every */
	__u64 nr_copies;
};

_Static_assert(sizeof(struct prof_key) == 72, "no padding: it is compared byte by byte");
_Static_assert(sizeof(struct prof_stack) == 1024, "one KiB each");
