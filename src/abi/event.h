/*
 * abi/event — records: everything that happened, one after the other, from the kernel or from a file.
 *
 * A record begins with struct ev_hdr, carries its own size and is only as large as its kind needs. Numbers
 * are in the machine's byte order, padding is spelled out, times are boot-time nanoseconds. Names of
 * tasks and probes, texts and losses are records too, so that a stream explains itself. "tid" is the kernel's pid, "tgid"
 * the process; tid 0 is the idle task of the record's CPU and never a task.
 *
 * Numbers of kinds are append-only. ev_check() is the way of every foreign record into the program.
 */
#pragma once

#include <linux/types.h>

#include "abi/call.h"
#include "abi/context.h"
#include "abi/event_counter.h"
#include "abi/event_hdr.h"
#include "abi/event_lock.h"
#include "abi/policy.h"

#define EV_COMM_LEN 16

/* name, number, payload type, what it says */
#define EV_KINDS(X)                                                                               \
	X(SWITCH, 1, ev_switch, "a CPU switches from one task to the next")                       \
	X(WAKING, 2, ev_wake, "a task or an interrupt begins to wake a task")                     \
	X(WAKEUP, 3, ev_wake, "a task is runnable")                                               \
	X(WAKEUP_NEW, 4, ev_wake, "a new task is runnable for the first time")                    \
	X(MIGRATE, 5, ev_migrate, "a task is moved to another CPU")                               \
	X(FORK, 6, ev_fork, "a task is created")                                                  \
	X(EXEC, 7, ev_exec, "a process executes another program")                                 \
	X(EXIT, 8, ev_exit, "a task exits")                                                       \
	X(RENAME, 9, ev_rename, "a task changes its name")                                        \
	X(FREE, 10, ev_free, "a task is freed; its tid may be reused")                            \
	X(HANG, 11, ev_task, "the kernel calls a task hung")                                      \
	X(WAIT, 12, ev_task, "a task waits for a child")                                          \
	X(SOFTIRQ_ENTRY, 13, ev_softirq, "a softirq begins")                                      \
	X(SOFTIRQ_EXIT, 14, ev_softirq, "a softirq ends")                                         \
	X(IRQ_ENTRY, 15, ev_irq_entry, "an interrupt handler begins")                             \
	X(IRQ_EXIT, 16, ev_irq_exit, "an interrupt handler ends")                                 \
	X(IPI_SEND, 17, ev_ipi_send, "one CPU interrupts another")                                \
	X(IPI_ENTRY, 18, ev_ipi, "a CPU begins to handle an inter-processor interrupt")           \
	X(IPI_EXIT, 19, ev_ipi, "and ends")                                                       \
	X(WORK_START, 20, ev_work, "a worker begins a work item")                                 \
	X(WORK_END, 21, ev_work, "and ends it")                                                   \
	X(CPU_IDLE, 22, ev_cpu_idle, "a CPU enters or leaves an idle state")                      \
	X(CPU_FREQ, 23, ev_cpu_freq, "a CPU's frequency")                                         \
	X(CPU_HOTPLUG, 24, ev_cpu_hotplug, "a step of taking a CPU online or offline")            \
	X(HW_PRESSURE, 25, ev_hw_pressure, "capacity that a CPU has lost to heat or power")       \
	X(GPU_MEM, 26, ev_gpu_mem, "memory that a process uses on a GPU")                         \
	X(PROBE, 27, ev_probe, "a kprobe, uprobe or tracepoint of the user's choice")             \
	X(SAMPLE, 28, ev_sample, "where a CPU, a sleeper or a waker was: a stack")                \
	X(PMU, 29, ev_pmu, "increments of counters during the slice that ends now")               \
	X(AFFINITY, 30, ev_affinity, "on which CPUs a task may run")                              \
	X(SCX_RUN, 31, ev_scx_run, "what sched_ext reports of the task that is switched in")      \
	X(DSQ_LEAVE, 32, ev_dsq_leave, "a task leaves a dispatch queue")                          \
	X(DSQ_DEPTH, 33, ev_dsq_depth, "how many tasks a dispatch queue holds")                   \
	X(SCX_STATE, 34, ev_scx_state, "a sched_ext scheduler is loaded or unloaded")             \
	X(SPAN, 35, ev_span, "a named interval that ends now")                                    \
	X(BLOCK, 36, ev_block, "a step of a block request")                                       \
	X(NET, 37, ev_net, "a packet is sent or received")                                        \
	X(MEMORY, 38, ev_memory, "pages are allocated, freed or reclaimed")                       \
	X(FSYNC, 39, ev_fsync, "a file is written out")                                           \
	X(SUSPEND, 40, ev_suspend, "a step of suspend or resume")                                 \
	X(BLOCKED, 41, ev_blocked, "why a task sleeps uninterruptibly")                           \
	X(SCX_COUNTER, 42, ev_scx_counter, "what the kernel counts about sched_ext")              \
	X(SLEEP, 43, ev_sleep, "the system call in which a task goes to sleep")                   \
	X(CGROUP, 44, ev_cgroup, "the cgroup that a task is in from then on")                     \
	X(THROTTLE, 46, ev_throttle, "a quota or its deadline takes a task off its CPU")          \
	X(REFILL, 47, ev_refill, "a timer has refilled the quota of a cgroup")                    \
	X(STEAL, 48, ev_steal, "the hypervisor had the CPU meanwhile")                            \
	X(POLICY, 58, ev_policy, "by which policy and priority a task is scheduled from then on") \
	X(RT_LIMIT, 60, ev_rt_limit, "real-time tasks may not run on a CPU, or may again")        \
	X(LOCK, 59, ev_lock, "a task or an interrupt has waited for a lock of the kernel")        \
	X(COUNTER, 61, ev_counter, "a value that a program has written into the trace")           \
	X(THROTTLED, 49, ev_throttled, "a quota kept its cgroup off a CPU until now")             \
	X(TASK_INFO, 50, ev_task_info, "the identity of a task")                                  \
	X(PROBE_INFO, 51, ev_probe_info, "the name of a probe")                                   \
	X(LOST, 52, ev_lost, "records of one kind that one CPU could not hand over")              \
	X(SAMPLING, 53, ev_sampling, "only one wakeup in N is recorded")                          \
	X(STRING, 54, ev_string, "a text that later records refer to by its number")              \
	X(CGROUP_INFO, 56, ev_cgroup_info, "the path of a cgroup")                                \
	X(MEASURES, 57, ev_measures, "how quotas and steal are measured")

