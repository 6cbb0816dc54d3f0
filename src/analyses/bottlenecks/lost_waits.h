/*
 * analyses/bottlenecks/lost_waits — who lost how much time waiting for a CPU, to what, and what can be done about it.
 *
 * A bottleneck is a victim: all tasks of one name, with the time that they waited in all (analyses/blame_sums). It
 * counts if that is at least 1 % of the time asked for, or if one wait took at least 10 ms; but not that of deadline tasks which
 * yield until their next period. The causes of a victim are
 * the tasks behind which it waited, by name, and the other kinds of parts of its waits; the longest is the main one,
 * and the remedy is for that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyses/blame_sums.h"
#include "analyze/report.h"

#define BOTTLENECK_CAUSES 3

struct bottleneck_cause {
	uint64_t ns;
	uint32_t culprit; /* unit, of LEDGER_TASK */
	uint8_t kind;     /* enum ledger_kind */
};

struct bottleneck {
	uint32_t victim;                                   /* unit */
	struct bottleneck_cause causes[BOTTLENECK_CAUSES]; /* the longest first */
	uint32_t nr_causes;
	/* During some of its longest waits, judged_ns in all: the CPU that was idle most, of those that it may use, and of the others. */
	uint64_t judged_ns;
	uint32_t idle_cpu, idle_forbidden_cpu;
	uint64_t idle_ns, idle_forbidden_ns;
};

/* What kept a victim waiting most, by which the remedy is chosen. */
enum bottleneck_why {
	BOTTLENECK_UNKNOWN,
	BOTTLENECK_AFFINITY,     /* a CPU was idle that it must not use */
	BOTTLENECK_WASTED_CORES, /* a CPU was idle that it may use */
	BOTTLENECK_REAL_TIME,    /* tasks with real-time or deadline priority */
	BOTTLENECK_NEW_TASKS,    /* most of them were just started */
	BOTTLENECK_OVERLOAD,     /* each other */
	BOTTLENECK_NEIGHBOUR,    /* other tasks */
	BOTTLENECK_LIMIT,        /* quota, or limits of real-time and deadline tasks */
	BOTTLENECK_STEAL,
	BOTTLENECK_INTERRUPTS,
	BOTTLENECK_SOFTIRQS,
	BOTTLENECK_DISPATCH_QUEUE,
	BOTTLENECK_WAKING,
	BOTTLENECK_IDLE,
};
enum bottleneck_why bottleneck_why(const struct blame_sums *b, const struct bottleneck *x);
const char *bottleneck_why_name(enum bottleneck_why why);

bool bottleneck_counts(const struct blame_sums *b, uint32_t victim);
void bottleneck_find(const struct blame_sums *b, uint32_t victim, const struct ledger *l,
                     struct bottleneck *out);
/* "web (80 tasks) waited 1.2s for a CPU: 1.1s behind hog, 90ms behind each other; longest wait 30ms". */
const char *bottleneck_text(const struct blame_sums *b, const struct bottleneck *x,
                            struct report *r);
const char *bottleneck_remedy(const struct blame_sums *b, const struct bottleneck *x,
                              struct report *r);
/* "FIFO 50" if the culprit had that for most of the time that it caused; NULL for others. */
const char *bottleneck_class(const struct blame_sums *b, uint32_t culprit, struct report *r);
