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
#include "base/attr.h"

#define BOTTLENECK_CAUSES 3

struct bottleneck_cause {
	uint64_t ns;
	uint32_t culprit; /* unit, of LEDGER_TASK */
	uint8_t kind;     /* enum ledger_kind */
};

/* A CPU that was idle while a victim waited. */
struct idle_beside {
	uint64_t ns;  /* in all its waits together */
	uint32_t cpu; /* PAIR_NO_CPU: none was idle for long */
};

struct bottleneck {
	uint32_t victim;                                   /* unit */
	struct bottleneck_cause causes[BOTTLENECK_CAUSES]; /* the longest first */
	uint32_t nr_causes;
	/* Of the CPUs that it may use, and of the others, the one that was idle most. */
	struct idle_beside may_use, forbidden;
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
/* Of each one's victim. -ENOMEM. */
MUST_USE int bottleneck_find(const struct blame_sums *b, const struct ledger *l,
                             struct bottleneck *list, uint32_t nr);
/* Of one that waited. */
struct bottleneck_cause bottleneck_main_cause(const struct blame_sums *b, uint32_t victim);
/*
 * "web (80 tasks) waited 1.2s for a CPU: 1.1s behind hog, 90ms behind each other; longest wait 30ms". Where it need not have waited,
 * that is said first: "web (4711) waited 1.2s for a CPU, 98 % of it while CPU 1 was idle, but its affinity forbids it: 1.2s behind hog".
 */
const char *bottleneck_text(const struct blame_sums *b, const struct bottleneck *x,
                            struct report *r);
const char *bottleneck_remedy(const struct blame_sums *b, const struct bottleneck *x,
                              struct report *r);
/* Whether it had a real-time or deadline priority for most of the time that it caused. */
bool bottleneck_is_urgent(const struct blame_sums *b, uint32_t culprit);
/* "FIFO 50" if the culprit had that for most of the time that it caused; NULL for others. */
const char *bottleneck_class(const struct blame_sums *b, uint32_t culprit, struct report *r);