/* States as sched_switch reports them to user space. */
enum {
	EV_STATE_RUNNABLE = 0,
	EV_STATE_S = 1,
	EV_STATE_D = 2,
	EV_STATE_STOPPED = 4,
	EV_STATE_TRACED = 8,
	EV_STATE_DEAD = 0x10,
	EV_STATE_ZOMBIE = 0x20,
	EV_STATE_PARKED = 0x40,
	EV_STATE_IDLE = 0x80,
	EV_STATE_PREEMPTED = 0x100, /* still runnable */
};

struct ev_switch {
	struct ev_hdr hdr;
	__u32 prev_tid;
	__u32 next_tid;
	__u32 prev_state; /* EV_STATE_* */
	__s16 prev_prio;  /* as the kernel counts: 0..99 real time, 100..139 fair, -1 deadline */
	__s16 next_prio;
};

struct ev_wake {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 waker_tid;  /* current task (the interrupted one in interrupts); a guess for WAKEUP */
	__u32 target_cpu; /* where it will queue; for WAKING: where it last ran */
	__s16 prio;
	__u16 by; /* ABI_BY_*: the interrupt, if the flags say that it was one */
};

struct ev_migrate {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 from_cpu;
	__u32 to_cpu;
	__s16 prio;
	__u16 pad_;
};

struct ev_fork {
	struct ev_hdr hdr;
	__u32 parent_tid;
	__u32 parent_tgid;
	__u32 tid;
	__u32 tgid; /* the parent's if it is a thread */
	char comm[EV_COMM_LEN];
};

struct ev_exec {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 old_tid; /* a thread other than the leader takes the leader's */
	char comm[EV_COMM_LEN];
};

struct ev_exit {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 tgid;
	__s16 prio;
	__u16 pad_[3];
	char comm[EV_COMM_LEN];
};

struct ev_rename {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 tgid;
	char old_comm[EV_COMM_LEN];
	char comm[EV_COMM_LEN];
};

struct ev_free {
	struct ev_hdr hdr;
	__u32 tid;
	__s16 prio;
	__u16 pad_;
	char comm[EV_COMM_LEN];
};

struct ev_task {
	struct ev_hdr hdr;
	__u32 tid;
	__s16 prio;
	__u16 pad_;
	char comm[EV_COMM_LEN];
};

struct ev_softirq {
	struct ev_hdr hdr;
	__u32 vector;
	__u32 tid; /* the interrupted task */
};

struct ev_irq_entry {
	struct ev_hdr hdr;
	__u32 irq;
	__u32 tid;
	char name[EV_COMM_LEN]; /* cut */
};

