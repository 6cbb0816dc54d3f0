/*
 * trace/perfetto/ftrace_in — bundles of the kernel's events become records of one CPU.
 *
 * Inside of ftrace_decode(): what the parts of it share. A bundle makes up to four runs: losses, wakings and
 * switches in compact form, events in full.
 */
#pragma once

#include "trace/ftrace/events.h"
#include "trace/perfetto/perfetto_in.h"

struct bundle {
	struct ftrace_cpu on;
	uint32_t state; /* of its sequence, for interned symbols */
	uint32_t clock; /* CLOCK_OF_TRACE = as it is */
	bool has_offset;
	bool is_first;       /* of its CPU */
	bool is_lost;        /* events before these are missing */
	bool is_loss_behind; /* events of the same time */
	uint64_t offset_ns;  /* to add, for clocks that the bundle itself explains */
};

void compact_decode(struct bundle *b, struct pb_in body);

/* A time of the bundle on the trace's clock. */
static inline uint64_t bundle_ns(const struct bundle *b, uint64_t raw)
{
	if (b->has_offset)
		return raw + b->offset_ns;
	return b->clock == CLOCK_OF_TRACE ? raw
	                                  : clocks_to_trace(&b->on.dec->r->clocks, b->clock, raw);
}

/* Of an event; false if it is from before the recording. Counts it. */
static inline bool bundle_time(struct bundle *b, uint64_t raw, uint64_t *out)
{
	uint64_t ns = bundle_ns(b, raw);

	if (ns < b->on.dec->r->drop_before_ns) {
		b->on.dec->tally->damage[DAMAGE_EVENT_BEFORE_START]++;
		return false;
	}
	if (ns < b->on.first_ts_ns)
		b->on.first_ts_ns = ns;
	if (ns > b->on.last_ts_ns)
		b->on.last_ts_ns = ns;
	b->on.nr_events++;
	*out = ns;
	return true;
}
