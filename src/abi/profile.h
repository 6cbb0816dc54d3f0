/* abi/profile — what the programs that take stacks share with user space. */
#pragma once

#include <linux/types.h>

#define PROF_DEPTH   127 /* frames; the kernel's own default for perf */
#define PROF_ANY_CPU (~0U)

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
	__u8 pad_[5];
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
	__u32 tgid;
	__u32 tid;
	char comm[16];
	__u32 generation;
	__u32 pad_;
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
	__u32 pad_;
	__u64 ips[PROF_DEPTH]; /* what is beyond nr means nothing */
};

struct prof_cpu {
	__u64 seen; /* samples of wanted tasks */
	__u64 kept;
	__u64 lost;
	__u64 idle;
	__u64 no_stack; /* stacks that the kernel would not walk */
	__u64 nr_hits;  /* for cfg.every */
};

_Static_assert(sizeof(struct prof_key) == 64, "no padding: it is compared byte by byte");
_Static_assert(sizeof(struct prof_stack) == 1024, "one KiB each");
