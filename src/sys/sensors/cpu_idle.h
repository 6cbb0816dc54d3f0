/*
 * sys/sensors/cpu_idle — idle states of CPUs, and how often the hardware has throttled them: counts since boot; and where they
 * are.
 *
 * CPUs that are online, whatever their numbers. The kernel adds the time of an idle state when the CPU leaves it.
 * Blocks on /sys only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/sensors/sensor_file.h"

#define CPU_IDLE_STATES 10U /* the kernel's own limit */

struct cpu_idle_state {
	char name[16];
	uint64_t latency_us; /* to wake from it */
	uint64_t entries;
	uint64_t time_us;
};

struct cpu_idle {
	uint32_t cpu;
	int32_t package_id, core_id; /* the kernel's numbers; -1 = unknown */
	uint32_t nr_states;
	struct cpu_idle_state states[CPU_IDLE_STATES];
	/* Of its core and of its package; x86 alone counts them. */
	bool has_throttles, has_throttled_ms;
	uint64_t core_throttles, package_throttles;
	uint64_t core_throttled_ms, package_throttled_ms;
};

struct cpu_idles {
	struct cpu_idle *cpus; /* in the order of their numbers */
	size_t nr;
};

/* Without counts only where they are. -ENOMEM. */
MUST_USE int cpu_idles_read(const struct sensor_files *f, bool has_counts, struct cpu_idles *out);
void cpu_idles_done(struct cpu_idles *c);
const struct cpu_idle *cpu_idles_find(const struct cpu_idles *c, uint32_t cpu); /* NULL = none */
