/*
 * profile/profiler/profiler — a profile of this machine as it runs: sampler, mappings and names put together.
 *
 * idle -> running -> stopped -> idle. Start opens and attaches everything or nothing; it ends by profiler_stop(), or in
 * profiler_poll() once the duration is over, max_samples are there or the process has ended: then all events are closed
 * at that moment, and what was collected stays until the next start or profiler_clear(). Poll several times a second
 * while running: it follows which files processes map, so that those that end are named too. Names are looked up when a
 * profile is requested. Inside a pid namespace the kernel's ids are not those of /proc: there only the kernel's
 * functions have names, and no process can be selected. One thread. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "profile/profile.h"
#include "profile/profiler_status.h"

#define PROFILER_ANY_CPU    UINT32_MAX
#define PROFILER_DEFAULT_HZ 99U

struct profiler;

/* How user stacks are walked. */
enum profiler_unwind {
	PROFILER_UNWIND_AUTO,  /* by tables; by frame pointers where that is not possible */
	PROFILER_UNWIND_FP,    /* by frame pointers */
	PROFILER_UNWIND_TABLE, /* by tables, or not at all: -ENOTSUP with a sentence */
	PROFILER_UNWIND_DWARF, /* copied, and walked by libdw in user space */
};

/* Zeroed, with cpu set to PROFILER_ANY_CPU, it samples the whole machine with the default event and rate. */
struct profiler_cfg {
	const char *event;         /* collect/sample/sample_event; NULL = the default */
	uint64_t frequency;        /* per second and CPU; both 0 = PROFILER_DEFAULT_HZ */
	uint64_t period;           /* events per sample */
	uint32_t cpu;              /* only this one */
	uint32_t tgid;             /* only this process, its threads and children; 0 = all */
	const char *const *cgroup; /* patterns; none = all */
	size_t nr_cgroup;
	uint64_t max_samples; /* 0 = no limit */
	uint64_t duration_ns; /* 0 = until stopped */
	uint64_t min_off_ns;  /* off-CPU: shorter waits are left out */
	enum profiler_unwind unwind;
	/* By tables: stacks of processes whose tables are not there yet are copied. Its perf events stay open until profiler_free(). */
	bool copies_early;
	bool no_kernel, no_user;
	bool wants_lines;   /* files, lines and inlined calls, too */
	bool wants_cgroups; /* of tasks */
	bool is_wall; /* samples weigh the wall-clock time that they stand for, shared by what runs at the same time; of events with a frequency */
};

MUST_USE int profiler_new(struct profiler **out);
void profiler_free(struct profiler *p); /* NULL is fine; stops */

/* -EBUSY with a sentence while it runs; else as sampler_open(). What was collected before is gone. */
MUST_USE int profiler_start(struct profiler *p, const struct profiler_cfg *cfg, struct diag *d);
/* Follows what happens; *is_over, once it has ended. */
MUST_USE int profiler_poll(struct profiler *p, bool *is_over, struct diag *d);
uint64_t profiler_deadline_ns(
	const struct profiler *p); /* boot time of the end; UINT64_MAX = none */
/* -EINVAL with a sentence if it does not run. */
MUST_USE int profiler_stop(struct profiler *p, struct diag *d);
void profiler_clear(struct profiler *p); /* idle, stopped first if necessary */

/* What the user should know, each thing once: names that are missing, and why. False if there is no further one. */
bool profiler_remark(struct profiler *p, struct diag *out);

/* Texts are lent until the next start or clear. */
void profiler_status(struct profiler *p, struct profiler_status *out);
/* Everything so far, with names; also while it runs. -ENODATA while idle. */
MUST_USE int profiler_profile(struct profiler *p, struct diag *d, struct profile **out);
/*
 * Adds to a profile what has come since the last call, at first everything, and sets its facts:
 * what was named once is not named again, so that frequent calls cost little. The profile is the
 * same one in every call after a start.
 */
MUST_USE int profiler_add_new(struct profiler *p, struct profile *into, struct diag *d);
