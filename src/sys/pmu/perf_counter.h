/*
 * sys/pmu/perf_counter — one event counted on many CPUs, for whatever runs there or for one thread.
 *
 * Opens one descriptor per CPU (close-on-exec), never counting the hypervisor, nor idle where the PMU can
 * leave it out. CPUs that are offline are skipped. Counters start disabled, at zero; members of a group
 * count while their leader does. A counter that shares the PMU with others is on it only part of the
 * time: perf_count_scaled() corrects for that. The counter of a thread also counts the threads that it
 * creates from then on, but not processes; it continues when the thread has exited, and does not advance
 * while none of them is on the CPU.
 *
 * One thread at a time per counter. Raises RLIMIT_NOFILE when descriptors run out. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "sys/cpulist.h"
#include "sys/pmu/pmu.h"

struct perf_counter;

enum perf_counter_mode { PERF_COUNT_ALL, PERF_COUNT_USER, PERF_COUNT_KERNEL };

struct perf_counter_cfg {
	const struct pmu_event *event;
	const struct cpulist *online;      /* the event's own CPUs narrow it */
	const struct perf_counter *leader; /* counts in the same windows as this one; may be NULL */
	enum perf_counter_mode mode;
	uint32_t tid; /* only this thread, and those that it makes; 0 = whatever runs */
};

struct perf_count {
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns; /* below enabled_ns: the PMU was shared */
};

/*
 * -EACCES without the right to count on whole CPUs, -ENOTSUP where nothing counts this event, -ENODEV
 * when no CPU is left, -ESRCH when the thread is gone, or another -errno.
 */
MUST_USE int perf_counter_open(const struct perf_counter_cfg *cfg, struct diag *d,
                               struct perf_counter **out);
/*
 * Once it counts: closes it on CPUs that went offline, whose counter is dead, and begins to count,
 * from zero, on those that came online. cfg is that of open with the list of now. 0, or the first
 * -errno of a CPU that is not counted.
 */
MUST_USE int perf_counter_follow(struct perf_counter *c, const struct perf_counter_cfg *cfg,
                                 struct diag *d);
void perf_counter_close(struct perf_counter *c); /* NULL is fine */
DEFINE_SCOPED(perf_counter, perf_counter_close)

int perf_counter_fd(const struct perf_counter *c,
                    uint32_t cpu);                            /* borrowed; -1 = not counted there */
size_t perf_counter_nr(const struct perf_counter *c);         /* CPUs that are counted */
size_t perf_counter_nr_skipped(const struct perf_counter *c); /* CPUs that went offline meanwhile */

/* Zeroes and starts; of a group, the leader's starts all of them. 0 or the first -errno. */
MUST_USE int perf_counter_enable(const struct perf_counter *c);
/* -ENODEV for a CPU that is not counted. */
MUST_USE int perf_counter_read(const struct perf_counter *c, uint32_t cpu, struct perf_count *out);
/* What would have been counted had the counter been on the PMU all the time. False: it never was. */
bool perf_count_scaled(const struct perf_count *c, double *out);

/* Whether the kernel takes this event; fits pmu_lister.is_usable, ctx is unused. */
bool perf_counter_can_open(void *ctx, const struct pmu_event *event);
