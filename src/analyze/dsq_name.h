/*
 * analyze/dsq_name — the display name of a dispatch queue of sched_ext: "global", "local", "bypass"
 * for those that the kernel makes, "local cpu 3" for a CPU's own where CPUs are distinguished, else
 * the id in hex. "local" means those of all CPUs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DSQ_NAME 32

char *dsq_name(uint64_t id, char out[DSQ_NAME]);
