/*
 * analyses/relations — who wakes whom, collected once for the analyses that show it: pairs of tasks with how often, how fast,
 * how far.
 *
 * One wakeup per wait of a woken or new task; of a wakeup in an interrupt, the interrupt is the waker (latency_waker()). A
 * task is asked for as the waker or as the woken one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/buckets.h"
#include "analyze/scope.h"
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
	struct buckets pairs; /* by bucket_pair(waker, wakee) */
	struct relation *at;  /* by number of the pair's bucket */
	uint32_t nr, capacity;
	uint64_t total, from_no_task, from_interrupt;
	uint64_t from_unknown; /* whether it was the task or an interrupt */
};

/* As struct pass_work has them: of a struct with only the scope set. -ENOMEM. */
MUST_USE int relations_collect(void *relations);
void relations_done(void *relations);
/* The number of the pair the other way round; false if there is none. */
bool relations_reverse(const struct relations *x, uint32_t i, uint32_t *out);
uint64_t relations_both_ways(const struct relations *x); /* pairs, each once */
