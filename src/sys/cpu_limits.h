/* sys/cpu_limits — what sysfs says of a CPU beyond its place: frequencies, the number of its last-level cache. Blocks on /sys. */
#pragma once

#include <stdint.h>

/* -1 = not reported */
struct cpu_limits {
	int64_t min_khz;
	int64_t max_khz;
	int64_t base_khz;
	int64_t llc_id; /* the kernel's own number of the cache of the highest level */
};

/* root is "/sys", or a copy of such a tree. */
void cpu_limits_read(const char *root, uint32_t cpu, struct cpu_limits *out);
