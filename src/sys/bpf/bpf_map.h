/*
 * sys/bpf/bpf_map — BPF maps that belong to no object: rings, storage of tasks, and those that only wait.
 *
 * What is asked for is checked: a process without rights may ask (sys/rights/broker).
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "sys/rights/broker.h"

#define BPF_MAP_RING_MAX    (1U << 30)
#define BPF_MAP_STORAGE_MAX 65536U

/* A descriptor, or -errno; -EINVAL for what is not made here. */
MUST_USE int bpf_map_make(enum broker_map kind, uint32_t bytes, int inner_fd);