struct ev_irq_exit {
	struct ev_hdr hdr;
	__u32 irq;
	__s32 ret; /* 1 = handled */
};

struct ev_ipi_send {
	struct ev_hdr hdr;
	__u32 target_cpu; /* ~0 = several */
	__u32 tid;
	__u64 callsite;
	__u64 callback;
};

struct ev_ipi {
	struct ev_hdr hdr;
	char reason[32];
};

struct ev_work {
	struct ev_hdr hdr;
	__u64 work;
	__u64 function; /* kernel address; 0 = unknown */
	__u32 tid;
	__u32 pad_;
};

struct ev_cpu_idle {
	struct ev_hdr hdr;
	__u32 state; /* ~0 = leaves */
	__u32 cpu;
};

struct ev_cpu_freq {
	struct ev_hdr hdr;
	__u32 khz;
	__u32 cpu;
};

struct ev_cpu_hotplug {
	struct ev_hdr hdr;
	__u32 cpu;
	__s32 target;
	__s32 step; /* state being entered, or left with ret */
	__s32 ret;
	__u32 is_exit;
	__u32 pad_;
};

struct ev_hw_pressure {
	struct ev_hdr hdr;
	__u64 pressure;
	__u32 cpu;
	__u32 pad_;
};

struct ev_gpu_mem {
	struct ev_hdr hdr;
	__u64 bytes;
	__u32 gpu;
	__u32 tgid; /* 0 = all */
};

/* kind of ev_probe_info */
enum { EV_PROBE_KPROBE = 1, EV_PROBE_UPROBE = 2, EV_PROBE_URETPROBE = 3, EV_PROBE_TRACEPOINT = 4 };

struct ev_probe {
	struct ev_hdr hdr;
	__u32 probe; /* id of an ev_probe_info */
	__u32 tid;
	__u64 ip;
};

#define EV_SAMPLE_DEPTH 127U /* addresses of each of both stacks */

/* event of ev_sample */
enum {
	EV_SAMPLE_CPU,     /* where a CPU was: by a clock, or by its cycles */
	EV_SAMPLE_OFF_CPU, /* where a task went to sleep; just after its switch */
	EV_SAMPLE_WAKER,   /* from where a task was woken: the waker's stack */
	EV_SAMPLE_KINDS,
};

/* Followed by nr_kernel, then nr_user addresses, leaf first. */
struct ev_sample {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 tgid;
	__u64 period; /* of the sampled event since the last: ns of a clock, cycles; else 1 */
	__u16 nr_kernel;
	__u16 nr_user;
	__u16 event;    /* EV_SAMPLE_* */
	__u16 user_end; /* enum prof_end of abi/profile: where the walk of the user stack ended */
};

/* Followed by nr values, each __u64. */
struct ev_pmu {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 nr;
};

#define EV_PMU_MAX     8       /* values that the programs of the event stream read */
#define EV_PMU_UNKNOWN (~0ULL) /* this one could not be read */

/* A dispatch queue that does not exist; ids with bit 63 are the kernel's own. */
#define EV_DSQ_INVALID (1ULL << 63)
#define EV_NO_LAYER    (~0U)

/* At the time of the switch-in. */
struct ev_scx_run {
	struct ev_hdr hdr;
	__u64 dsq_id; /* EV_DSQ_INVALID = unknown */
	__u64 slice_ns;
	__u64 vtime;
	__u32 tid;
	__u32 layer; /* EV_NO_LAYER = none */
	__u32 flags; /* EV_SCX_* */
	__u32 pad_;
};

enum {
	EV_SCX_HAS_SLICE = 1,
	EV_SCX_HAS_VTIME = 2,
	EV_SCX_DSQ_CUT = 4, /* only the lower half of the queue's id is known */
	EV_SCX_DEQUEUED =
		8, /* of a leave: neither a CPU nor another queue took it, the kernel did, to change the task */
};

enum { EV_DSQ_INSERT, EV_DSQ_INSERT_VTIME, EV_DSQ_MOVE, EV_DSQ_MOVE_VTIME };

/* By coming on a CPU, or for another queue. */
struct ev_dsq_leave {
	struct ev_hdr hdr;
	__u64 start_ns; /* when it was put there; 0 = unknown */
	__u64 dsq_id;
	__u64 vtime;
	__u32 tid; /* 0 = unknown */
	__u32 layer;
	__u32 flags;   /* EV_SCX_* */
	__u8 how;      /* EV_DSQ_*: how it was inserted */
	__u8 is_moved; /* to another queue, not to a CPU */
	__u16 pad_;
};

