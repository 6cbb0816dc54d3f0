/*
 * machine/machine_latency — what the counters of `stat` say of an interval, per thread, process and CPU.
 *
 * Waits of woken tasks begin, and sleeps end, with sched_waking, as those of a recording do. A step
 * covers the time since the last one; everything is lent until the next. Only tasks with samples
 * are in the lists: the others did nothing. A process is the sum of its threads, exited ones
 * included. One thread. Never prints.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "machine/machine_interval.h"

struct machine_latency;

struct latency_tasks {
	const struct machine_interval *items;
	size_t nr;
};

struct latency_cpu {
	struct machine_cpu_interval sums;
	struct machine_dist wait;
	int64_t tid; /* that runs; 0 = idle, -1 = unknown */
};

/* tgid: only this process; 0 = all. */
MUST_USE int machine_latency_open(uint32_t tgid, struct diag *d, struct machine_latency **out);
void machine_latency_close(struct machine_latency *l); /* NULL is fine; detaches */
MUST_USE int machine_latency_step(struct machine_latency *l, struct diag *d);

double machine_latency_seconds(const struct machine_latency *l);  /* of the interval */
uint64_t machine_latency_end_ns(const struct machine_latency *l); /* of it; boot time */
struct latency_tasks machine_latency_threads(const struct machine_latency *l);
struct latency_tasks machine_latency_processes(const struct machine_latency *l);
void machine_latency_cpu(const struct machine_latency *l, uint32_t cpu, struct latency_cpu *out);
struct machine_dist machine_latency_all(const struct machine_latency *l); /* waits of all CPUs */
/* Waits of woken and new tasks, by powers of two; a slot of the histogram goes where its middle lies. */
const uint32_t *machine_latency_column(const struct machine_latency *l);
uint64_t machine_latency_lost(const struct machine_latency *l);              /* since the start */
const char *machine_latency_note(const struct machine_latency *l, size_t i); /* NULL = no more */

/* The row of a heat map for a latency. */
uint32_t machine_heat_row(uint64_t ns);
