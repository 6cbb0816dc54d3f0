/*
 * analyses/bottlenecks — what keeps tasks from running, found in the tables: what, how severe,
 * when, and which tasks are affected.
 *
 * Rules, each for the worst stretch of time in which it holds (analyze/windows):
 *   HighContextSwitchRate  more than 1,000 switches/s on a CPU
 *   LongWakeupLatency      99 % of wakeup latencies reach beyond 100 ms
 *   ExcessiveMigration     more than 100 moves/s of all tasks
 *   OverloadedCpu          a CPU at least 95 % busy with two or more tasks waiting for it on average
 *   StarvedTask            a single wait of 100 ms or more, whatever its cause, also one that is not over
 * Severity is the ratio to the limit, at most 10.
 */
#pragma once

#include <stdint.h>

#include "analyze/edges.h"
#include "analyze/latency.h"
#include "analyze/samples.h"
#include "analyze/scope.h"
#include "analyze/windows.h"
#include "base/attr.h"

enum bottleneck_rule {
	BOTTLENECK_SWITCHES,
	BOTTLENECK_LATENCY,
	BOTTLENECK_MIGRATIONS,
	BOTTLENECK_OVERLOAD,
	BOTTLENECK_STARVED,
	BOTTLENECK_RULES,
};

struct bottleneck {
	enum bottleneck_rule rule;
	double severity;
	uint32_t cpu;  /* of switches and overload */
	uint32_t task; /* of a starved one */
	struct stretch at;
	double busy_percent; /* of overload */
	double waiting;      /* tasks on average, of overload */
	uint64_t avg_ns;     /* of latency */
	uint64_t p99_ns;
	struct pair_wait wait; /* of a starved one */
};

struct bottlenecks {
	const struct scope *sc;
	struct windows switches, busy, waiting, moves;
	struct samples latencies;
	struct pair_wait *longest;              /* by task; end_ns 0 = none */
	struct edges who[BOTTLENECK_RULES];     /* by CPU, or 0 */
	struct stretch *over[BOTTLENECK_RULES]; /* by CPU, or one; to_ns 0 = not found */
	struct bottleneck *found;
	uint32_t nr_found;
	uint32_t capacity;
};

/* -ENOMEM. */
MUST_USE int bottlenecks_find(struct bottlenecks *b, const struct scope *sc);
void bottlenecks_done(struct bottlenecks *b);
