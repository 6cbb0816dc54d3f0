/*
 * collect/pressure — how much of a CPU's capacity heat or power limits have taken away, from the kernel's tracepoint.
 *
 * hw_pressure_update, before Linux 6.10 thermal_pressure_update: drivers of Arm machines call it, those of x86 do not.
 * It reports only changes: until a CPU's first one its pressure is unknown. Costs nothing while nothing changes.
 * Opening loads a program of a few instructions; nothing else blocks. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

struct pressure;

/* For CPUs below nr_cpus. -ENOENT: this kernel has no such tracepoint. */
MUST_USE int pressure_open(uint32_t nr_cpus, struct diag *d, struct pressure **out);
void pressure_close(struct pressure *p); /* NULL is fine */
/* Of 1024; false while it is unknown. */
MUST_USE bool pressure_of(const struct pressure *p, uint32_t cpu, uint64_t *out);
/* Of the program, for tests that run it. */
int pressure_program(const struct pressure *p);
