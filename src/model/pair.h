/*
 * model/pair — the state machine that turns records into intervals: rows of slices, waits, sleeps.
 *
 * Records come in through a sink in time order, rows are emitted through tables of callbacks as
 * soon as they are complete; nothing else in the program pairs events. Definitions:
 *   slice  from a switch-in to the switch-out; involuntary if the task was still runnable.
 *   wait   from becoming runnable to the switch-in. It holds the first waking since the task slept and the
 *          wakeup, each 0 when unknown. A waking of a task that is on a CPU belongs to its next sleeping
 *          switch-out, and then counts from there; a wakeup with no switch-out between takes it back. For
 *          cause new, wakeup_ns is the first wakeup, for cause preempted the switch-out.
 *   sleep  from a sleeping switch-out to the wakeup, or to the waking where no wakeup was recorded.
 *   idle   per CPU, from the switch to tid 0 to the switch away.
 *   span   an entry and its exit. Interrupts pair on their CPU; work, reclaim and fsync, which sleep and
 *          migrate, on their task; block requests by device and sector.
 *   gap    a time for which a CPU or a task has no data: before its first record, across lost records,
 *          where records contradict each other. So is the wait of a woken task that is open at the end,
 *          where the records prove that it ran unseen (pair_task.c, is_disproved). An interval with an end that was
 *          not seen is a gap, never a row of another kind, and each contradiction is counted in struct pair_breaks.
 * So slices, idle times and gaps tile each CPU; slices, waits, sleeps and gaps tile each task's life.
 *
 * An interrupted task is not a waker: where a waking says that it happened in an interrupt, or does
 * not say and lies between the entry and the exit of one, the interrupt is the waker (`by`,
 * model/interrupt), not a task.
 *
 * What a row says of tasks are indices of model/tasks, TASKS_NONE for idle and unknown. Rows are valid
 * during the call only. Records must have passed ev_check(); their contents are not trusted: a CPU out of
 * range is counted and ignored, a time that goes back is taken as the latest one. Nothing is allocated per
 * record once all tasks and CPUs have been seen. One thread. Pure: no I/O, no clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "model/tasks.h"

#define PAIR_MAX_CPUS     8192U
#define PAIR_NO_CPU       UINT16_MAX
#define PAIR_MAX_OUTS     8
#define PAIR_MAX_STRINGS  (1U << 20) /* numbers of EV_STRING stay below */
#define PAIR_MAX_REQUESTS (1U << 16) /* block requests under way */

struct pair;

/* How a slice ended. */
enum pair_end {
	PAIR_END_SLEEP,
	PAIR_END_RUNNABLE, /* involuntarily */
	PAIR_END_DEAD,
	PAIR_END_OPEN, /* not yet, when the stream ended */
};

enum pair_cause { PAIR_WOKEN, PAIR_NEW, PAIR_PREEMPTED };

enum pair_sleep_state { PAIR_SLEEP_S, PAIR_SLEEP_D, PAIR_SLEEP_OTHER };

enum pair_span_kind {
	PAIR_IRQ,
	PAIR_SOFTIRQ,
	PAIR_IPI,
	PAIR_WORK,
	PAIR_BLOCK_QUEUE,  /* a request waits: insert to issue */
	PAIR_BLOCK_DEVICE, /* the device works on it: issue to complete */
	PAIR_BLOCK_TOTAL,  /* both, where both are known: insert to complete */
	PAIR_RECLAIM,      /* a task reclaims memory itself */
	PAIR_FSYNC,
	PAIR_LOCK,  /* a task or an interrupt waits for a lock of the kernel */
	PAIR_NAMED, /* a request, or whatever else a trace gives a name */
	PAIR_SPAN_KINDS
};

/* flags of a block span */
enum { PAIR_SPAN_READ = 1, PAIR_SPAN_WRITE = 2 };

