/*
 * model/wakers — who wakes whom: an edge per pair of tasks, with how often, how fast, how far.
 *
 * Fed by model/pair: one wakeup per wait of a woken or new task, so that none counts twice and each has its
 * latency, from the waking where there is one, else from the wakeup. A wakeup out of an interrupt has nobody
 * for a waker, as the task that was interrupted has nothing to do with it. Names are those at the last wakeup.
 *
 * Bounded by max_edges: when full, the half with the fewest wakeups, the oldest first, is forgotten and
 * counted. Nothing is allocated per record once there are as many edges and tasks as ever will be. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/live.h"
#include "model/small_hist.h"

struct wakers;

#define WAKERS_CPU_PAIRS 8 /* kept per edge */

struct wakers_cpus {
	uint16_t waker_cpu;
	uint16_t run_cpu;
	uint32_t count;
};

struct wakers_edge {
	uint32_t waker; /* task; TASKS_NONE = an interrupt, or idle */
	uint32_t wakee;
	uint32_t waker_tid; /* 0 = an interrupt, or idle */
	uint32_t wakee_tid;
	uint32_t waker_comm_id; /* 0 = unknown */
	uint32_t wakee_comm_id;
	uint64_t first_seen_ns;
	uint64_t last_seen_ns;
	struct live_latency latency; /* samples is how many wakeups */
	/* Where the waker ran against where the wakee came on; caches and nodes only where known. */
	uint64_t same_cpu, cross_cpu;
	uint64_t same_llc, cross_llc;
	uint64_t same_node, cross_node;
	struct wakers_cpus cpus[WAKERS_CPU_PAIRS]; /* in the order seen; count 0 ends them */
	uint64_t other_cpus;                       /* wakeups between further pairs of CPUs */
	struct small_hist hist;
};

enum wakers_by {
	WAKERS_BY_SCORE, /* wakeups times mean latency, that is the total: the critical ones */
	WAKERS_BY_COUNT,
	WAKERS_BY_LATENCY, /* mean */
};

struct wakers_cfg {
	const struct tasks *tasks;       /* lent */
	const struct live_place *places; /* by CPU, copied; NULL = unknown */
	uint32_t nr_places;
	uint32_t max_edges; /* 0 picks 10000 */
};

struct wakers_total {
	uint64_t nr_wakeups;
	uint64_t forgotten; /* edges */
	uint64_t no_memory; /* wakeups without an edge */
	uint32_t pending;   /* tasks woken while off the CPU that have not run since */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int wakers_new(const struct wakers_cfg *cfg, struct wakers **out);
void wakers_free(struct wakers *w); /* NULL is fine */
struct pair_out wakers_out(struct wakers *w);
void wakers_reset(struct wakers *w);

uint32_t wakers_nr(const struct wakers *w);
const struct wakers_edge *wakers_at(const struct wakers *w, uint32_t i); /* NULL beyond the last */
/* The edge of two tasks as they are now; false if there is none. */
bool wakers_find(const struct wakers *w, uint32_t waker, uint32_t wakee, uint32_t *out);
/* The edge the other way round, if it was seen. */
bool wakers_reverse(const struct wakers *w, uint32_t i, uint32_t *out);
/* The numbers of the top edges, at most max, best first; how many. */
uint32_t wakers_top(const struct wakers *w, enum wakers_by by, uint32_t *out, uint32_t max);
uint64_t wakers_percentile_ns(const struct wakers_edge *e, uint32_t p10000);
void wakers_total(const struct wakers *w, struct wakers_total *out);
