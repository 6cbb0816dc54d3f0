/*
 * live/live_analyzers — the live analyzers: which records and tables each needs, and what answers for it. Ten have the names
 * that scxtop's clients know.
 *
 * Nine answer by an analysis over the rolling timeline (live/live_model), the same that runs over a recording. Three have a
 * small bounded state of their own: the last records, the last moments of each task, what is usual in a second.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct diag;
struct pass;

enum analyzer_id {
	ANALYZER_EVENT_BUFFER,
	ANALYZER_LATENCY_TRACKER,
	ANALYZER_CPU_HOTSPOT,
	ANALYZER_MIGRATION,
	ANALYZER_PROCESS_HISTORY,
	ANALYZER_DSQ_MONITOR,
	ANALYZER_RATE_MONITOR,
	ANALYZER_WAKEUP_TRACKER,
	ANALYZER_WAKER_WAKEE,
	ANALYZER_SOFTIRQ,
	ANALYZER_BLAME,
	ANALYZER_EXPLAIN,
	ANALYZERS
};

#define ANALYZERS_ALL    ((1U << ANALYZERS) - 1)
#define ANALYZERS_OF_WHY (1U << ANALYZER_BLAME | 1U << ANALYZER_EXPLAIN)

struct live_analyzer {
	const char *name;
	uint64_t kinds;          /* of records, as bits; nothing else decides what is attached */
	uint32_t tables;         /* of the timeline, as bits */
	const struct pass *pass; /* NULL: it has its own state */
};

extern const struct live_analyzer live_analyzers[ANALYZERS];

/* One bit for a name, all for "all"; -EINVAL with a diag that lists the names. */
MUST_USE int analyzers_set(const char *name, struct diag *d, uint32_t *out);
uint64_t analyzers_kinds(uint32_t set);
uint32_t analyzers_tables(uint32_t set);
