/*
 * sys/features — what the running kernel has, as far as it can be known without loading a program.
 *
 * Facts come from the kernel's BTF, /proc and /sys; what those do not say stays TRI_UNKNOWN. The
 * struct is plain data, probed once and passed down. What has to be tried is in sys/try_attach.
 */
#pragma once

#include <stdint.h>

#include "sys/rights/caps.h"

enum tri { TRI_UNKNOWN, TRI_NO, TRI_YES };

/* Arguments of the tracepoint sched_switch. */
enum features_switch_args {
	SWITCH_ARGS_UNKNOWN,
	SWITCH_ARGS_NO_STATE,  /* preempt, prev, next: before 5.18 */
	SWITCH_ARGS_STATE_2ND, /* preempt, prev_state, prev, next: 5.18 */
	SWITCH_ARGS_STATE_LAST, /* preempt, prev, next, prev_state: 5.19 and later, backported, too */
};

/* Under confidentiality no program may read kernel memory. */
enum features_lockdown {
	LOCKDOWN_UNKNOWN,
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

#define FEATURES_TRACEPOINTS(X) \
	X(sched_switch)         \
	X(sched_waking)         \
	X(sched_wakeup)         \
	X(sched_wakeup_new)     \
	X(sched_migrate_task)   \
	X(sched_process_fork)   \
	X(sched_process_exec)   \
	X(sched_process_exit)   \
	X(sched_process_free)   \
	X(sched_process_wait)   \
	X(sched_pi_setprio)     \
	X(sched_stat_runtime)   \
	X(sched_stat_wait)      \
	X(sched_stat_sleep)     \
	X(sched_stat_iowait)    \
	X(sched_stat_blocked)   \
	X(sched_ext_event)

/* clang-format off */
#define FEATURES_FIELDS(X)                                                                       \
	X(TASK_STATE,           "task_struct",  "__state")       /* "state" before 5.14 */           \
	X(TASK_SCX,             "task_struct",  "scx")           /* sched_ext, 6.12 */               \
	X(TASK_THROTTLED,       "task_struct",  "throttled")     /* 6.18: quotas act on tasks */     \
	X(RQ_NR_RUNNING,        "rq",           "nr_running")                                        \
	X(RQ_CFS,               "rq",           "cfs")                                               \
	X(RQ_SCX,               "rq",           "scx")                                               \
	X(RQ_STEAL,             "rq",           "prev_steal_time_rq") /* with steal in its clock */  \
	X(CFS_RQ_RQ,            "cfs_rq",       "rq")            /* only with group scheduling */    \
	X(CFS_RQ_THROTTLED,     "cfs_rq",       "throttled_clock") /* quotas of cgroups */           \
	X(CFS_RQ_H_NR_RUNNING,  "cfs_rq",       "h_nr_running")  /* before 6.14 */                   \
	X(CFS_RQ_H_NR_QUEUED,   "cfs_rq",       "h_nr_queued")   /* 6.14: delayed ones, too */       \
	X(CFS_RQ_H_NR_RUNNABLE, "cfs_rq",       "h_nr_runnable") /* 6.14: without delayed ones */    \
	X(CFS_RQ_H_NR_DELAYED,  "cfs_rq",       "h_nr_delayed")  /* 6.12 and 6.13 */                 \
	X(SE_CFS_RQ,            "sched_entity", "cfs_rq")        /* only with group scheduling */    \
	X(SE_SCHED_DELAYED,     "sched_entity", "sched_delayed") /* 6.12 */
/* clang-format on */

enum features_tracepoint {
#define X(name) FEATURES_TP_##name,
	FEATURES_TRACEPOINTS(X)
#undef X
		FEATURES_NR_TP
};

enum features_field {
#define X(id, type, member) FEATURES_##id,
	FEATURES_FIELDS(X)
#undef X
		FEATURES_NR_FIELDS
};

struct features {
	char release[72];
	uint32_t version; /* 6.12.3 is 0x060c03; 0 = unknown */
	enum tri btf;
	enum features_switch_args switch_args;
	enum tri tracepoints[FEATURES_NR_TP];
	enum tri fields[FEATURES_NR_FIELDS];
	enum tri sched_ext; /* built in, not: in use */
	/*
	 * Storage of a task may be created inside a tracing program. Before 6.4 that could deadlock in the
	 * allocator. The BTF shows it: struct bpf_local_storage_map has an allocator of its own (selem_ma),
	 * or the switch for one that needs none (bpf_ma, later use_kmalloc_nolock). The release decides only
	 * where BTF shows neither.
	 */
	enum tri task_storage_in_tracing;
	enum features_lockdown lockdown;
	enum tri bpf_stats;        /* this thread may ask for run times of programs (5.8) */
	enum tri unprivileged_bpf; /* users without capabilities may load some programs */
};

struct features_cfg {
	const char *root;        /* put before /proc and /sys; "" on a real machine */
	const char *btf;         /* NULL = /sys/kernel/btf/vmlinux below root */
	const struct caps *caps; /* NULL = unknown */
};

extern const char *const features_tracepoint_names[FEATURES_NR_TP];

void features_probe(const struct features_cfg *cfg, struct features *out);
