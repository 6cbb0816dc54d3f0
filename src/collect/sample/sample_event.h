/*
 * collect/sample/sample_event — parses the user's words for what a profile samples.
 *
 *   hw:NAME, hardware:NAME      cycles, instructions, ...; sw:NAME, software:NAME: cpu-clock, page-faults, ...
 *   NAME                        software or hardware, as known; else any event of any core PMU (sys/pmu/pmu), rHEX
 *   tracepoint:SUBSYSTEM:NAME   each time that it fires
 *   uprobe:PATH:SYMBOL          each call; uprobe:ret:PATH:SYMBOL each return, as in probe_spec
 *   off-cpu                     tasks that go to sleep, by the time until they are back
 *   waker                       tasks that wake others: the waker's stack
 * Upper and lower case are alike but in paths, symbols and the names that a PMU gives itself; so are '-' and '_'
 * where both are in use. `hw:cpu-clock` is taken for the software event that it is: tools in use ask for it by that
 * name. Empty or NULL: cycles where there is a PMU, else cpu-clock.
 *
 * Asks the kernel whether it can open cycles, for the default only; nothing is kept open. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "sys/pmu/pmu.h"

#define SAMPLE_SPEC_LEN (1024 + 256) /* PROBE_PATH_LEN and PROBE_SYMBOL_LEN */
#define SAMPLE_NAME_LEN (SAMPLE_SPEC_LEN + 16)

enum sample_kind {
	SAMPLE_PERF, /* an event of perf: a clock, a counter */
	SAMPLE_TRACEPOINT,
	SAMPLE_UPROBE,
	SAMPLE_OFF_CPU,
	SAMPLE_WAKER,
};

struct sample_event {
	enum sample_kind kind;
	char name[SAMPLE_NAME_LEN]; /* for people, and as it can be given again */
	char spec[SAMPLE_SPEC_LEN]; /* of a tracepoint or uprobe, for probe_spec */
	struct pmu_events pmu;      /* of SAMPLE_PERF: one per kind of core */
	bool is_software;           /* of SAMPLE_PERF: no PMU is needed */
	bool is_default;            /* not requested */
	const char *why_default;    /* one sentence where the default is not cycles; NULL */
};

/* -EINVAL malformed, -ENOENT unknown (the sentence names it and the nearest), -ENOTSUP not on this machine. */
MUST_USE int sample_event_parse(const char *text, struct sample_event *out, struct diag *d);
void sample_event_done(struct sample_event *e);
