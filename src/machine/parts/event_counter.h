/*
 * machine/parts/event_counter — one event (machine/event_word), counted on every CPU for all, or for one process.
 *
 * Hardware, software, raw and tracepoint events by perf; functions of the kernel, and tracepoints where tracefs is not
 * mounted, by a BPF program. Of a process all threads are counted that it has when this is opened and those that they
 * make, by perf on each CPU; a thread that is made by another in the very moment of opening may be missed. Each step
 * gives the increase since the last one, scaled where the counter had to share the PMU. Never prints. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/event_word.h"
#include "sys/cpulist.h"

#define EVENT_COUNTER_FDS 32768U /* threads times CPUs, at most */

struct event_counter;

struct event_counter_cfg {
	const struct event_word *event; /* not EVENT_CPU */
	const struct cpulist *online;   /* only borrowed */
	uint32_t tgid;                  /* 0 = all */
};

/* -EINVAL, -ENOENT, -ENOTSUP, -EACCES, ... with a sentence that can be shown as it is. */
MUST_USE int event_counter_open(const struct event_counter_cfg *cfg, struct diag *d,
                                struct event_counter **out);
void event_counter_close(struct event_counter *c); /* NULL is fine */
/* Reads all of them. */
void event_counter_step(struct event_counter *c);
/*
 * The rate per second on that CPU between the last two steps, or since opening. -ENODEV for a CPU
 * that is not counted, -EAGAIN where others had the PMU all the time, or what reading said.
 */
MUST_USE int event_counter_get(const struct event_counter *c, uint32_t cpu, double *out_per_s);
