/*
 * sys/proc/memory_left — how much more memory this process can have.
 *
 * The least of what the kernel says is available without swapping (MemAvailable) and what is left below the limits of its
 * cgroup and of all above it, version 1 or 2; page cache that can go counts as left. What cannot be read does not limit.
 */
#pragma once

#include <stdint.h>

/* root is prefixed to every path: "" is the machine. UINT64_MAX = unknown. */
uint64_t memory_left(const char *root);
