/*
 * collect/hit_counter — how often a function of the kernel, or a tracepoint, was passed on each CPU: one BPF program.
 *
 * For what perf cannot count, or only with a probe for each CPU: functions, and tracepoints where tracefs is not mounted.
 * Counts from opening on. Opening blocks for as long as the kernel takes to load and attach. One thread. Never prints.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct hit_counter;

struct hit_counter_cfg {
	const char *function;   /* or */
	const char *tracepoint; /* SUBSYSTEM:NAME */
	uint32_t nr_cpus;       /* the highest number and one */
	uint32_t tgid; /* hits of this process only, by the kernel's first pid namespace; 0 = all */
};

MUST_USE int hit_counter_open(const struct hit_counter_cfg *cfg, struct diag *d,
                              struct hit_counter **out);
void hit_counter_close(struct hit_counter *c); /* NULL is fine */
/* Hits on that CPU so far. 0 or -errno. */
MUST_USE int hit_counter_read(const struct hit_counter *c, uint32_t cpu, uint64_t *out);