struct ev_dsq_depth {
	struct ev_hdr hdr;
	__u64 dsq_id;
	__u64 depth;
};

enum { EV_SCX_OFF, EV_SCX_ON, EV_SCX_EJECTED };

#define EV_SCX_EXIT_UNREG 64U   /* unregistered by the process that loaded it */
#define EV_SCX_EXIT_ERROR 1024U /* from here on the kernel threw it out */

struct ev_scx_state {
	struct ev_hdr hdr;
	__u32 state;     /* EV_SCX_OFF, ON or EJECTED */
	__u32 exit_kind; /* why it went, the kernel's enum scx_exit_kind; 0 = unknown */
	__s64 exit_code; /* that the scheduler gave for it; 0 = none */
	char name[32];
	char message[128]; /* what the kernel or the scheduler said to it; may be empty */
};

/* Requests and other slices on tracks; tid 0 = of no task. Texts are those of EV_STRING. */
struct ev_span {
	struct ev_hdr hdr;
	__u64 start_ns;
	__u64 id; /* of a request; 0 = none */
	__u32 tid;
	__u32 category;
	__u32 name;
	__u32 pad_;
};

enum { EV_BLOCK_INSERT, EV_BLOCK_ISSUE, EV_BLOCK_COMPLETE };

struct ev_block {
	struct ev_hdr hdr;
	__u64 dev;
	__u64 sector;
	__u32 nr_sectors;
	__u32 tid;
	__u8 step;    /* EV_BLOCK_* */
	char rwbs[7]; /* R, W, ...; ends with a NUL */
};

struct ev_net {
	struct ev_hdr hdr;
	__u32 bytes;
	__u32 is_sent;
	char name[EV_COMM_LEN]; /* of the device */
};

enum { EV_PAGE_ALLOC, EV_PAGE_FREE, EV_RECLAIM_BEGIN, EV_RECLAIM_END };

struct ev_memory {
	struct ev_hdr hdr;
	__u32 tid;
	__u8 step; /* EV_PAGE_*, EV_RECLAIM_* */
	__u8 order;
	__u16 pad_;
};

struct ev_fsync {
	struct ev_hdr hdr;
	__u64 dev;
	__u64 inode;
	__u32 tid;
	__u32 is_end;
};

struct ev_suspend {
	struct ev_hdr hdr;
	__s32 value;
	__u32 is_start;
	char action[32];
};

struct ev_blocked {
	struct ev_hdr hdr;
	__u64 caller; /* kernel address; 0 = unknown */
	__u32 tid;
	__u32 is_io;
};

/* What keeps a runnable task off its CPU. */
enum {
	EV_LIMIT_QUOTA, /* of a cgroup: it is used up */
	EV_LIMIT_RT, /* real-time tasks had their share: the kernel lets others run (rt_throttled, the fair server) */
	EV_LIMIT_DEADLINE, /* the runtime of a SCHED_DEADLINE task is used up */
	EV_LIMIT_YIELD,    /* such a task has given up the rest of its runtime */
	EV_LIMITS,
};

/* Just after the switch by which the task leaves; it is still runnable. */
struct ev_throttle {
	struct ev_hdr hdr;
	__u64 cgroup; /* id of the one whose quota it is: the task's or one above it; 0 = unknown, or no quota */
	__u64 quota_ns;  /* that it has in each period; 0 = unknown */
	__u64 period_ns; /* 0 = unknown */
	__u64 until_ns;  /* when the next period begins; 0 = unknown */
	__u32 tid;
	__u32 limit; /* EV_LIMIT_*, not EV_LIMIT_RT */
};

/* Just after a switch of this CPU. The next real-time task that runs there ends it as well. */
struct ev_rt_limit {
	struct ev_hdr hdr;
	__u32 is_on;
	__u32 pad_;
};

#define EV_REFILL_CPUS 16

/* Only of a cgroup of which a task was throttled since. Tasks that it throttled may run again, but on these CPUs. */
struct ev_refill {
	struct ev_hdr hdr;
	__u64 cgroup;
	__u32 nr_cpus; /* above EV_REFILL_CPUS: which ones is unknown */
	__u32 pad_;
	__u16 cpus[EV_REFILL_CPUS];
};

/* At a timer of the cgroup, of each CPU on which it has no quota left; the timer may refill it. */
struct ev_throttled {
	struct ev_hdr hdr;
	__u64 cgroup;
	__u64 quota_ns;  /* 0 = unknown */
	__u64 period_ns; /* 0 = unknown */
	__u64 start_ns;
	__u32 cpu;
	__u32 pad_;
};

