/*
 * analyze/explain — why a task waited: who had the CPU meanwhile, what interrupted it, which CPUs sat idle, who woke
 * it, and for whom the waker itself had waited.
 *
 * A wait is a row of TIMELINE_WAIT. Its links lead back in time: the task was woken by a waker in the middle of a
 * slice, before which the waker had waited too, and so on, until a wakeup came out of an interrupt or the trace
 * begins. The delays along the links add up to the compound delay.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/report.h"
#include "analyze/source.h"
#include "base/attr.h"

#define EXPLAIN_MAX_LINKS   16
#define EXPLAIN_MAX_RUNNERS 8
#define EXPLAIN_MAX_IDLE    8

struct explain_runner {
	uint32_t task;
	uint64_t ns;
	uint32_t nr_slices;
};

struct explain_idle {
	uint32_t cpu;
	uint64_t ns;
};

/* What went on during one wait. */
struct explain_wait {
	struct pair_wait wait;
	uint64_t start_ns;
	bool is_from_waking; /* else from the wakeup, or from the switch-out of one that was preempted */
	/* On the CPU where it ran in the end, those with the most time first. */
	struct explain_runner runners[EXPLAIN_MAX_RUNNERS];
	uint32_t nr_runners; /* of all, also those that found no room */
	uint64_t busy_ns;
	uint64_t idle_ns;
	uint64_t unknown_ns;
	uint64_t irq_ns;
	uint64_t softirq_ns;
	/* Other CPUs that it may use and that were idle meanwhile, the most idle first. */
	struct explain_idle idle[EXPLAIN_MAX_IDLE];
	uint32_t nr_idle;
	uint64_t any_idle_ns; /* time in which at least one of them was idle; at most the wait */
	uint32_t nr_migrations;
};

/* One step back: the task waited, then ran until it woke the one of the link before. */
struct explain_link {
	struct pair_wait wait;
	uint64_t wait_ns;
	uint64_t run_ns; /* from its switch-in to the wakeup that it made; 0 for the first link */
};

/* -ENOMEM. */
MUST_USE int explain_look(const struct source *s, const struct pair_wait *wait,
                          struct explain_wait *out);
/* The wait itself first; how many links. -ENOMEM. */
MUST_USE int explain_links(const struct source *s, const struct pair_wait *wait,
                           struct explain_link links[EXPLAIN_MAX_LINKS], uint32_t *nr);
uint64_t explain_wait_ns(const struct explain_wait *e);
/* Plain sentences, one member each, into the array that is open. */
void explain_sentences(const struct source *s, const struct explain_wait *e,
                       const struct explain_link *links, uint32_t nr_links, struct report *r);
