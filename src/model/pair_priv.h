/* model/pair_priv — what the files of model/pair share. */
#pragma once

#include "model/pair.h"

#define PAIR_MAX_OPEN  8   /* spans open at a time on one CPU */
#define PAIR_FAIR_PRIO 100 /* from here on; below are real-time and deadline tasks */

enum pair_task_mode { TASK_DEAD, TASK_UNKNOWN, TASK_RUNNING, TASK_WAITING, TASK_SLEEPING };

/* How often losses were reported. What spans one may be hiding something. */
struct pair_losses {
	uint32_t switches;
	uint32_t wakes;
};

/* What is known of a task now. A sleeping task with a waking_ns is being woken. */
struct pair_task {
	uint64_t since_ns;     /* of the mode */
	uint64_t waking_ns;    /* not yet used up; while running: for the next sleep */
	uint64_t wakeup_ns;    /* while waiting */
	uint64_t moved_ns;     /* when it last came to its CPU without running */
	uint64_t throttled_ns; /* until then it is known whether it was throttled; by cgroup and CPU */
	uint64_t work_ns;      /* begin of the work item that it works on; 0 = none */
	uint64_t work_function;
	uint64_t arg;                     /* of the call */
	uint32_t dev;                     /* of the block request that began to wake it; 0 = none */
	uint32_t waker;                   /* the task that began to wake it */
	uint32_t taker;                   /* the task that took its CPU, while waiting for it */
	struct pair_losses losses;        /* when the mode began; of wakes: when it last came on */
	struct pair_losses waking_losses; /* when waking_ns was set */
	uint16_t waker_cpu;
	uint16_t by;  /* ABI_BY_* of the waking */
	uint16_t cpu; /* where it runs, ran last or queues */
	uint16_t from_cpu;
	uint16_t call; /* ABI_CALL_* in which it sleeps, or is about to */
	uint16_t state_bits;
	int16_t prio;          /* when it last left a CPU or was woken; 0 = unknown */
	uint16_t queue;        /* 1 + the CPU among whose runnable tasks it is counted; 0 = none */
	uint32_t queue_losses; /* of switches, when it was counted */
	uint8_t policy;        /* ABI_POLICY_* */
	uint32_t cookie;       /* of core scheduling; 0 = none */
	uint8_t mode;          /* enum pair_task_mode */
	uint8_t cause;         /* enum pair_cause, while waiting */
	uint8_t reason;        /* enum pair_gap_reason, while unknown */
	uint8_t flags;
	bool is_early_waking; /* waking_ns was seen before the task slept */
	bool has_edge;        /* this wakeup has been emitted */
	bool is_hidden;       /* it was woken, and woken again without having been seen to run */
	bool has_acted;       /* and model/tasks has been notified */
	bool is_for_lock;     /* the call is for a futex as mutexes have it */
	bool is_throttled;    /* while waiting: it is in pair.throttles */
};

struct pair_open {
	uint64_t start_ns;
	uint64_t id;
	uint32_t task;
	uint32_t name_id;
	uint8_t kind;
};

struct pair_cpu_state {
	enum pair_cpu_mode mode;
	enum pair_gap_reason reason; /* while unknown */
	uint32_t task;
	uint32_t tid;
	uint64_t since_ns;
	uint64_t before_ns; /* since_ns before the last switch */
	uint64_t busy_ns;
	uint64_t idle_ns;
	uint64_t unknown_ns;
	uint64_t to_idle_ns; /* when it last switched to idle */
	uint64_t alive_ns;   /* when something last happened on it that was not a switch */
	uint64_t completing_ns; /* the begin of the interrupt that completed a block request, the last one */
	uint32_t completed_dev; /* and the disk of that; 0 = none */
	uint64_t rt_limit_ns;   /* since when real-time tasks may not run; 0 = they may */
	uint32_t nr_runnable;   /* known since the last loss of switches */
	int16_t prio;
	uint8_t policy;
	bool is_seen;    /* not just a number below one that was seen */
	bool has_ended;  /* its remaining records are missing */
	bool is_offline; /* or about to be: it has no idle time */
	uint8_t nr_open;
	struct pair_open open[PAIR_MAX_OPEN];
};

struct open_throttle {
	struct pair_throttle row;
	uint64_t until_ns; /* 0 = unknown */
};

struct pair_requests; /* pair_request.c: what is under way on no CPU, and the texts of records */

struct pair {
	struct tasks *tasks;
	struct pair_requests *requests;
	struct pair_out outs[PAIR_MAX_OUTS];
	uint32_t nr_outs;
	struct pair_task *states; /* by task index */
	uint32_t max_states;
	struct pair_cpu_state *cpus;
	uint32_t nr_cpus;
	uint64_t start_ns;
	uint64_t now_ns;
	uint64_t one_in;
	uint32_t *irq_names; /* by number of the interrupt */
	uint32_t nr_irqs;
	struct open_throttle *throttles; /* of now */
	uint32_t nr_throttles, max_throttles;
	uint64_t until_ns; /* then one of them is over; 0 = no such time is known */
	uint32_t measures; /* EV_MEASURES_* */
	bool has_cookies;  /* some task has had one */
	struct pair_losses losses;
	bool has_started;
	bool has_ended_cpu; /* the remaining records of some CPU are missing */
	bool has_moves;     /* migrations are part of the stream */
	bool has_scx;       /* queues may hold tasks while their CPUs are idle */
	bool is_finished;
	struct pair_breaks breaks;
};

#define PAIR_EMIT(p, member, row)                                                   \
	do {                                                                        \
		for (uint32_t out_ = 0; out_ < (p)->nr_outs; out_++)                \
			if ((p)->outs[out_].member)                                 \
				(p)->outs[out_].member((p)->outs[out_].ctx, (row)); \
	} while (0)

