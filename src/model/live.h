/*
 * model/live — what has happened so far per CPU, cache, node, thread, process and dispatch queue, while it runs.
 *
 * Fed by model/pair, so that each wakeup counts once, idle is nobody, and what an exec or exit made
 * meaningless is not there. Latency is the time from the waking (or the wakeup, as the configuration says, or
 * whichever was recorded) to the switch-in, of woken and new tasks. Threads that are gone are told of for
 * keep_dead_ns more; their processes keep what they did. A dispatch queue's enqueues are
 * those of tasks that have left it, its dispatches those that went to a CPU, not to another queue.
 *
 * Memory is bounded by that of model/tasks and by max_dsqs; nothing is allocated per record once all tasks
 * and processes have been seen. One thread. Pure: no I/O, no clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/pair.h"

#define LIVE_INVALID_DSQ (1ULL << 63) /* SCX_DSQ_INVALID: no queue at all */

struct live;

enum live_from { LIVE_FROM_WAKING, LIVE_FROM_WAKEUP };

struct live_latency {
	uint64_t total_ns;
	uint64_t min_ns; /* meaningful when samples > 0 */
	uint64_t max_ns;
	uint64_t max_at_ns;
	uint64_t samples;
};

struct live_cpu {
	bool is_known; /* anything happened there */
	uint64_t nr_switches;
	uint64_t nr_wakeups;    /* begun there */
	uint64_t nr_migrations; /* begun there */
	struct live_latency latency;
};

/* All CPUs of a last-level cache or a node. */
struct live_group {
	int32_t id;
	uint32_t nr_cpus; /* with anything to tell */
	struct live_cpu sum;
};

struct live_thread {
	uint32_t tid;
	uint32_t tgid; /* 0 = unknown */
	uint32_t comm_id;
	bool is_dead;
	uint64_t nr_switches; /* onto a CPU */
	uint64_t nr_wakeups;
	uint64_t runtime_ns; /* the open slice included */
	struct live_latency latency;
};

struct live_process {
	uint32_t tgid;
	uint32_t comm_id;    /* of its leader, else of any thread */
	uint32_t nr_threads; /* alive */
	uint64_t nr_switches;
	uint64_t nr_wakeups;
	uint64_t runtime_ns; /* finished slices */
	struct live_latency latency;
};

struct live_dsq {
	uint64_t dsq_id;
	uint64_t nr_enqueues;
	uint64_t nr_dispatches;
	uint64_t queue_depth; /* as the kernel said last */
	bool has_depth;
};

/* Where a CPU sits; -1 is unknown. */
struct live_place {
	int32_t llc;
	int32_t node;
};

struct live_cfg {
	const struct pair *pair;         /* lent */
	struct tasks *tasks;             /* lent */
	const struct live_place *places; /* by CPU, copied; NULL = unknown */
	uint32_t nr_places;
	enum live_from from;
	uint64_t keep_dead_ns;
	uint32_t max_dsqs; /* 0 picks 4096 */
};

struct live_loss {
	uint64_t threads; /* without memory: not counted */
	uint64_t processes;
	uint64_t dsqs;
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int live_new(const struct live_cfg *cfg, struct live **out);
void live_free(struct live *l); /* NULL is fine */
/* To be given to pair_add_out(). */
struct pair_out live_out(struct live *l);
/* All counters start over at ts_ns; who lives stays known. */
void live_reset(struct live *l, uint64_t ts_ns);
uint64_t live_since_ns(
	const struct live *l); /* the time of the last reset, or of the first record */
enum live_from live_from(const struct live *l);

uint32_t live_nr_cpus(const struct live *l);
const struct live_cpu *live_cpu_at(const struct live *l, uint32_t cpu); /* NULL beyond the last */
/* Up to max groups, ascending by id; how many there are in all. CPUs of unknown place are left out. */
uint32_t live_llcs(const struct live *l, struct live_group *out, uint32_t max);
uint32_t live_nodes(const struct live *l, struct live_group *out, uint32_t max);

/* Threads by the index of their task; false where there is none, or one dead for too long. */
uint32_t live_nr_threads(const struct live *l);
bool live_thread_at(const struct live *l, uint32_t task, struct live_thread *out);
uint32_t live_nr_processes(const struct live *l);
bool live_process_at(const struct live *l, uint32_t i, struct live_process *out);
uint32_t live_nr_dsqs(const struct live *l);
const struct live_dsq *live_dsq_at(const struct live *l, uint32_t i); /* NULL beyond the last */
const char *live_string(const struct live *l, uint32_t id);           /* names of comm_id */
const struct pair *live_pair(const struct live *l);
void live_loss(const struct live *l, struct live_loss *out);

/* For whoever hears of sched_ext in another way. The invalid queue is ignored. */
void live_dsq_enqueue(struct live *l, uint64_t dsq_id);
void live_dsq_dispatch(struct live *l, uint64_t dsq_id);
void live_dsq_depth(struct live *l, uint64_t dsq_id, uint64_t depth);

void live_latency_add(struct live_latency *lat, uint64_t ns, uint64_t at_ns);
void live_latency_merge(struct live_latency *into, const struct live_latency *from);
