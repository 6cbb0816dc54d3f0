/*
 * model/event_rates — how much happens per second, by kind of record, now and against what is usual.
 *
 * Time is that of the records, cut into seconds from the first one on, so that each finished second was
 * observed as a whole; the last EVENT_RATES_SECONDS are kept. After a pause the seconds begin anew. Fixed in
 * memory. One thread. Pure: no clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"

#define EVENT_RATES_SECONDS  60
#define EVENT_RATES_BASELINE 10 /* finished seconds before the last one that say what is usual */

struct event_rates;

struct event_rates_kind {
	uint64_t total;
	uint64_t last;     /* in the last finished second */
	double per_second; /* over the seconds kept */
	double usual;      /* mean of the seconds before the last one */
	bool has_usual;
	double spike; /* last over usual; meaningful with has_usual and usual > 0 */
};

MUST_USE int event_rates_new(struct event_rates **out); /* or -ENOMEM */
void event_rates_free(struct event_rates *r);           /* NULL is fine */
struct ev_sink event_rates_sink(struct event_rates *r);
void event_rates_reset(struct event_rates *r);
/* Seconds begin anew at ts_ns, or with the next record if it is 0; totals stay. */
void event_rates_resume(struct event_rates *r, uint64_t ts_ns);

uint32_t event_rates_seconds(const struct event_rates *r); /* finished ones that are kept */
/* False for a kind that never came. */
bool event_rates_kind(const struct event_rates *r, unsigned int kind, struct event_rates_kind *out);
