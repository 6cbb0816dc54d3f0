/* analyses/sleep_ends — what tasks sleep for, and what ends it: what the analyses of sleeps share. */
#pragma once

#include "analyze/edges.h"
#include "analyze/units.h"
#include "model/pair.h"

/* "a timer", "a lock or a condition", by ABI_CALL_*; NULL where a call has no word. */
const char *sleep_for(uint16_t call);
/* The unit of the task that ended it, or the key of an interrupt (model/interrupt); TASKS_NONE = unknown. */
uint32_t sleep_end(const struct units *u, const struct pair_sleep *s);

/* Edges by their `by`, those of one with the most time first. */
void sleep_edges_sort(struct edges *e);
/* The first of one, in sorted edges. */
uint32_t sleep_edges_first(const struct edges *e, uint32_t by);
/* An array "ended_by" of the ends of one: waker_pid, waker_comm, waker_interrupt, sleeps, sleep_ns, percent. */
void sleep_ends_report(const struct edges *ends, const struct units *u, uint32_t by,
                       uint64_t all_ns, struct report *r);