static inline struct pair_task *pair_task_of(const struct pair *p, uint32_t task)
{
	return task == TASKS_NONE ? NULL : &p->states[task];
}

static inline uint16_t pair_cpu_nr(uint32_t cpu)
{
	return cpu < PAIR_MAX_CPUS ? (uint16_t)cpu : PAIR_NO_CPU;
}

/*
 * The living task of a tid. If the entry is dead, the tid was reused and we missed the fork: start
 * a new entry.
 */
static inline uint32_t pair_living(struct pair *p, uint32_t tid)
{
	uint32_t task = tasks_see(p->tasks, tid, p->now_ns);

	if (task != TASKS_NONE && p->states[task].mode == TASK_DEAD)
		task = tasks_replace(p->tasks, tid, p->now_ns);
	return task;
}

/* pair_cpu.c */
/* NULL for a CPU out of range or without memory. */
struct pair_cpu_state *pair_cpu_get(struct pair *p, uint32_t cpu);
void pair_switch_record(struct pair *p, const struct ev_hdr *rec);
/* Switches of this CPU were lost: what it does is unknown until the next one. */
void pair_cpu_lose(struct pair *p, struct pair_cpu_state *c);
/*
 * The remaining records of this CPU are missing: open intervals end here, and from now on anything
 * may have happened there.
 */
void pair_hotplug_record(struct pair *p, const struct ev_hdr *rec);
void pair_cpu_end(struct pair *p, struct pair_cpu_state *c);
/* The end of the stream. */
void pair_cpu_finish(struct pair *p, uint32_t cpu);

/* pair_task.c: all take the latest time, p->now_ns, as the time of what happens. */
void pair_task_init(struct pair *p, uint32_t task, enum pair_gap_reason reason);
/* What it does is not known, since the mode that it is in began. */
void pair_task_forget(struct pair *p, uint32_t task, enum pair_gap_reason reason);
/* The same from now on: what it did till now is known. */
void pair_task_cut(struct pair *p, uint32_t task, enum pair_gap_reason reason);
void pair_task_waking(struct pair *p, uint32_t task, const struct ev_wake *ev);
void pair_task_wakeup(struct pair *p, uint32_t task, const struct ev_wake *ev);
void pair_task_wakeup_new(struct pair *p, uint32_t task, const struct ev_wake *ev);
void pair_task_run(struct pair *p, uint32_t task, uint16_t cpu);
/* It was on a CPU until now; taker is the task switched in. */
void pair_task_leave(struct pair *p, uint32_t task, const struct ev_switch *ev, uint32_t taker);
void pair_task_moved(struct pair *p, uint32_t task, uint32_t to_cpu);
void pair_task_drop_wakeups(struct pair *p, uint32_t task);
/* Ends the life of its states: dead, or the end of the stream. */
void pair_task_close(struct pair *p, uint32_t task, bool is_open);

/* pair_waiting.c */
/*
 * Whether a woken task that was not seen to run since cannot have waited all the time: its switches are hidden, as some
 * kernels hide those of some threads.
 *   - It was woken twice before without having been seen to run: this wait is as doubtful as the one before.
 *   - The CPU on whose queue it was took nothing, and went idle. Dispatch queues of sched_ext may be left alone so, and
 *     where migrations are not recorded the task may be on another queue.
 *   - The CPU was idle, and at work in interrupts long after: it checks its queue when it leaves one.
 */
bool pair_is_disproved(const struct pair *p, const struct pair_task *st, uint64_t since_ns);

/* pair_span.c */
/* The innermost interrupt that is under way on a CPU, hard ones before softirqs; NULL = none is known. */
const struct pair_open *pair_span_interrupt(const struct pair_cpu_state *c);
void pair_span_record(struct pair *p, const struct ev_hdr *rec);
void pair_span_lost(struct pair *p, struct pair_cpu_state *c, uint32_t ev_kind);
void pair_counter_record(struct pair *p, const struct ev_hdr *rec);
void pair_mark_record(struct pair *p, const struct ev_hdr *rec);

/* pair_request.c */
int pair_requests_new(struct pair *p);
void pair_requests_free(struct pair *p);
void pair_requests_lost(struct pair *p, uint32_t ev_kind);
void pair_requests_forget_task(struct pair *p, uint32_t task);
void pair_block_record(struct pair *p, const struct ev_hdr *rec);
void pair_fsync_record(struct pair *p, const struct ev_hdr *rec);
void pair_memory_record(struct pair *p, const struct ev_hdr *rec);
void pair_named_record(struct pair *p, const struct ev_hdr *rec);
void pair_string_record(struct pair *p, const struct ev_hdr *rec);

/* pair_quota.c */
void pair_throttle_record(struct pair *p, const struct ev_hdr *rec);
/* The time of one has come. */
void pair_throttle_expire(struct pair *p);
/* It runs, or its state is not known any more. */
void pair_throttle_end(struct pair *p, uint32_t task, bool is_known);
void pair_refill_record(struct pair *p, const struct ev_hdr *rec);
void pair_throttled_record(struct pair *p, const struct ev_hdr *rec);
void pair_rt_limit_record(struct pair *p, const struct ev_hdr *rec);
/* Real-time tasks may run on a CPU again. */
void pair_rt_limit_end(struct pair *p, struct pair_cpu_state *c);
void pair_steal_record(struct pair *p, const struct ev_hdr *rec);
void pair_measures_record(struct pair *p, const struct ev_hdr *rec);

/* pair_scx.c */
void pair_run_record(struct pair *p, const struct ev_hdr *rec);
void pair_dsq_record(struct pair *p, const struct ev_hdr *rec);
void pair_pmu_record(struct pair *p, const struct ev_hdr *rec);
