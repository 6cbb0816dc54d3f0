/*
 * collect/sampler — stacks, sampled and counted in the kernel.
 *
 * Use: open, start, then take again and again; stop; take a last time; close. One perf event per CPU runs a program
 * that walks both stacks; or a tracepoint, a uprobe, a task going to sleep, a wakeup does. Equal stacks of the same
 * task are one row with a count, each stack kept once, so that little leaves the kernel. Reading does not stop it.
 *
 * Samples that found no room are counted, never silently dropped. The hypervisor is not sampled; idle is not a task
 * and is left out. One thread; nothing blocks. Never prints; no descriptor is left open after close.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "collect/sample_event.h"
#include "sys/cpulist.h"

#define SAMPLER_DEPTH 127U

struct sampler;

struct sampler_cfg {
	const struct sample_event *event;
	uint64_t frequency; /* samples per second and CPU; 0 = by period */
	uint64_t period;    /* events per sample; 0 = by frequency */
	const struct cpulist *online;
	uint32_t cpu; /* only this one; SAMPLER_ANY_CPU */
	uint32_t tgid; /* only this process: all its threads, and children that begin meanwhile; 0 = all */
	bool is_cgroup_only;  /* only tasks in the cgroups of sampler_add_cgroup() */
	uint64_t max_samples; /* the kernel counts no more than so many; 0 = no limit */
	uint64_t min_off_ns;  /* off-CPU: shorter waits are not kept */
	uint32_t max_stacks;  /* different ones; 0 = 16384 */
	bool no_kernel, no_user;
};

#define SAMPLER_ANY_CPU UINT32_MAX

/* Equal stacks of one task. Addresses are lent until the next call. */
struct sampler_row {
	uint32_t tid;
	uint32_t tgid;
	char comm[16];
	uint32_t cpu; /* of the last sample */
	uint32_t layer;
	uint64_t first_ns, last_ns; /* boot time */
	uint64_t count;             /* samples since the start */
	uint64_t value;             /* ns of off-CPU profiles; else the sum of periods */
	const uint64_t *kernel;     /* leaf first */
	uint32_t nr_kernel;
	const uint64_t *user;
	uint32_t nr_user;
};

struct sampler_totals {
	uint64_t samples; /* that came, idle not counted */
	uint64_t kept;
	uint64_t lost;       /* no room for the stack or the row */
	uint64_t idle;       /* samples of idle CPUs */
	uint64_t throttled;  /* times that the kernel slowed an event down */
	uint32_t nr_cpus;    /* with an event */
	uint32_t nr_skipped; /* CPUs that went offline */
};

/* -EACCES, -ENOENT (unknown event), -ENOTSUP (no such PMU), -ESRCH (no such process), -ENODEV (CPU offline), ... */
MUST_USE int sampler_open(const struct sampler_cfg *cfg, struct diag *d, struct sampler **out);
MUST_USE int sampler_add_cgroup(struct sampler *s, uint64_t id, bool is_exact, struct diag *d);
MUST_USE int sampler_start(struct sampler *s, struct diag *d);
void sampler_stop(struct sampler *s);  /* nothing is sampled after it returns; rows stay */
void sampler_close(struct sampler *s); /* NULL is fine */

/* All rows so far, each with its count since the start; a negative errno of row() ends it. */
typedef int sampler_row_fn(void *ctx, const struct sampler_row *row);
MUST_USE int sampler_read(struct sampler *s, sampler_row_fn *row, void *ctx, struct diag *d);
void sampler_totals(struct sampler *s, struct sampler_totals *out);
bool sampler_is_full(const struct sampler *s); /* max_samples is reached */
