/*
 * model/analyzers — the ten live analyzers under one roof: started, stopped and reset by name, each apart.
 *
 * Two doors: records through a sink, after model/pair has seen them, and rows of model/pair through one table
 * of callbacks. What is not running costs nothing, and has no memory before it is first started. Stopping
 * keeps what was found, readable until it is reset; starting again goes on from there. Times are those of
 * records: callers pass the time of their clock, the boot time, or 0 for the latest that the stream has told.
 *
 * Everything is bounded, as the header of each analyzer says. One thread. Pure: no I/O, no clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "model/live.h"

struct analyzers;
struct diag;

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
	ANALYZERS
};

#define ANALYZERS_ALL ((1U << ANALYZERS) - 1)

struct analyzers_cfg {
	const struct pair *pair;         /* lent */
	struct tasks *tasks;             /* lent */
	const struct live_place *places; /* by CPU, copied; NULL = unknown */
	uint32_t nr_places;
	uint32_t max_events; /* of the event buffer; 0 picks its default */
	uint32_t max_bytes;
	uint32_t max_rows; /* of each table of the others; 0 picks the default of each */
};

struct analyzers_status {
	bool is_running;
	bool has_data;        /* was ever started, and not only to be reset */
	uint64_t observed_ns; /* while it ran, pauses left out */
	uint64_t records;     /* that came while it ran, of kinds that it needs */
	uint64_t lost;        /* of those kinds, reported lost while it ran */
	uint64_t one_in;      /* one wakeup in so many is recorded; 1 = all */
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int analyzers_new(const struct analyzers_cfg *cfg, struct analyzers **out);
void analyzers_free(struct analyzers *a); /* NULL is fine */
struct ev_sink analyzers_sink(struct analyzers *a);
struct pair_out analyzers_out(struct analyzers *a);

const char *analyzers_name(enum analyzer_id id);
/* One bit for a name, all for "all"; -EINVAL with a diag that lists the names. */
MUST_USE int analyzers_set(const char *name, struct diag *d, uint32_t *out);
/* Kinds of records, as bits, that a set of analyzers needs; nothing else decides it. */
uint64_t analyzers_kinds(uint32_t set);

/* Those of the set that run already go on. -ENOMEM: those that had memory run. */
MUST_USE int analyzers_start(struct analyzers *a, uint32_t set, uint64_t ts_ns, struct diag *d);
void analyzers_stop(struct analyzers *a, uint32_t set, uint64_t ts_ns);
/* Forgets what was found; those that run go on from ts_ns. */
void analyzers_reset(struct analyzers *a, uint32_t set, uint64_t ts_ns);
uint32_t analyzers_running(const struct analyzers *a);
void analyzers_status(const struct analyzers *a, enum analyzer_id id, struct analyzers_status *out);

bool analyzers_has(const struct analyzers *a, enum analyzer_id id); /* it was started once */
/* NULL for one that was never started. */
const struct event_buffer *analyzers_event_buffer(const struct analyzers *a);
const struct latency *analyzers_latency(const struct analyzers *a);
const struct hotspots *analyzers_hotspots(const struct analyzers *a);
const struct migrations *analyzers_migrations(const struct analyzers *a);
const struct history *analyzers_history(const struct analyzers *a);
const struct dsq_monitor *analyzers_dsqs(const struct analyzers *a);
const struct event_rates *analyzers_rates(const struct analyzers *a);
const struct chains *analyzers_chains(const struct analyzers *a);
const struct wakers *analyzers_wakers(const struct analyzers *a);
const struct softirq *analyzers_softirq(const struct analyzers *a);
const struct tasks *analyzers_tasks(const struct analyzers *a);
