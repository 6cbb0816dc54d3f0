/*
 * collect/sample_perf — one event of perf on many CPUs, each overflow of which runs a BPF program.
 *
 * By frequency the kernel chooses the period so that so many samples come per second; by period each so-many-th event
 * is one. Opened disabled, close-on-exec, for whatever runs on the CPU, without the hypervisor. CPUs that went offline
 * are counted. A small ring per CPU tells how often the kernel throttled the event; where there is no memory for it,
 * that stays unknown. One thread. Never prints.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/cpulist.h"
#include "sys/pmu.h"

struct sample_perf;

struct sample_perf_cfg {
	const struct pmu_events *events; /* one per kind of core */
	uint64_t frequency;              /* or */
	uint64_t period;
	const struct cpulist *online;
	uint32_t cpu; /* only this one; UINT32_MAX = all */
	int prog_fd;
};

MUST_USE int sample_perf_open(const struct sample_perf_cfg *cfg, struct diag *d,
                              struct sample_perf **out);
MUST_USE int sample_perf_enable(struct sample_perf *p); /* 0 or the first -errno */
/* Closes the events; how many there were, and how often they were throttled, stays known. */
void sample_perf_end(struct sample_perf *p);
uint32_t sample_perf_nr(const struct sample_perf *p);
uint32_t sample_perf_nr_skipped(const struct sample_perf *p);
uint64_t sample_perf_throttled(struct sample_perf *p); /* so far */
void sample_perf_close(struct sample_perf *p);         /* NULL is fine */
