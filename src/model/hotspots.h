/*
 * model/hotspots — which CPUs are busy with scheduling: switches, interrupts sent, tasks that move in, and how
 * long those that came on had waited.
 *
 * Fed by model/pair. Counts only: rates are the reader's, over the time that was observed. A migration counts
 * where the task goes to, an interrupt where it is sent from. Bounded by PAIR_MAX_CPUS. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "model/live.h"

struct hotspots;

struct hotspots_cpu {
	uint64_t nr_switches;
	uint64_t nr_ipis;
	uint64_t nr_migrations;
	struct live_latency latency; /* waking (or wakeup) to run, of woken and new tasks */
};

MUST_USE int hotspots_new(struct hotspots **out); /* or -ENOMEM */
void hotspots_free(struct hotspots *h);           /* NULL is fine */
struct pair_out hotspots_out(struct hotspots *h);
void hotspots_reset(struct hotspots *h);

uint32_t hotspots_nr_cpus(const struct hotspots *h);
/* NULL beyond the last, and for one where nothing happened. */
const struct hotspots_cpu *hotspots_cpu_at(const struct hotspots *h, uint32_t cpu);
uint64_t hotspots_left_out(const struct hotspots *h); /* rows without memory for their CPU */
/*
 * The rank of a CPU by switches among those where anything happened, as a percentile times 100: the part of
 * them that switched as often or less. 0 for a CPU where nothing happened.
 */
uint32_t hotspots_rank(const struct hotspots *h, uint32_t cpu);
