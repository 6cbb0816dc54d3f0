/*
 * model/event_log — the records themselves, of a recording or of the last moments, for queries of events.
 *
 * Records go in through a sink and come out as they were, in the order in which they came, all or those of a
 * time, of some kinds, of a CPU, of a task. Bounded: what does not fit below the cap is dropped and counted.
 * In memory a record's header takes 8 bytes, so that a switch or a waking takes 24; the indexes by CPU and
 * by task, 4 bytes per record and 4 per task in it, are built at the first query that needs them.
 *
 * With a window, records that are older than that are forgotten, chunk by chunk, and at a cap the oldest make room. Records
 * are numbered from 1 in the order in which they came, so that a reader can continue where it was and knows what it missed. A
 * snapshot is a log of its own, made in the time that it takes to count chunks: it shares the full ones and copies the last one.
 * It may be read, and freed, on another thread than the one that adds records.
 *
 * Records must have passed ev_check(). Queries by time are fast where time never goes back, and
 * correct where it does. One thread. Pure: no I/O, no clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"

#define EVENT_LOG_ANY UINT32_MAX

struct event_log;

struct event_log_cfg {
	size_t cap_bytes;     /* of the records; 0 picks 4 GiB */
	uint64_t window_ns;   /* 0 = keep all, and drop what comes when the log is full */
	uint64_t max_records; /* with a window; 0 = only bytes count */
	bool keeps_whole;     /* as they came, not in the short form: needed by event_log_lend() */
};

/* -ENOMEM. */
MUST_USE int event_log_new(const struct event_log_cfg *cfg, struct event_log **out);
void event_log_free(struct event_log *l); /* NULL is fine */
struct ev_sink event_log_sink(struct event_log *l);

uint64_t event_log_nr(const struct event_log *l); /* records kept */
uint64_t event_log_dropped(const struct event_log *l);
size_t event_log_bytes(const struct event_log *l); /* of records and indexes */
/* Numbers of the records that are there: from first up to, and without, end. */
uint64_t event_log_first(const struct event_log *l);
uint64_t event_log_end(const struct event_log *l);
uint64_t event_log_cut(
	const struct event_log *l); /* forgotten for lack of room, before their time */
/* Time has passed: what is older than the window is forgotten. */
void event_log_advance(struct event_log *l, uint64_t now_ns);
/* Its records, as they are now, without a window; more can be added. -ENOMEM. */
MUST_USE int event_log_snapshot(const struct event_log *l, struct event_log **out);

/* Where the latest record is. */
uint64_t event_log_place(const struct event_log *l);
/* The record of a place, to be changed; NULL if it is gone, or a snapshot has it, too. */
struct ev_hdr *event_log_change(struct event_log *l, uint64_t place);
/* The records from a number on, where they lie: how many. Valid until the next one goes in. Only of a log that keeps them whole. */
uint32_t event_log_lend(const struct event_log *l, uint64_t number, const struct ev_hdr **out,
                        uint32_t max);

struct event_log_query {
	uint64_t kinds; /* bits EV_BIT(); 0 = all */
	uint32_t cpu;   /* on which it happened; EVENT_LOG_ANY = any */
	uint32_t tid; /* any task in it: previous, next, waker, wakee, ...; EVENT_LOG_ANY = any, 0 none */
	uint64_t from_ns; /* [from_ns, to_ns) */
	uint64_t to_ns;
};

/* Filled by event_log_find(); valid until the next record goes in. */
struct event_log_iter {
	const struct event_log *l;
	struct event_log_query q;
	const uint32_t *order; /* NULL: the log itself */
	uint64_t at;           /* in order, or a place in the log */
	uint64_t end;
	uint64_t rec[32]; /* the latest record */
};

/* -ENOMEM: no memory for an index. */
MUST_USE int event_log_find(struct event_log *l, const struct event_log_query *q,
                            struct event_log_iter *out);
/* NULL at the end. Valid until the next call with the same iterator. */
const struct ev_hdr *event_log_next(struct event_log_iter *it);

/* The tids in a record, each once, idle (0) left out; how many, at most EVENT_LOG_MAX_TIDS. */
#define EVENT_LOG_MAX_TIDS 2
unsigned int event_log_tids(const struct ev_hdr *rec, uint32_t tids[EVENT_LOG_MAX_TIDS]);
