/*
 * record/system_stats — how the machine does, into a trace, ten times a second.
 *
 * CPU times, memory, paging, pressure and network each time; frequencies once a second, as reading them
 * interrupts CPUs on some machines. One thread; blocks on /proc and /sys only.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct system_stats;
struct trace_writer;

MUST_USE int system_stats_new(uint32_t nr_cpus, struct system_stats **out); /* 0 or -ENOMEM */
void system_stats_free(struct system_stats *s);                             /* NULL is fine */
/* Reads and writes if it is time to. 0, -ENOMEM, or the error of the writer. */
MUST_USE int system_stats_tick(struct system_stats *s, uint64_t now_ns, struct trace_writer *w);
