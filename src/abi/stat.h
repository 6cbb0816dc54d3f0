/*
 * abi/stat — what the aggregating BPF programs keep per task and per CPU, and hand to user space.
 *
 * A task's state lives in task storage: a struct stat_task, then the requested histograms, in the
 * order of enum stat_metric, without gaps. The waking delay has a storage of its own, because it is
 * written under another lock. Both leave the kernel as records: a struct stat_rec first, then the
 * same bytes. Times are boot-time nanoseconds; 0 means "none". Counters only grow.
 */
#pragma once

#include <linux/types.h>

#include "abi/hist.h"
#include "abi/switch_args.h"

/* One histogram per task each. Metrics of one group are neighbours. */
enum stat_metric {
	STAT_DELAY_WOKEN,       /* wakeup, or waking with is_from_waking -> on CPU */
	STAT_DELAY_PREEMPTED,   /* switched out still runnable -> on CPU again */
	STAT_SLICE_VOLUNTARY,   /* on CPU until it slept */
	STAT_SLICE_INVOLUNTARY, /* on CPU until it was switched out still runnable */
	STAT_SLEEP_S,           /* interruptible sleep -> wakeup */
	STAT_SLEEP_D,           /* uninterruptible sleep -> wakeup */
	STAT_SLEEP_OTHER,       /* stopped, traced, parked, idle kernel threads -> wakeup */
	STAT_WAKING,            /* waking -> on CPU; in its own storage */
	STAT_DSQ_LATENCY,       /* insertion into a dispatch queue -> on CPU; in its own storage */
	STAT_METRICS,
};

#define STAT_STORED_METRICS STAT_WAKING /* those before it share struct stat_task's storage */

/* What a user can ask for; a set of bits. */
enum stat_group {
	STAT_GROUP_LATENCY = 1 << 0,
	STAT_GROUP_SLICE = 1 << 1,
	STAT_GROUP_SLEEP = 1 << 2,
	STAT_GROUP_PERF = 1 << 3,
	STAT_GROUP_SCHEDSTAT = 1 << 4,
	STAT_GROUP_MIGRATION = 1 << 5,
	STAT_GROUP_WAKING = 1 << 6,
	STAT_GROUP_DSQ = 1 << 7,
};

/* Why a task became runnable: what its wait for a CPU is counted under. */
enum stat_cause { STAT_CAUSE_WOKEN, STAT_CAUSE_PREEMPTED, STAT_CAUSE_NEW };

enum stat_lost {
	STAT_LOST_STORAGE, /* task state could not be allocated */
	STAT_LOST_RING,    /* a finished task's record did not fit into the ring */
	STAT_LOST_OUTLIER, /* an outlier's record did not fit into the ring */
	STAT_LOST_DSQ,     /* something about a dispatch queue for which there was no room */
	STAT_LOST_KINDS,
};

enum stat_event {
	STAT_EV_SWITCH,
	STAT_EV_WAKEUP,
	STAT_EV_WAKEUP_NEW,
	STAT_EV_WAKING,
	STAT_EV_MIGRATE,
	STAT_EV_EXIT, /* switches out of a dead task */
	STAT_EV_DSQ,  /* insertions into dispatch queues */
	STAT_EVENTS,
};

#define STAT_COMM_LEN     16
#define STAT_COUNTERS     12 /* 4 for instructions per cycle, 8 of the user's choice */
#define STAT_DEPTH_BLOCKS (STAT_DEPTH_SLOTS / HIST_BLOCK_SLOTS)
#define STAT_DEPTH_SLOTS  64    /* queue depth; the last slot holds all deeper ones */
#define STAT_HISTORY      512   /* slices per CPU remembered for outliers; a power of two */
#define STAT_CHANGED_MAX  32768 /* changed tasks that are noted between two drains; a power of two */
#define STAT_CHANGED_BATCH \
	1024 /* that are handed over at a time; even the longest records fit into the ring */

/* The task that a record belongs to; generation counts changes of identity. */
struct stat_id {
	/*
	 * When counting began for the task: with tid, never repeats. Its own start would not do: a thread
	 * that execs takes over tid and start of its group leader.
	 */
	__u64 start_ns;
	__u64 process_start_ns; /* boot time at which the group leader started; with tgid, never repeats */
	__u64 cgroup_id;
	__u32 tid;
	__u32 tgid;
	__u32 generation;
	__u32 pad_;
	char comm[STAT_COMM_LEN];
	char process[STAT_COMM_LEN]; /* the group leader's comm */
};