enum pair_counter_kind {
	PAIR_CPU_FREQ_KHZ,
	PAIR_CPU_IDLE_STATE, /* UINT32_MAX = left */
	PAIR_HW_PRESSURE,
	PAIR_GPU_MEM_BYTES,   /* id is the GPU */
	PAIR_DSQ_DEPTH,       /* id is the queue */
	PAIR_SCX_COUNTER,     /* id is the text of its name */
	PAIR_PROGRAM_COUNTER, /* likewise; signed, of a process */
};

enum pair_gap_reason {
	PAIR_GAP_START,     /* before the first word about it */
	PAIR_GAP_LOST,      /* records were lost, and reported so */
	PAIR_GAP_MISSING,   /* records must be missing, though none was reported lost */
	PAIR_GAP_NO_WAKEUP, /* a task slept and ran again, and when it was woken was not seen */
	PAIR_GAP_DROPPED,   /* a wait that an exec or exit made meaningless */
	PAIR_GAP_LEFT_OUT,  /* not recorded, by a filter or by sampling */
	PAIR_GAP_END,       /* after the last word about it: the recorder was killed, ... */
	PAIR_GAP_OFFLINE,   /* a CPU that was taken offline */
};

struct pair_slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t task;
	uint16_t cpu;
	int16_t prio;
	uint16_t state_bits; /* EV_STATE_* as it left; 0 while open */
	uint8_t end;         /* enum pair_end */
	uint8_t policy;      /* ABI_POLICY_* when it began */
};

/* Each preemption begins one: cause preempted, and the waker is the task that took the CPU. */
struct pair_wait {
	uint64_t waking_ns; /* 0 = unknown, or not woken */
	uint64_t wakeup_ns; /* 0 = unknown */
	uint64_t end_ns;    /* switch-in */
	uint32_t task;
	uint32_t waker; /* the task that woke it, forked it or took its CPU; TASKS_NONE = an interrupt, idle or unknown */
	uint16_t waker_cpu;
	uint16_t by;       /* ABI_BY_*: which interrupt woke it */
	uint16_t from_cpu; /* where it ran before; PAIR_NO_CPU = unknown */
	uint16_t cpu;      /* where it ran in the end; while open: where it queues */
	uint8_t cause;     /* enum pair_cause */
	uint8_t flags;     /* EV_FLAG_*: whether an interrupt woke it */
	uint8_t is_open;   /* still waiting when the stream ended */
};

struct pair_sleep {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t task;
	uint16_t cpu;
	uint16_t state_bits; /* EV_STATE_* */
	uint64_t arg;        /* the first argument of the system call: a futex, a file */
	uint32_t waker; /* the task that ended it; TASKS_NONE = an interrupt, idle or unknown */
	uint16_t by;    /* ABI_BY_*: which interrupt ended it */
	uint16_t call;  /* ABI_CALL_* in which it slept */
	uint32_t dev; /* the disk of the request whose completion ended it, as the kernel counts; 0 = none that is known */
	uint8_t state; /* enum pair_sleep_state */
	uint8_t flags; /* EV_FLAG_*: whether an interrupt ended it; PAIR_SLEEP_FOR_LOCK */
	uint8_t is_open;
};

/* A futex that is waited for as mutexes are, and not as conditions and semaphores are (FUTEX_WAIT_BITSET). */
#define PAIR_SLEEP_FOR_LOCK 128

/* One per wakeup: at the waking, or at the wakeup where no waking was recorded. */
struct pair_wakeup {
	uint64_t ts_ns;
	uint32_t task; /* the wakee */
	uint32_t waker;
	uint16_t cpu; /* where the waker runs */
	uint16_t target_cpu;
	uint16_t by; /* ABI_BY_* */
	uint8_t is_new;
	uint8_t is_running; /* it was on a CPU at that moment */
	uint8_t flags;      /* EV_FLAG_* */
};

/* A woken or new task is put on a queue, when sched_wakeup is recorded. */
struct pair_queued {
	uint64_t ts_ns;
	uint32_t task;
	uint32_t depth; /* tasks that are known to be runnable there, running and this one included */
	uint16_t cpu;
};

