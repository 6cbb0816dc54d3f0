/*
 * model/event_log — the records of a recording themselves, as they came: for those who ask for events.
 *
 * Records go in through a sink and come out as they were, in the order in which they came, all or those of a
 * time, of some kinds, of a CPU, of a task. Bounded: what does not fit below the cap is dropped and counted.
 * In memory a record's header takes 8 bytes, so that a switch or a waking takes 24; the indexes by CPU and
 * by task, 4 bytes per record and 4 per task in it, are built at the first question that needs them.
 *
 * Records must have passed ev_check(). Questions by time are fast where time never goes back; where it does,
 * they are answered as well. One thread. Pure: no I/O, no clock.
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
	size_t cap_bytes; /* of the records; 0 picks 4 GiB */
};

/* -ENOMEM. */
MUST_USE int event_log_new(const struct event_log_cfg *cfg, struct event_log **out);
void event_log_free(struct event_log *l); /* NULL is fine */
void scoped_event_log(struct event_log *const *l);
struct ev_sink event_log_sink(struct event_log *l);

uint64_t event_log_nr(const struct event_log *l); /* records kept */
/* Of one kind, those that were dropped left out. */
uint64_t event_log_count(const struct event_log *l, unsigned int kind);
uint64_t event_log_dropped(const struct event_log *l);
size_t event_log_bytes(const struct event_log *l); /* of records and indexes */

struct event_log_query {
	uint64_t kinds; /* bits EV_BIT(); 0 = all */
	uint32_t cpu;   /* on which it happened; EVENT_LOG_ANY = any */
	uint32_t tid; /* any in it: who leaves, comes, wakes, is woken, ...; EVENT_LOG_ANY = any, 0 none */
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
