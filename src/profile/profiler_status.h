/* profile/profiler_status — what a profiler does right now, and its configuration: plain values for display. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum profiler_state { PROFILER_IDLE, PROFILER_RUNNING, PROFILER_STOPPED };

/* Why it does not run any more. */
enum profiler_end {
	PROFILER_END_NONE, /* it still does, or never did */
	PROFILER_END_STOPPED,
	PROFILER_END_DURATION,
	PROFILER_END_FULL,   /* max_samples */
	PROFILER_END_TARGET, /* the process that was asked for has ended */
};

struct profiler_status {
	enum profiler_state state;
	enum profiler_end end;
	uint64_t samples; /* kept */
	uint64_t lost;
	uint64_t idle;        /* of idle CPUs, not kept */
	uint64_t throttled;   /* times that the kernel slowed sampling down */
	uint64_t duration_ns; /* so far, or until it stopped */
	uint32_t nr_cpus;
	uint32_t nr_skipped; /* CPUs that are offline */
	bool is_counting;

	/* What was asked for; meaningless while idle. */
	const char *event;           /* that is sampled; NULL while idle */
	const char *why_default;     /* why another event than cycles was chosen; NULL */
	uint64_t frequency;          /* 0 = by period */
	uint64_t period;             /* 0 = by frequency */
	int64_t cpu;                 /* -1 = all */
	int64_t pid;                 /* -1 = all */
	uint64_t max_samples;        /* 0 = no limit */
	uint64_t duration_wanted_ns; /* 0 = until stopped */
};
