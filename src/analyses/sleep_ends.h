/* analyses/sleep_ends — what tasks sleep for, and what ends it: what the analyses of sleeps share. */
#pragma once

#include "analyze/edges.h"
#include "analyze/units.h"
#include "model/pair.h"

/* ABI_CALL_* in which it slept; of a kernel thread, which makes no calls, ABI_CALL_KTHREAD. */
uint16_t sleep_call(const struct source *s, const struct pair_sleep *row);
/* "a timer", "a lock or a condition", by ABI_CALL_*; NULL where a call has no word. */
const char *sleep_for(uint16_t call);
/* The unit of the task that ended it, or the key of an interrupt (model/interrupt); TASKS_NONE = unknown. */
uint32_t sleep_end(const struct units *u, const struct pair_sleep *s);

/* An array "ended_by" of the ends of one: waker_pid, waker_comm, waker_interrupt, sleeps, sleep_ns, percent. */
void sleep_ends_report(const struct edges *ends, const struct units *u, uint32_t by,
                       uint64_t all_ns, struct report *r);