enum stat_rec_kind {
	STAT_REC_TASK = 1,    /* stat_task and the histograms of mask */
	STAT_REC_WAKING = 2,  /* stat_waking */
	STAT_REC_OUTLIER = 3, /* stat_outlier */
	STAT_REC_QUEUED = 4,  /* stat_queued */
	/*
	 * Bits added to TASK, WAKING or QUEUED on the way out of the kernel; only the collector sees them.
	 * PACKED: of each histogram, and of the depths, only the part before its slots and the blocks of
	 * slots named in its `blocks` follow. A task's depths and counters follow its head only if the bit
	 * says so, then the histograms.
	 */
	STAT_REC_PACKED = 0x100,
	STAT_REC_HAS_DEPTH = 0x200,
	STAT_REC_HAS_COUNTERS = 0x400,
};

struct stat_rec {
	__u32 size;   /* whole record, this header included */
	__u16 kind;   /* STAT_REC_* */
	__u8 is_last; /* the task has exited, or continues under another identity */
	__u8 mask;    /* kind TASK: bit per enum stat_metric that follows */
};

/* A single duration: each task has one wait as a new task, which needs no histogram. */
struct stat_sample {
	__u64 ns;
	__u64 at_ns;
	__u32 cpu;
	__u32 count; /* 0 or 1 */
};

struct stat_depth {
	__u64 sum;
	__u32 count;
	__u32 max;
	__u64 max_at_ns;
	__u32 max_cpu;
	__u32 sent_count;
	__u32 blocks; /* bit per block of slots that was ever used, as in a histogram */
	__u32 pad_;
	__u32 slots[STAT_DEPTH_SLOTS];
};

struct stat_migrations {
	__u64 all;
	__u64 cross_llc;  /* between last-level caches of one node */
	__u64 cross_node; /* between NUMA nodes */
};

/* Time on a CPU and time runnable without one. */
struct stat_times {
	__u64 run_ns;
	__u64 wait_ns;
};

struct stat_task {
	struct stat_rec rec;
	struct stat_id id;

	/* Working state of the programs; user space reads on_cpu_ns, wait_ns and wait_cpu alone. */
	__u64 css_set;    /* kernel address of the cgroup set, compared only */
	__u64 wait_ns;    /* runnable since */
	__u64 on_cpu_ns;  /* running since */
	__u64 off_cpu_ns; /* last switched out */
	__u64 waking_ns;  /* its waking, until the wakeup follows; where waits begin with it */
	__u32 wait_cpu;   /* queue it waits on */
	__u8 wait_cause;  /* enum stat_cause */
	__u8 sleep_kind;  /* enum stat_metric, one of STAT_SLEEP_*; 0 = not asleep */
	__u8 nr_renames;  /* counts up; its parity says which of next_comm is the name */
	__u8 is_gone;     /* handed over, or being so: not the drain's any more */
	char next_comm[2][STAT_COMM_LEN];
	__u32 filter_generation;
	__u8 is_muted; /* a filter excludes it now */
	__u8 nr_names; /* nr_renames when the name was last taken over */
	/* Filled in by the drain, in the record alone: */
	__u8 is_running;   /* on a CPU at this moment, and it is known since when */
	__u8 is_waiting;   /* runnable, likewise */
	__u8 has_gap;      /* a switch of it was not seen: its times are not known */
	__u8 is_throttled; /* waiting, and the quota of its cgroup is used up */
	__u8 pad_[2];
	__u32 changed_epoch; /* the epoch whose list of changed tasks it is in */

	__u64 nr_samples;   /* of any kind; moves when something is worth sending */
	__u64 sent_samples; /* the drain's own note */
	__u64 run_ns;       /* finished slices, exact */
	struct stat_sample wait_new;
	struct stat_migrations migrations;
	__u64 sent_ns; /* the drain at which it was last sent */
	__u64 nr_gaps; /* slices whose beginning or end was not seen */
	/* Filled in on the way out: up to that moment, the slice or wait under way included. */
	struct stat_times times;
	/* Of the slice or wait that was under way when it took this identity: counted with the last one. */
	struct stat_times before;
	/* From here on sent only if changed. */
	struct stat_depth depth;
	__u64 counter_slices; /* slices with counter deltas */
	__u64 counters[STAT_COUNTERS];
	/* struct abi_hist per bit of rec.mask follow */
};

