/*
 * collect/sample/sample_perf — one event of perf on many CPUs, each overflow of which runs a BPF program, or is read
 * from a ring.
 *
 * With a frequency the kernel chooses the period to get that many samples per second; with a period every Nth event
 * is one. Opened disabled, close-on-exec, for whatever runs on the CPU, without the hypervisor. CPUs that went
 * offline are counted. A small ring per CPU shows how often the kernel throttled the event; where there is no memory
 * for it, that stays unknown. Without a program each sample is an address and how the kernel came there: programs do
 * not see samples that fall into others (kprobes, tracepoints), a ring does. One thread. Never prints.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/cpulist.h"
#include "sys/pmu/pmu.h"

struct sample_perf;

struct sample_perf_cfg {
	const struct pmu_events
		*events;    /* one per kind of core; stay the caller's for as long as it is open */
	uint64_t frequency; /* or */
	uint64_t period;
	const struct cpulist *online; /* not kept */
	uint32_t cpu;                 /* only this one; UINT32_MAX = all */
	int prog_fd;                  /* -1 = samples are read from rings */
	size_t ring_bytes;            /* then: of each CPU, a power of two of pages */
};

#define SAMPLE_PERF_DEPTH \
	24U /* callers that come with an address; there may be fewer, in user code none */

/* Lent for the call. */
struct sample_perf_address {
	uint64_t address;
	const uint64_t *callers; /* in the kernel, the innermost first: return addresses */
	uint32_t nr_callers;
};

struct sample_perf_counts {
	uint64_t samples;
	uint64_t lost;
};

MUST_USE int sample_perf_open(const struct sample_perf_cfg *cfg, struct diag *d,
                              struct sample_perf **out);
MUST_USE int sample_perf_enable(struct sample_perf *p); /* 0 or the first -errno */
/*
 * Once it is enabled: samples CPUs that came online since, and drops those that went offline, whose
 * samples in rings are lost unless they were read before. 0, or the first -errno of a CPU that
 * stays without.
 */
MUST_USE int sample_perf_follow(struct sample_perf *p, const struct cpulist *online,
                                struct diag *d);
/* All that is in the rings, where there is no program; the counts are since the start. */
typedef void sample_perf_fn(void *ctx, const struct sample_perf_address *sample);
void sample_perf_read(struct sample_perf *p, sample_perf_fn *fn, void *ctx,
                      struct sample_perf_counts *out);
/* Closes the events; how many there were, and how often they were throttled, stays known. */
void sample_perf_end(struct sample_perf *p);
uint32_t sample_perf_nr(const struct sample_perf *p);
uint32_t sample_perf_nr_skipped(
	const struct sample_perf *p);                  /* CPUs that are not, when last checked */
uint64_t sample_perf_throttled(struct sample_perf *p); /* so far */
void sample_perf_close(struct sample_perf *p);         /* NULL is fine */