/* Just after a switch: in the time between the last recorded switch of the CPU before it, and it. */
struct ev_steal {
	struct ev_hdr hdr;
	__u64 ns;
};

/* Comes just before the switch in which the task leaves its CPU, interruptible or not. */
struct ev_sleep {
	struct ev_hdr hdr;
	__u32 tid;
	__u16 call; /* ABI_CALL_* */
	__u16 nr; /* of the call, as the machine that was recorded counts; 0 unless it is ABI_CALL_OTHER */
	__u64 args[2]; /* the first of its arguments; 0 without a call */
};

/*
 * When a task is created, when it is first seen to come on or leave a CPU, and at the switch at which it is first seen to have
 * changed, just before that switch. AFFINITY comes at the same moments.
 */
struct ev_policy {
	struct ev_hdr hdr;
	__u32 tid;
	__s16 prio; /* its own, as the kernel counts; while it inherits another's, switches have that one */
	__u8 policy; /* ABI_POLICY_* */
	__u8 pad_;
	/* Of core scheduling: tasks of different ones do not run on one core at a time; 0 = none. A hash of the kernel's. */
	__u32 cookie;
	__u32 pad2_;
};

/* Followed by nr words of 64 CPUs each, the lowest first. */
struct ev_affinity {
	struct ev_hdr hdr;
	__u32 tid;
	__u16 nr;
	__u16 flags; /* EV_AFFINITY_* */
};

enum { EV_AFFINITY_ALL = 1 }; /* every CPU that is online is among them */

/*
 * Of the hierarchy that has the controller "cpu", where quotas are: the default one (v2), or one of v1. For every task
 * when the stream begins, for a new one that is not where its parent is, and for each thread that is moved.
 */
struct ev_cgroup {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 flags;  /* EV_CGROUP_* */
	__u64 cgroup; /* as the kernel numbers them within a hierarchy; never 0 */
};

enum { EV_CGROUP_STATED = 1 }; /* it was there already: nothing happened now */

#define EV_CGROUP_PATH_MAX 1024U /* with its NUL; the kernel cuts longer ones, too */

/* Followed by the path below the root of the hierarchy ("/a/b"), padded with NULs, at least one. */
struct ev_cgroup_info {
	struct ev_hdr hdr;
	__u64 cgroup;
};

struct ev_task_info {
	struct ev_hdr hdr;
	__u32 tid;
	__u32 tgid;
	__u32 ppid;     /* tgid of the parent; 0 = none or unknown */
	__u32 flags;    /* EV_TASK_* */
	__u64 start_ns; /* 0 = unknown */
	char comm[EV_COMM_LEN];
};

enum { EV_TASK_KTHREAD = 1 };

/* Followed by the name, padded with NULs. */
struct ev_probe_info {
	struct ev_hdr hdr;
	__u32 probe;
	__u32 type;
};

struct ev_lost {
	struct ev_hdr hdr; /* cpu is the one that lost them */
	__u32 kind;
	__u32 pad_;
	__u64 count; /* since the last such record */
};

/* Followed by the text, padded with NULs, at least one. */
struct ev_string {
	struct ev_hdr hdr;
	__u32 id;
	__u32 pad_;
};

struct ev_sampling {
	struct ev_hdr hdr;
	__u64 one_in;
};

/* What a stream without THROTTLE, RT_LIMIT or STEAL means: that there was none, or that it was not measured. */
struct ev_measures {
	struct ev_hdr hdr;
	__u32 flags; /* EV_MEASURES_* */
	__u32 pad_;
};

enum {
	EV_MEASURES_QUOTA = 1, /* of each task, by THROTTLE: Linux 6.18 */
	EV_MEASURES_STEAL = 2,
	EV_MEASURES_QUOTA_CPU = 4, /* before: of cgroups and CPUs, by THROTTLED */
	EV_MEASURES_LIMITS = 8, /* of deadline tasks by THROTTLE, of real-time tasks by RT_LIMIT */
};

enum {
#define X(name, nr, type, what) EV_##name = (nr),
	EV_KINDS(X)
#undef X
		EV_KIND_MAX = 64, /* numbers stay below: sets of kinds fit into 64 bits */
};

#define EV_BIT(kind) (1ULL << (kind))

_Static_assert(sizeof(struct ev_hdr) == 16, "wire layout");
#define X(name, nr, type, what)                                               \
	_Static_assert(sizeof(struct type) % 8 == 0, #type " needs padding"); \
	_Static_assert((nr) < EV_KIND_MAX, #name " does not fit");
EV_KINDS(X)
#undef X
