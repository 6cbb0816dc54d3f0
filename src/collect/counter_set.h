/*
 * collect/counter_set — events counted on every CPU, ready for BPF programs to read.
 *
 * Each slot is one event; on hybrid CPUs it is filled by the PMU of each CPU. Counters start with
 * counter_set_start(), at zero. Never prints. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/pmu/perf_counter.h"

#define COUNTER_SET_MAX 16

struct counter_set;
struct cpulist;

struct counter_slot_cfg {
	const char *name; /* as pmu_resolve() takes it */
	enum perf_counter_mode mode;
	int leader; /* slot that it counts in the same windows as; -1 = none */
};

/* At most COUNTER_SET_MAX slots; online is only borrowed during counter_set_add(). */
MUST_USE int counter_set_new(uint32_t nr_cpus, struct counter_set **out);
void counter_set_free(struct counter_set *c); /* NULL is fine */
/* One more slot; nothing is added on failure. Events of a package or device are refused. */
MUST_USE int counter_set_add(struct counter_set *c, const struct cpulist *online,
                             const struct counter_slot_cfg *cfg, struct diag *d);
/*
 * After the start, when CPUs went online or offline: counts on those online now. 0, or the first
 * -errno of a CPU that is not counted. Users of the descriptors must get them again.
 */
MUST_USE int counter_set_follow(struct counter_set *c, const struct cpulist *online,
                                struct diag *d);
void counter_set_clear(struct counter_set *c); /* closes all */

uint32_t counter_set_nr(const struct counter_set *c);
const char *counter_set_title(const struct counter_set *c, uint32_t slot); /* printable */
/* slot * nr_cpus + cpu; -1 = none. As of the call; valid until the next one. NULL when out of memory. */
const int *counter_set_fds(struct counter_set *c);
MUST_USE int counter_set_start(const struct counter_set *c);
