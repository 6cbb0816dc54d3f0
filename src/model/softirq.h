/*
 * model/softirq — how long softirqs take, by vector, by CPU and by the task that they interrupt.
 *
 * Fed by model/pair. Rates are the reader's: counts divided by the time since softirq_since_ns(). Bounded:
 * vectors from SOFTIRQ_VECTORS on and tasks beyond max_tasks are counted as left out. Nothing is allocated
 * per record once all CPUs and tasks have been seen. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/hist.h"
#include "model/live.h"
#include "model/small_hist.h"

#define SOFTIRQ_VECTORS 10

struct softirq;

struct softirq_cpu {
	struct live_latency time[SOFTIRQ_VECTORS]; /* durations */
	struct small_hist hist[SOFTIRQ_VECTORS];
};

struct softirq_task {
	uint32_t tid; /* 0 = idle was interrupted */
	uint32_t comm_id;
	uint32_t vector;
	struct live_latency time;
};

struct softirq_cfg {
	const struct tasks *tasks; /* lent */
	uint32_t max_tasks;        /* pairs of task and vector; 0 picks 10000 */
};

MUST_USE int softirq_new(const struct softirq_cfg *cfg, struct softirq **out);
void softirq_free(struct softirq *s); /* NULL is fine */
struct pair_out softirq_out(struct softirq *s);
void softirq_reset(struct softirq *s, uint64_t ts_ns);

/* "timer", "net-rx", ...; NULL for a vector that Linux does not have. */
const char *softirq_name(uint32_t vector);
const struct hist *softirq_vector(const struct softirq *s,
                                  uint32_t vector); /* NULL beyond the last */
uint32_t softirq_nr_cpus(const struct softirq *s);
const struct softirq_cpu *softirq_cpu_at(const struct softirq *s, uint32_t cpu);
uint32_t softirq_nr_tasks(const struct softirq *s);
const struct softirq_task *softirq_task_at(const struct softirq *s, uint32_t i);
uint64_t softirq_since_ns(const struct softirq *s); /* 0 before the first */
uint64_t softirq_left_out(
	const struct softirq *s); /* softirqs that are missing in one of the tables */
