/*
 * collect/sample_event — the user's words for what a profile samples, taken apart.
 *
 *   hw:NAME, hardware:NAME      cycles, instructions, ...; sw:NAME, software:NAME: cpu-clock, page-faults, ...
 *   NAME                        software or hardware, as known; else any event of any PMU (sys/pmu), rHEX
 *   tracepoint:SUBSYSTEM:NAME   each time that it fires
 *   uprobe:PATH:SYMBOL          each call; ret: as in probe_spec
 *   off-cpu                     tasks that leave the CPU, by the time until they are back
 *   waker                       who wakes others: the waker's stack
 * Upper and lower case are alike. Empty or NULL: cycles where there is a PMU, else cpu-clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/pmu.h"

enum sample_kind {
	SAMPLE_PERF, /* an event of perf: a clock, a counter */
	SAMPLE_TRACEPOINT,
	SAMPLE_UPROBE,
	SAMPLE_OFF_CPU,
	SAMPLE_WAKER,
};

struct sample_event {
	enum sample_kind kind;
	char name[PMU_NAME_MAX]; /* for people, and as it can be given again */
	char spec[1024 + 256];   /* of a tracepoint or uprobe, for probe_spec */
	struct pmu_events pmu;   /* of SAMPLE_PERF: one per kind of core */
	bool is_default;         /* nobody asked for it */
	const char *why_default; /* one sentence where the default is not cycles; NULL */
};

/* -EINVAL malformed, -ENOENT unknown (the sentence names it and lists the near ones), -ENOTSUP not on this machine. */
MUST_USE int sample_event_parse(const char *text, struct sample_event *out, struct diag *d);
void sample_event_done(struct sample_event *e);