struct pair_migration {
	uint64_t ts_ns;
	uint32_t task;
	uint16_t cpu; /* where it happened */
	uint16_t from_cpu;
	uint16_t to_cpu;
};

struct pair_span {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t id;    /* interrupt, vector, the work's function, device, inode, lock or request */
	uint64_t value; /* block: bytes; reclaim: order; fsync: device; lock: EV_LOCK_* */
	uint32_t task;  /* of a block request: the task that began it */
	uint32_t name_id;     /* of a handler, an IPI, a named span; block: its letters (rwbs) */
	uint32_t category_id; /* of a named span; 0 = none */
	uint16_t cpu;         /* where it ended */
	uint8_t kind;         /* enum pair_span_kind */
	uint8_t flags;        /* block: PAIR_SPAN_* */
};

struct pair_counter {
	uint64_t ts_ns;
	uint64_t value;
	uint64_t id;   /* GPU, queue or text, else 0 */
	uint32_t tgid; /* of GPU memory, 0 = all; of a program's value, 0 = of none */
	uint16_t cpu;
	uint8_t kind; /* enum pair_counter_kind */
};

/*
 * A moment worth showing: fork, exec, exit, rename, hang, wait, hotplug, IPI sent, probe hit, a
 * packet, an allocation or free of pages, a step of suspend, a scheduler loaded or unloaded, why a
 * task sleeps.
 */
struct pair_mark {
	uint64_t ts_ns;
	/*
	 * probe: its id; hotplug: the step; IPI: target CPU; fork: the child's index; packet: bytes; pages:
	 * their order; suspend: its value; scheduler: EV_SCX_OFF, ON, EJECTED; blocked: the caller; policy: the cookie of
	 * core scheduling, where it has changed
	 */
	uint64_t value;
	uint32_t task;
	uint32_t name_id; /* rename and exec: the new name; packet: device; suspend: action; scheduler */
	uint16_t cpu;
	uint8_t kind;  /* EV_* */
	uint8_t flags; /* PAIR_MARK_* */
};

enum {
	PAIR_MARK_SENT = 1,  /* a packet is sent, else received */
	PAIR_MARK_FREE = 2,  /* pages are freed, else allocated */
	PAIR_MARK_START = 4, /* a step of suspend begins, else it ends */
	PAIR_MARK_IO = 8,    /* a task sleeps for I/O */
};

/* A task in a dispatch queue; never the invalid one. */
struct pair_dsq {
	uint64_t start_ns; /* end_ns while unknown */
	uint64_t end_ns;
	uint64_t dsq_id;
	uint64_t vtime;
	uint32_t task;    /* TASKS_NONE = unknown */
	uint32_t layer;   /* EV_NO_LAYER = none */
	uint16_t cpu;     /* where it left */
	uint8_t how;      /* EV_DSQ_*: how it was inserted */
	uint8_t flags;    /* EV_SCX_* */
	uint8_t is_moved; /* to another queue, not to a CPU */
	uint8_t has_start;
};

/* A quota or another limit keeps a runnable task off its CPU: from its switch-out to the refill, or to its switch-in. */
struct pair_throttle {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t cgroup;    /* whose quota it is; 0 = unknown, or no quota */
	uint64_t quota_ns;  /* in each period; 0 = unknown */
	uint64_t period_ns; /* 0 = unknown */
	uint32_t task;
	uint16_t cpu;
	uint8_t limit; /* EV_LIMIT_* */
};

/* So much of a time, which lies between two switches of the CPU, the hypervisor had the CPU. */
struct pair_steal {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t ns; /* at most the whole time */
	uint16_t cpu;
};

/* What sched_ext said of the slice that begins then on that CPU. */
struct pair_run {
	uint64_t ts_ns;
	uint64_t dsq_id; /* EV_DSQ_INVALID = unknown */
	uint64_t slice_ns;
	uint64_t vtime;
	uint32_t task;
	uint32_t layer; /* EV_NO_LAYER = none */
	uint16_t cpu;
	uint8_t flags; /* EV_SCX_* */
};