struct stat_waking {
	struct stat_rec rec;
	struct stat_id id;
	__u64 waking_ns; /* first waking since the last switch-in */
	struct abi_hist hist;
};

/* What a task got from dispatch queues. */
struct stat_runs {
	__u64 dsq_id;   /* that the last one began from; means nothing while nr is 0 */
	__u64 nr;       /* that began from a queue */
	__u64 nr_given; /* of them with a slice that has an end */
	__u64 given_ns; /* those slices */
	__u64 nr_used;  /* that are over */
	__u64 used_ns;
};

/* Of a task in a dispatch queue. */
struct stat_stay {
	__u64 at_ns; /* inserted into dsq_id; 0 = it is in no queue that we know of */
	__u64 dsq_id;
	__u32 scheduler_nr; /* the scheduler that owns the queue */
	__u32 is_wanted;    /* by kprobe, with a filter by cgroup: it has run, and was wanted */
};

struct stat_queued {
	struct stat_rec rec;
	struct stat_id id;
	struct stat_stay stay; /* by kprobe kept elsewhere */
	__u64 run_nr; /* number of the scheduler from whose queue it was dispatched; 0 = from none */
	__u64 run_ns; /* when */
	__u64 run_dsq_id;
	__u64 sent_used; /* runs.nr_used when last handed to user space */
	struct stat_runs runs;
	struct abi_hist hist;
};

struct stat_cpu {
	__u64 events[STAT_EVENTS];
	__u64 lost[STAT_LOST_KINDS];
	__u64 since_ns;    /* what runs now runs since; 0 = not seen yet */
	__u32 running_tid; /* the task that runs now, as far as seen */
	__u32 is_idle;
	__u64 multiplexed;             /* counter deltas that had to be scaled */
	__u64 counters[STAT_COUNTERS]; /* scaled, when last read */
	struct abi_hist delay;         /* all causes */
	struct abi_hist idle;
};

/* A past slice on one CPU, kept to report which task held it while another waited. */
struct stat_slice {
	__u64 start_ns;
	__u64 end_ns;
	__u32 tid;
	__u32 tgid;
	char comm[STAT_COMM_LEN];
};

struct stat_history {
	__u32 next; /* slot to be written next; counts on forever */
	__u32 pad_;
	struct stat_slice running; /* not over yet: end_ns is 0 */
	struct stat_slice slices[STAT_HISTORY];
};

struct stat_outlier {
	struct stat_rec rec;
	__u64 at_ns; /* when it got the CPU */
	__u64 wait_ns;
	__u32 cause;    /* enum stat_cause */
	__u32 cpu;      /* where it ran in the end */
	__u32 wait_cpu; /* the queue it waited on; the history is of that CPU */
	__u32 tid;
	__u32 tgid;
	__u32 pad_;
	__u64 cgroup_id;
	char comm[STAT_COMM_LEN];
	struct stat_history history;
};

/*
 * Tasks that changed since the epoch began, by thread id. A late program may write into the list of
 * the previous epoch: user space reads a list twice, at the end of its epoch and of the next one.
 */
struct stat_changed {
	__u32 nr; /* counts on beyond the room */
	__u32 pad_;
	__u32 tids[STAT_CHANGED_MAX]; /* 0 = not written yet */
};

/* Where a CPU sits; -1 is unknown. */
struct stat_cpu_place {
	__s32 llc;
	__s32 node;
};

/*
 * The largest value of an epoch, with writers on several CPUs: the epoch's low 16 bits above the
 * value. Time, CPU and task follow after it, and belong to that value only if noted is the same.
 */
struct stat_peak {
	__u64 packed;
	__u64 noted;
	__u64 at_ns;
	__u32 cpu;
	__u32 tid;
};
#define STAT_PEAK_BITS 48
#define STAT_PEAK_MAX  ((1ULL << STAT_PEAK_BITS) - 1) /* larger values count as this: 78 hours */

