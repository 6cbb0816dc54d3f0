/*
 * ledger/occupancy — what had a CPU at every moment of a recording.
 *
 * The segments of a CPU tile the time from the start to the end that was asked for: each nanosecond belongs to one of them.
 * Where several rows cover a moment, the first of these counts: unknown, interrupt, softirq, task, idle.
 * Times for which there are no rows are unknown.
 * What was stolen is known as an amount for a time between two switches, not where in it: a part of that time
 * is taken to have lost its share.
 *
 * Pure. Building it asks the timeline for its rows by CPU.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

struct timeline;

enum occupancy_kind {
	OCCUPANCY_UNKNOWN,
	OCCUPANCY_INTERRUPT,
	OCCUPANCY_SOFTIRQ,
	OCCUPANCY_TASK,
	OCCUPANCY_IDLE,
};

/* Ends where the next one begins. */
struct occupancy_segment {
	uint64_t start_ns;
	/* A task's index; of an interrupt or softirq the id of its row, less the first id of TIMELINE_SPAN; else 0. */
	uint32_t what;
	uint8_t kind;   /* enum occupancy_kind */
	uint8_t policy; /* of a task: ABI_POLICY_* */
	int16_t prio; /* of a task, as the kernel counts: -1 deadline, 0 to 99 real time, then fair */
};

/* So much was stolen of a time. */
struct occupancy_steal {
	uint64_t start_ns, end_ns;
	uint64_t ns;
	uint64_t before_ns; /* stolen by all of the CPU that are earlier */
};

struct occupancy {
	struct occupancy_segment *at; /* at least one, the last one ends at end_ns */
	uint32_t nr;
	uint32_t room;
	uint64_t end_ns;
	struct occupancy_steal *steals; /* in the order of time, none in another */
	uint32_t nr_steals, room_steals;
};

/* From start_ns to end_ns, which is later. -ENOMEM. */
MUST_USE int occupancy_build(struct timeline *t, uint32_t cpu, uint64_t start_ns, uint64_t end_ns,
                             struct occupancy *out);
void occupancy_free(struct occupancy *o);
/* What was stolen from one time to another; of the same times always the same, and sums of neighbours are exact. */
uint64_t occupancy_stolen_ns(const struct occupancy *o, uint64_t from_ns, uint64_t to_ns);
/* Whether a time is within one of which only the sum is known. */
bool occupancy_is_in_steal(const struct occupancy *o, uint64_t ts_ns);
/* The segment that holds a time from the start on and before the end. */
uint32_t occupancy_find(const struct occupancy *o, uint64_t ts_ns);
/* The same, from one that is not far from it: quicker the nearer it is. */
uint32_t occupancy_find_near(const struct occupancy *o, uint32_t near, uint64_t ts_ns);