/* By how much a counter moved during the slice that ends then. */
struct pair_pmu {
	uint64_t ts_ns;
	uint64_t value;
	uint32_t task;
	uint16_t cpu;
	uint16_t index; /* which of the counters */
};

struct pair_idle {
	uint64_t start_ns;
	uint64_t end_ns;
	uint16_t cpu;
	uint8_t is_open;
};

/* Of a CPU (task is TASKS_NONE) or of a task (cpu is PAIR_NO_CPU). */
struct pair_gap {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t task;
	uint16_t cpu;
	uint8_t reason; /* enum pair_gap_reason */
};

/* Each switch, before the rows that it completes. */
struct pair_switch {
	uint64_t ts_ns;
	uint32_t prev; /* TASKS_NONE and prev_tid 0: idle */
	uint32_t next;
	uint32_t prev_tid;
	uint32_t next_tid;
	uint32_t prev_state;
	uint16_t cpu;
	bool is_preemption; /* prev leaves still runnable, and another task is switched in */
};

/* Members that are NULL are not called. */
struct pair_out {
	void *ctx;
	void (*task_begin)(void *ctx, uint32_t task,
	                   uint64_t ts_ns); /* the index belongs to a new task */
	void (*task_end)(void *ctx, uint32_t task, uint64_t ts_ns);
	void (*switched)(void *ctx, const struct pair_switch *row);
	void (*slice)(void *ctx, const struct pair_slice *row);
	void (*wait)(void *ctx, const struct pair_wait *row);
	void (*sleep)(void *ctx, const struct pair_sleep *row);
	void (*wakeup)(void *ctx, const struct pair_wakeup *row);
	void (*queued)(void *ctx, const struct pair_queued *row);
	void (*migration)(void *ctx, const struct pair_migration *row);
	void (*span)(void *ctx, const struct pair_span *row);
	void (*counter)(void *ctx, const struct pair_counter *row);
	void (*mark)(void *ctx, const struct pair_mark *row);
	void (*dsq)(void *ctx, const struct pair_dsq *row);
	void (*run)(void *ctx, const struct pair_run *row);
	void (*pmu)(void *ctx, const struct pair_pmu *row);
	void (*throttle)(void *ctx, const struct pair_throttle *row);
	void (*steal)(void *ctx, const struct pair_steal *row);
	void (*idle)(void *ctx, const struct pair_idle *row);
	void (*gap)(void *ctx, const struct pair_gap *row);
};

/* What did not fit together, and so became gaps. All 0 for a whole stream of valid records. */
struct pair_breaks {
	uint64_t prev_mismatch;  /* the task that leaves a CPU is not the one last switched in */
	uint64_t running_twice;  /* switched in or out while on another CPU */
	uint64_t missing_in;     /* leaves a CPU and was last seen off it */
	uint64_t missing_wakeup; /* switched in after a sleep without a wakeup */
	uint64_t double_waking;  /* woken again without having slept: the first counts */
	uint64_t missed_run;     /* woken again after a wakeup: it must have run between */
	uint64_t lost_slices;    /* on a CPU when switches were lost */
	uint64_t lost_states;    /* waits and sleeps across lost switches */
	uint64_t dropped_waits;  /* by exec and exit */
	uint64_t unproven_waits; /* open at the end, of tasks that must have run unseen */
	uint64_t unmatched_spans; /* an entry or an exit without the other, or an end before its start */
	uint64_t no_room;         /* texts and block requests beyond the bounds */
	uint64_t bad_cpu;         /* records ignored */
	uint64_t time_went_back; /* records taken as of the latest time */
	uint64_t lost_records;   /* sum of the losses that were reported */
};

enum pair_cpu_mode { PAIR_CPU_UNKNOWN, PAIR_CPU_IDLE, PAIR_CPU_BUSY };

