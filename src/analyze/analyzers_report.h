/*
 * analyze/analyzers_report — what each live analyzer has found, as analyze/facts, with the names that scxtop's
 * clients know and what they lacked.
 *
 * Every report ends with "observed": whether the analyzer runs, for how long it has observed, one wakeup in
 * how many is recorded, records seen and lost, and what found no place. Rates are over that time; unknown is
 * null. Reports can be made at any time, also after a stop; one that was never started has nothing found.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "model/analyzers.h"

struct arena;
struct diag;
struct event_filter;
struct facts;

/* What to show; 0 everywhere is a sensible report. Each analyzer takes what it knows. */
struct analyzer_args {
	const char *mode; /* waker_wakee_analyzer and softirq_analyzer; NULL picks the first */
	uint32_t limit;   /* rows of a list; 0 picks 20 */
	bool has_pid;
	uint32_t pid; /* waker_wakee (for_pid), process_history, wakeup_tracker, latency_tracker: a tid */
	bool has_softirq_nr;
	uint32_t softirq_nr; /* by_cpu and by_process */
	double percentile;   /* cpu_hotspot_analyzer; 0 picks 90 */
	double multiplier;   /* rate_monitor: how much above the usual is strange; 0 picks 2 */
	const uint64_t *buckets_us; /* latency_tracker; NULL picks 10, 100, 1000, 10000 */
	uint32_t nr_buckets;
	uint64_t from_ns, to_ns; /* event_buffer; to_ns 0 = no end */
	uint64_t after; /* event_buffer: only records with a higher number; then the oldest first */
	const struct event_filter *filter; /* event_buffer; NULL = all */
};

/* -EINVAL with a diag for arguments that make no sense, or -ENOMEM. */
MUST_USE int analyzers_report(const struct analyzers *a, enum analyzer_id id,
                              const struct analyzer_args *args, struct arena *mem, struct diag *d,
                              struct facts **out);
/* All ten: name, running, has data, observed, records, lost. */
MUST_USE int analyzers_report_status(const struct analyzers *a, struct arena *mem, struct diag *d,
                                     struct facts **out);
