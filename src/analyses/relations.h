/*
 * analyses/relations — who wakes whom, collected once for the analyses that show it: pairs of tasks with how often, how fast,
 * how far.
 *
 * One wakeup per wait of a woken or new task; of a wakeup in an interrupt, the interrupt is the waker (latency_waker()). A
 * task is asked for as the waker or as the woken one. All pairs are counted; how fast and how far is collected in a second walk
 * over the waits of those that are shown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/edges.h"
#include "analyze/grouped.h"
#include "analyze/scope.h"
#include "analyze/top.h"
#include "base/attr.h"

#define RELATION_CPU_PAIRS 8 /* kept per pair of tasks */

struct relation_cpus {
	uint16_t waker_cpu;
	uint16_t run_cpu;
	uint32_t count; /* 0 ends them */
};

struct relation {
	uint64_t first_ns, last_ns;
	uint64_t same_cpu, cross_cpu;
	uint64_t same_llc, cross_llc; /* only where known */
	uint64_t same_node, cross_node;
	struct relation_cpus cpus[RELATION_CPU_PAIRS]; /* in the order seen */
	uint64_t other_cpus;                           /* wakeups between further pairs of CPUs */
};

struct relations {
	struct scope sc;
	struct edges pairs; /* by waker and wakee; numbers of pairs are those of its array */
	uint64_t first;     /* id of the first wait */
	uint32_t *of_wait;  /* 1 + the pair of each wait from there on; 0 = it does not count */
	uint64_t total, from_no_task, from_interrupt;
	uint64_t from_unknown; /* whether it was the task or an interrupt */
	/* Of the pairs that were described last, in their order: */
	struct relation *at;
	struct grouped latencies;
};

/* As struct pass_work has them: of a struct with only the scope set. -ENOMEM. */
MUST_USE int relations_collect(void *relations);
void relations_done(void *relations);
/* Fills in at and latencies of these pairs, and forgets others: what all pairs have is much, and few are shown. -ENOMEM. */
MUST_USE int relations_describe(struct relations *x, const struct top *pairs);
/* The number of the pair the other way round; false if there is none. */
bool relations_reverse(const struct relations *x, uint32_t i, uint32_t *out);
uint64_t relations_both_ways(const struct relations *x); /* pairs, each once */
