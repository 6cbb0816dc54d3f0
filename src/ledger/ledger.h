/*
 * ledger/ledger — where the time of a wait went.
 *
 * A wait is a sum of parts without a remainder: the first part begins when the wait begins, each begins where the
 * one before it ends, and the last one ends when the wait ends.
 *
 * The wait is first cut into stays, by the queue in which the task was: from the wakeup on it is in the queue of a
 * CPU, and each migration moves it to another one. Before the wakeup it is in no queue; where wakeups are not recorded,
 * before the migration by which the waker placed it. While it is in a dispatch
 * queue of sched_ext that several CPUs use, it waits for that queue and not for a CPU. A stay is then cut by what
 * had its CPU (ledger/occupancy). While a quota throttles the task, it waits for that, whatever its CPU does.
 * Time that was stolen is of no known moment: of each part of a stay its share is a part of its own, at the end of it.
 *
 * The queue is unknown, and with it all of the stay, where the records contradict each other: a migration from
 * another CPU than the one of the stay, a switch-in elsewhere.
 *
 * Pure. The timeline is lent; no row may be added to it while a ledger is in use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "model/timeline.h"

struct ledger;
struct occupancy;

enum ledger_kind {
	LEDGER_UNKNOWN,   /* lost, filtered or not recorded */
	LEDGER_WAKING,    /* from the waking to the wakeup: in no queue yet */
	LEDGER_QUEUE,     /* in a dispatch queue that is not of one CPU */
	LEDGER_THROTTLED, /* the quota of a cgroup was used up */
	LEDGER_STOLEN,    /* the hypervisor had the CPU */
	LEDGER_INTERRUPT, /* the CPU handled an interrupt */
	LEDGER_SOFTIRQ,
	LEDGER_TASK, /* the CPU ran another task */
	LEDGER_IDLE, /* the CPU was idle: it had to be woken, or did not take the task */
	LEDGER_KINDS,
	LEDGER_STAY =
		LEDGER_KINDS, /* in the queue of a CPU, whatever that did: only of ledger_next_stay() */
};

struct ledger_part {
	uint64_t start_ns;
	uint64_t end_ns;
	/*
	 * Task: its index; queue: its id; interrupt, softirq: id of the row of TIMELINE_SPAN; throttled: id of the row of
	 * TIMELINE_THROTTLE; idle because of core scheduling: 1 + the task that had the core; else 0.
	 */
	uint64_t what;
	uint16_t cpu; /* in whose queue it was; PAIR_NO_CPU = none, or unknown */
	/* Of a task, as the kernel counts: -1 deadline, 0 to 99 real time, then fair. */
	int16_t prio;
	uint8_t policy; /* of a task: ABI_POLICY_* */
	uint8_t kind;   /* enum ledger_kind */
};

struct ledger_cfg {
	uint32_t nr_cpus;
	uint64_t start_ns, end_ns; /* of the recording */
	/*
	 * Whether migrations were recorded. Without them a task that ran on one CPU before and after it was
	 * preempted is taken to have stayed there, and one that was woken to have waited where it then ran.
	 */
	bool has_migrations;
	/* By CPU, below 0 = unknown; NULL unless core scheduling is in use. Not needed any more when the ledger is made. */
	const int32_t *cores;
};

/* -ENOMEM. */
MUST_USE int ledger_new(struct timeline *t, const struct ledger_cfg *cfg, struct ledger **out);
void ledger_free(struct ledger *l); /* NULL is fine */
/* One more user, in any thread, who frees it, too: a ledger does not change. */
struct ledger *ledger_share(struct ledger *l);
DEFINE_SCOPED(ledger, ledger_free)

/* Filled by ledger_begin(). */
struct ledger_walk {
	struct ledger *l;
	struct pair_wait wait;
	uint64_t at_ns;
	uint64_t queued_ns; /* before, it is in no queue */
	/* The stay: until then it is in the queue of that CPU. */
	uint64_t stay_end_ns;
	uint32_t stay_cpu;
	uint32_t segment; /* of the track of that CPU */
	struct timeline_iter moves;
	struct pair_migration move; /* the next one, which ends the stay */
	bool has_move;
	struct timeline_iter queues;
	struct pair_dsq queue; /* the next one */
	bool has_queue;
	struct timeline_iter throttles;
	struct pair_throttle throttle; /* the next one */
	uint64_t throttle_id;
	bool has_throttle;
	struct ledger_part stolen; /* comes next, unless it is empty */
	uint32_t cookie;           /* of core scheduling */
};

/* -ENOMEM. */
MUST_USE int ledger_begin(struct ledger *l, const struct pair_wait *w, struct ledger_walk *out);
/*
 * Whether the whole wait is one stay in the queue of a CPU, which is then all that ledger_next_stay() would give. Most are, in recordings
 * without migrations, and a walk costs many times as much as this.
 */
bool ledger_is_stay(const struct ledger *l, const struct pair_wait *w, struct ledger_part *out);
/* False at the end. */
bool ledger_next(struct ledger_walk *walk, struct ledger_part *out);
/* The same, but a stay in the queue of a CPU is not divided. A walk is with one of them, not both. */
bool ledger_next_stay(struct ledger_walk *walk, struct ledger_part *out);
/*
 * Only the times in which it was in the queue of a CPU. Where that CPU is not known, as in a dispatch queue of several,
 * it is the one on which it ran in the end. Not with the others, either.
 */
bool ledger_next_queued(struct ledger_walk *walk, struct ledger_part *out);
/*
 * What had a CPU from part->start_ns on, at most to part->end_ns: fills the rest of the part, and shortens it.
 * *segment is the one of the CPU's time that holds part->start_ns (occupancy_find()); it moves on with the time.
 */
void ledger_part_of(const struct ledger *l, uint32_t cpu, uint32_t *segment,
                    struct ledger_part *part);
/* Cuts what was stolen off a part of a CPU's time; stolen is empty where nothing was, the part where all was. */
void ledger_cut_stolen(const struct ledger *l, struct ledger_part *part,
                       struct ledger_part *stolen);
/* Of what had a CPU: an enum occupancy_kind. */
enum ledger_kind ledger_kind_of(uint8_t occupancy_kind);
uint32_t ledger_nr_cpus(const struct ledger *l);
/* What had a CPU, for as long as the ledger is there. */
const struct occupancy *ledger_cpu(const struct ledger *l, uint32_t cpu);
