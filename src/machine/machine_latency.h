/*
 * session/machine_latency — what the counters of `stat` say of an interval, per thread, process and CPU.
 *
 * A step takes what came since the last one; all is lent until the next. Only who has samples is in the lists: who is
 * not, did nothing. A process is the sum of its threads, those that have ended included. One thread. Never prints.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analyze/machine.h"
#include "base/attr.h"
#include "base/diag.h"

struct machine_latency;

struct latency_task {
	uint32_t id; /* tid or tgid */
	uint32_t tgid;
	struct machine_dist latency; /* woken and new */
	struct machine_dist preempted;
	struct machine_dist slice;
	struct machine_dist sleep;
	uint64_t voluntary, involuntary; /* slices that ended so */
	uint64_t migrations, llc_migrations, node_migrations;
};

struct latency_tasks {
	const struct latency_task *items;
	size_t nr;
};

struct latency_cpu {
	struct machine_dist wait;
	uint64_t switches, wakeups; /* wakeups: made on it */
	uint64_t arrivals;          /* tasks that moved to it */
	bool has_arrivals;          /* were counted */
	int64_t tid;                /* that runs; 0 = idle, -1 = unknown */
};

/* tgid: only this process; 0 = all. */
MUST_USE int machine_latency_open(uint32_t tgid, struct diag *d, struct machine_latency **out);
void machine_latency_close(struct machine_latency *l); /* NULL is fine; detaches */
MUST_USE int machine_latency_step(struct machine_latency *l, struct diag *d);

double machine_latency_seconds(const struct machine_latency *l); /* of the interval */
struct latency_tasks machine_latency_threads(const struct machine_latency *l);
struct latency_tasks machine_latency_processes(const struct machine_latency *l);
void machine_latency_cpu(const struct machine_latency *l, uint32_t cpu, struct latency_cpu *out);
struct machine_dist machine_latency_all(const struct machine_latency *l); /* waits of all CPUs */
/* Waits after wakeups, by powers of two; a slot of the histogram goes where its middle lies. */
const uint32_t *machine_latency_column(const struct machine_latency *l);
uint64_t machine_latency_lost(const struct machine_latency *l);              /* since the start */
const char *machine_latency_note(const struct machine_latency *l, size_t i); /* NULL = no more */

/* The row of a heat map for a latency. */
uint32_t machine_heat_row(uint64_t ns);
