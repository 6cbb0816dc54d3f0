/*
 * collect/order — records of several rings, in one order: that of time.
 *
 * Producers reserve a record before they stamp it. So a reader that takes the time first and the ends of all
 * rings then knows: what lies beyond an end is younger than that time. Once everything below the ends is
 * read, every record up to that time is there and can be delivered, sorted; the few younger ones wait for
 * the next round. Nothing is guessed, and no record is late. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "collect/ring.h"

struct order;

struct order_stats {
	uint64_t records;
	uint64_t bad;      /* not what they say: passed over */
	uint64_t unsorted; /* stood behind a younger one in their ring */
	uint64_t held;     /* waited for the next round */
	uint64_t busy;     /* rounds that met a record still being written */
	uint64_t torn;     /* still being written at the end: lost */
	uint64_t late; /* older than what was handed on before: a producer stamped before it reserved */
};

/* The rings stay the caller's. */
MUST_USE int order_new(struct ring *const *rings, size_t nr, struct order **out);
void order_free(struct order *o); /* NULL is fine */

/*
 * One round: hands on all records that are known to be complete. now_ns was read from the boot-time clock
 * before the call. *until is the time up to which everything was handed on. A negative errno of the sink, or
 * -ENOMEM, ends the round.
 */
MUST_USE int order_round(struct order *o, uint64_t now_ns, const struct ev_sink *sink,
                         uint64_t *until);
/* The last round: no producer is left, so all is handed on. What one has left unfinished is passed over and counted. */
MUST_USE int order_finish(struct order *o, const struct ev_sink *sink);
void order_stats(const struct order *o, struct order_stats *out);