/* A histogram with writers on several CPUs; slots as in abi/hist.h, peaks by the parity of the epoch. */
struct stat_dsq_hist {
	__u64 sum_ns;
	struct stat_peak peaks[2];
	struct stat_peak lows[2]; /* of STAT_PEAK_MAX minus the value: the least one */
	__u32 slots[HIST_SLOTS];
};

/* How an insertion's vtime differs from that of the one before into the same queue. */
struct stat_dsq_vtime {
	__u64 count; /* insertions by vtime; the first has none before it */
	__u64 last;
	__u64 sum;       /* of the differences, signed: what is ahead minus what is behind */
	__u64 nr_behind; /* below the one before */
	struct stat_peak ahead[2];
	struct stat_peak behind[2];
};

/* A dispatch queue is known by its id as long as one scheduler is in charge. */
struct stat_dsq_key {
	__u64 id;
	__u32 scheduler_nr;
	__u32 pad_;
};

struct stat_dsq {
	__u64 inserts;   /* into it, those from other queues included */
	__u64 moved_in;  /* of them from another queue */
	__u64 moved_out; /* to another queue */
	__u64 runs;      /* switches to tasks that were inserted here last */
	__u64 endless;   /* of them with a slice without end */
	__u64 nr_now;    /* tasks in it, at the last insertion or removal; 0 for those of CPUs */
	__u64 depth_sum; /* tasks in it at each insertion, the new one included */
	struct stat_peak depth_peaks[2];
	__u32 depths[STAT_DEPTH_SLOTS]; /* the last slot holds all deeper ones */
	struct stat_dsq_vtime vtime;
	struct stat_dsq_hist latency; /* from the insertion to the run */
	struct stat_dsq_hist given;   /* slices, at the start of runs */
	struct stat_dsq_hist used;    /* time on a CPU in those runs */
};

/* Ids that the kernel makes. */
#define STAT_DSQ_INVALID (1ULL << 63)
#define STAT_DSQ_LOCAL   ((1ULL << 63) | 2) /* those of all CPUs */
#define STAT_DSQ_MAX     4096               /* queues that are kept; more are counted as lost */

/* Set before the programs are loaded: the verifier removes what is off. */
struct stat_cfg {
	__s8 index[STAT_METRICS]; /* place of a metric's histogram, -1 if it is off */
	__u8 has_delay;
	__u8 has_depth;
	__u8 has_idle;
	__u8 has_waking;
	__u8 has_sleep;
	__u8 has_slice;
	__u8 has_history;
	__u8 may_create;  /* storage may be allocated in the scheduler's context (Linux 6.4) */
	__u8 switch_args; /* enum abi_switch_args */
	__u8 filter_cgroup;
	__u8 is_cgroup_v1; /* as in struct ev_cfg */
	__u8 has_dsq;
	__u8 dsq_at; /* which argument of dispatch_enqueue() is the queue; the task and the flags follow */
	__u8 notes_changes; /* changed tasks are noted, and can be requested by id (Linux 6.10) */
	__u8 is_dsq_by_kprobe;
	__u8 is_from_waking; /* waits of woken tasks begin, and sleeps end, with sched_waking */
	__u8 has_times;      /* each drain has the times of tasks, also of what is under way */
	__u32 filter_tid;    /* 0 = any */
	__u32 filter_tgid;   /* 0 = any */
	__u32 nr_counters;
	__u32 nr_cpus; /* possible CPUs: stride of the counter array */
	__u64 outlier_ns;
	__u64 open_wait_ns;    /* each drain has the waits that last for longer; 0 = none */
	__u32 value_bytes;     /* size of the task storage */
	__u32 ring_wake_bytes; /* wake the reader when so much waits in the ring */
};

_Static_assert(sizeof(struct stat_id) % 8 == 0, "wire layout");
_Static_assert(sizeof(struct stat_task) % 8 == 0, "wire layout");
_Static_assert(sizeof(struct stat_waking) % 8 == 0, "wire layout");
_Static_assert(sizeof(struct stat_queued) % 8 == 0, "wire layout");
_Static_assert(sizeof(struct stat_outlier) % 8 == 0, "wire layout");
_Static_assert(sizeof(struct stat_dsq) % 8 == 0, "wire layout");
