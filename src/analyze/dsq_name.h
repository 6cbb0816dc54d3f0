/*
 * analyze/dsq_name — what people call a dispatch queue of sched_ext: "global", "local", "bypass" for those that the kernel
 * makes, "local cpu 3" for a CPU's own where it is told apart, else the id in hex. "local" stands for those of all CPUs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DSQ_NAME 32

char *dsq_name(uint64_t id, char out[DSQ_NAME]);
