/*
 * session/recorder — a recording: from the event stream to a Perfetto trace on disk.
 *
 * open() checks everything that can be wrong before anything is attached, and creates the file; run() writes
 * until time is up, the command has ended, a signal comes, or the disk is full. What is on disk loads at any
 * moment. Memory is bounded: nothing of the stream is kept. One thread; never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "collect/probe_spec.h"

struct recorder;

struct recorder_cfg {
	const char *path;
	uint64_t kinds;            /* EV_BIT() of each */
	uint32_t tgid;             /* 0 = all */
	const char *const *cgroup; /* patterns; none = all */
	size_t nr_cgroup;
	const struct events_probe *probes; /* of the user's choice */
	size_t nr_probes;
	uint32_t one_in; /* record one wakeup in so many, with what follows from it; 0 = all */
	const char *const *pmu; /* events to count per slice, at most EV_PMU_MAX */
	size_t nr_pmu;
	bool wants_system_stats;
	bool is_per_cpu_rings;
	uint32_t ring_bytes; /* 0 picks */
	bool is_compressed;
	uint64_t duration_ns;     /* 0 = until told */
	char *const *command;     /* run meanwhile, and the recording ends with it; NULL = none */
	const char *command_line; /* for the trace's attributes */
};

enum recorder_end {
	RECORDER_END_TIME,
	RECORDER_END_SIGNAL,
	RECORDER_END_COMMAND,
	RECORDER_END_TARGET, /* the process that was asked for has ended */
};

struct recorder_stats {
	uint64_t elapsed_ns;
	uint64_t events; /* seen by the kernel side, of all kinds */
	uint64_t switches;
	uint64_t wakings;
	uint64_t hits;   /* of probes */
	uint64_t one_in; /* only one wakeup in so many was recorded; 1 = all */
	uint64_t lost;
	uint64_t written; /* records */
	uint64_t bytes;
	uint64_t breaks;    /* switches that do not follow from the one before */
	bool is_filtered;   /* then tasks that become wanted while they run make breaks, too */
	uint64_t missing;   /* kinds that this kernel does not have */
	int command_status; /* as of waitpid(), if there was a command */
};

typedef void recorder_progress_fn(void *ctx, const struct recorder_stats *stats);

MUST_USE int recorder_open(const struct recorder_cfg *cfg, struct diag *d, struct recorder **out);
size_t recorder_nr_cgroups(const struct recorder *r); /* that the patterns match */
uint64_t recorder_missing(const struct recorder *r);  /* kinds that this kernel does not have */
/* progress, which may be NULL, is called about four times a second. */
MUST_USE int recorder_run(struct recorder *r, recorder_progress_fn *progress, void *ctx,
                          struct diag *d, enum recorder_end *why);
/* Ends the trace; its totals are in stats, which may be NULL. */
MUST_USE int recorder_close(struct recorder *r, struct recorder_stats *stats, struct diag *d);
