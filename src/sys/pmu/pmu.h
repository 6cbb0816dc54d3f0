/*
 * sys/pmu/pmu — from an event's name to the arguments of perf_event_open().
 *
 * Looked up in this order:
 *   alias      l1d-miss, l1i-miss, l2-miss, l3-miss (what they mean depends on the CPU's vendor)
 *   generic    cycles, instructions, LLC-load-misses, ...; software: context-switches, page-faults, ...
 *   PMU's own  NAME, PMU/NAME/ or PMU/event=0x64,umask=0x9/, by the PMU's events/ and format/ files
 *   raw        rHEX, only where the caller allows it: a mistyped word must not become an event
 * On hybrid CPUs one name becomes one event per core PMU, each with the CPUs that it counts on.
 *
 * Reads files below the given paths; opens no counter. Any thread. Nothing is kept between calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/cpulist.h"

#define PMU_NAME_MAX 128

struct pmu_paths {
	const char *devices; /* /sys/bus/event_source/devices */
	const char *cpuinfo; /* /proc/cpuinfo */
};

extern const struct pmu_paths pmu_paths_default;

struct pmu_event {
	char name[PMU_NAME_MAX];  /* as asked for */
	char title[PMU_NAME_MAX]; /* for a table's heading */
	char pmu[PMU_NAME_MAX];   /* PMU that counts it; empty for software events */
	uint32_t type;            /* perf_event_attr.type */
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	bool is_per_task; /* false: counts for a package or device, cannot be charged to a task */
	struct cpulist cpus; /* where to open it; empty = on every online CPU */
};

struct pmu_events {
	struct pmu_event *items;
	size_t nr;
};

/* -EINVAL for a malformed name, -ENOENT for an unknown one, -ENOTSUP where this CPU has no such event. */
MUST_USE int pmu_resolve(const struct pmu_paths *paths, const char *name, bool allows_raw,
                         struct diag *d, struct pmu_events *out);
void pmu_events_done(struct pmu_events *l);

struct pmu_row {
	const char *name; /* can be given to pmu_resolve() as it is */
	const char *kind; /* alias, hardware, cache, software, pmu, raw */
	const char *description;
};

struct pmu_lister {
	/* Asked for every event, such as perf_counter_can_open(); NULL trusts the files. */
	bool (*is_usable)(void *ctx, const struct pmu_event *event);
	/* Takes one row, valid during the call; a negative errno ends the listing. */
	int (*row)(void *ctx, const struct pmu_row *row);
	void *ctx;
};

/*
 * Takes the next name off a comma-separated list; commas between slashes belong to an event's terms. Returns
 * what follows, NULL at the end. A name that does not fit is cut.
 */
const char *pmu_next_name(const char *at, char *name, size_t size);

/* All names that can be used on this machine and charged to tasks. 0, what row() said, or -errno. */
MUST_USE int pmu_list(const struct pmu_paths *paths, const struct pmu_lister *lister,
                      struct diag *d);