/* A CPU at the latest time; the times add up to pair_span_ns(). */
struct pair_cpu {
	enum pair_cpu_mode mode;
	uint32_t task; /* on it; TASKS_NONE = none or unknown */
	uint64_t since_ns;
	uint64_t busy_ns;
	uint64_t idle_ns;
	uint64_t unknown_ns;
	uint32_t nr_runnable; /* on it or queued; after lost switches only those seen since */
};

struct pair_cfg {
	struct tasks *tasks; /* lent; the state machine sets its hook */
	uint32_t nr_cpus;    /* known from the start; more may show up */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int pair_new(const struct pair_cfg *cfg, struct pair **out);
void pair_free(struct pair *p); /* NULL is fine; tasks stay with their owner */
DEFINE_SCOPED(pair, pair_free)

/* Before the first record; at most PAIR_MAX_OUTS: -E2BIG. The table is copied. */
MUST_USE int pair_add_out(struct pair *p, const struct pair_out *out);
/* Instead of the one with the same ctx, which was added; between any two records. */
void pair_change_out(struct pair *p, const struct pair_out *out);
struct ev_sink pair_sink(struct pair *p);
/* What the stream would say without a record of it: that no task migrated, or that sched_ext schedules. */
void pair_note_moves(struct pair *p);
void pair_note_scx(struct pair *p);
/* The time that CPUs and gaps cover begins here, not with the first record. */
void pair_start(struct pair *p, uint64_t ts_ns);
/*
 * Ends the stream at ts_ns: open intervals are emitted as open. Later records are refused with
 * -EINVAL.
 */
void pair_finish(struct pair *p, uint64_t ts_ns);

/*
 * The state as it is now, with copies of its tasks, as if the stream ended at ts_ns: what is open goes out to rows.
 * The stream goes on; the copy is there to be asked. Block requests under way are not part of it. -ENOMEM.
 */
MUST_USE int pair_snapshot(const struct pair *p, struct tasks *tasks, const struct pair_out *rows,
                           uint64_t ts_ns, struct pair **out);

/*
 * Whether a task waits for a CPU as far as is known: neither lost switches nor its CPU say otherwise. Since when, from the waking where
 * there was one, and in whose queue.
 */
bool pair_is_waiting(const struct pair *p, uint32_t task, uint64_t *since_ns, uint16_t *cpu);

/* Whether core scheduling is in use: marks of EV_POLICY say which cookies tasks have. */
bool pair_has_cookies(const struct pair *p);
/* Since when a task that waits is throttled by a quota or its deadline; 0 = it is not, or only the refill will tell. */
uint64_t pair_throttled_since(const struct pair *p, uint32_t task);

uint32_t pair_nr_cpus(const struct pair *p);
bool pair_cpu_at(const struct pair *p, uint32_t cpu, struct pair_cpu *out);
uint64_t pair_span_ns(const struct pair *p);  /* from the start to the latest time */
uint64_t pair_now_ns(const struct pair *p);   /* the latest time */
uint64_t pair_sampling(const struct pair *p); /* one wakeup in so many is recorded; 1 = all */
uint32_t pair_measures(const struct pair *p); /* EV_MEASURES_* */
void pair_breaks(const struct pair *p, struct pair_breaks *out);
/* The text of an EV_STRING, as tasks_string() knows it; 0 for a number that was never given. */
uint32_t pair_string(const struct pair *p, uint32_t id);

/* What the interrupt of that number was last called, as tasks_string() knows it; 0 = unknown. */
uint32_t pair_irq_name(const struct pair *p, uint32_t irq);

/* Time by which a wait is tiled and counted: from the wakeup, or from the waking where there is none. */
static inline uint64_t pair_wait_start_ns(const struct pair_wait *w)
{
	return w->wakeup_ns ? w->wakeup_ns : w->waking_ns;
}
/* Where its latency begins: at the waking, or at the wakeup or switch-out where there is none. */
static inline uint64_t pair_wait_woken_ns(const struct pair_wait *w)
{
	return w->waking_ns ? w->waking_ns : w->wakeup_ns;
}
