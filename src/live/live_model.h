/*
 * live/live_model — what a live stream of records is turned into, behind one sink: the rolling timeline, and beside it what
 * is not a row: the last records (live/live_events), and the state of analyzers that have one.
 *
 * The timeline keeps a window of the tables that something needs, in at most half of LIVE_BYTES; the other half is for what
 * stopped analyzers keep of it (live_model_stop()). The stream may be interrupted and go on with other kinds:
 * live_model_pause() and live_model_resume() stand around the hole, across which nothing is paired.
 * One thread at a time; the caller locks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/budget.h"
#include "base/diag.h"
#include "live/live_analyzers.h"
#include "live/live_events.h"
#include "live/live_feed.h"
#include "live/live_shot.h"
#include "live/live_source.h"
#include "live/live_triggers.h"

#define LIVE_BYTES (256ULL << 20)

struct event_log;
struct event_notes;
struct event_rates;
struct history;
struct topology;

#define LIVE_HOLES_MAX 64U

/* An analyzer: since when it runs, and what it keeps when it does not. */
struct observer {
	bool is_running;
	bool was_started;            /* once */
	bool has_data;               /* since the last reset */
	bool is_released;            /* what it kept had to make room */
	uint64_t since_ns, until_ns; /* until: while stopped */
	uint64_t records,
		lost; /* of its kinds: before it started, or, when stopped, while it ran */
	struct live_shot *kept;
};

struct live_model {
	uint64_t window_ns; /* that the timeline keeps */
	struct tasks *tasks;
	struct pair *pair;
	struct budget budget; /* of the rows, also those that only shots hold */
	struct timeline *timeline;
	struct event_log *log; /* records themselves, by notes */
	struct event_notes *notes;
	bool is_streaming;       /* a client follows the stream: records go into the log, too */
	bool is_logging;         /* the last record went there */
	uint64_t buffer_base;    /* number of the last record before event_buffer began */
	struct live_events kept; /* by event_buffer, when it was stopped */
	struct live_place *places;
	uint32_t nr_cpus;
	const char *filter;         /* which tasks are recorded; NULL = all */
	uint64_t kinds;             /* of the stream */
	uint64_t seen[EV_KIND_MAX]; /* records, ever */
	uint64_t lost[EV_KIND_MAX];
	struct source_hole
		holes[LIVE_HOLES_MAX]; /* between streams, the latest; the last may be open */
	uint32_t nr_holes;
	uint64_t stats_since_ns; /* when totals began to be needed; 0 = they are not */
	uint64_t why_since_ns;   /* the same for what explains waits and sleeps */
	struct live_triggers triggers;
	struct observer observers[ANALYZERS];
	struct history *history; /* NULL before the first start, as the next one */
	struct event_rates *rates;
};

MUST_USE int live_model_init(struct live_model *m, const struct topology *topology,
                             uint64_t window_ns, struct diag *d);
void live_model_done(struct live_model *m); /* a zeroed one is fine; after all shots */
struct ev_sink live_model_sink(struct live_model *m);

/* Those of the set that run already go on; others begin anew. -ENOMEM: those that had memory run. */
MUST_USE int live_model_start(struct live_model *m, uint32_t set, uint64_t ts_ns, struct diag *d);
/* Each keeps what it has observed till now. */
void live_model_stop(struct live_model *m, uint32_t set);
/* Forgets what was found; those that run go on from ts_ns. */
void live_model_reset(struct live_model *m, uint32_t set, uint64_t ts_ns);
uint32_t live_model_running(const struct live_model *m);
/* Of seen or lost, the kinds of an analyzer. */
uint64_t live_model_sum(const uint64_t *counts, enum analyzer_id i);
/* The log as it is: of the stream, or of the analyzer event_buffer, also when that was stopped. Lent, to be copied. */
struct live_events live_model_events(const struct live_model *m, bool is_of_buffer);
/* Totals count from ts_ns on; 0 = they are not needed any more. */
void live_model_count(struct live_model *m, uint64_t ts_ns);
/* The same for what explains waits and sleeps. */
void live_model_explain(struct live_model *m, uint64_t ts_ns);

void live_model_pause(struct live_model *m, uint64_t ts_ns);
/* kinds are those of the stream that follows. */
void live_model_resume(struct live_model *m, uint64_t kinds, uint64_t ts_ns);
/* The tasks that are there: those that came meanwhile one by one, in the end those that went are taken out. */
void live_model_task(struct live_model *m, const struct proc_task *task, uint64_t ts_ns);
/* Living tasks whose tid is_there() does not know. */
void live_model_end_missing(struct live_model *m, bool (*is_there)(void *ctx, uint32_t tid),
                            void *ctx, uint64_t ts_ns);
