/*
 * record/flight_box — the flight recorder itself: records go in, and dumps come out when a trigger
 * fires.
 *
 * A sink that keeps the last keep_ns in a record_ring, feeds model/pair, and starts a new trace when a
 * trigger fires: first the state from before (evicted_state), then all that the ring holds, then what comes
 * during after_ns. All of it goes through the ring, so records that come while the disk is slow wait there;
 * only when memory runs out is a record written before the next is taken. Between the end of a dump and the
 * end of the cooldown, and while a dump is being written, triggers are only counted; a manual request
 * overrides the cooldown. A dump that fails, as on a full disk, ends there: what is on disk stays, and the
 * recorder continues.
 *
 * Traces are opened and reported through callbacks. One thread; blocks in writing only. Fixed memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sink.h"
#include "base/attr.h"
#include "base/diag.h"
#include "base/loss.h"
#include "model/trigger_eval.h"
#include "trace/perfetto/write/writer.h"

struct flight_box;

/* A dump that has ended, well or not. */
struct flight_dump {
	struct trigger_hit hit;
	uint64_t before_ns; /* that it covers */
	uint64_t after_ns;
	uint64_t records;
	uint64_t bytes;
	bool is_cut;      /* memory, not time, limited how much precedes it */
	struct diag diag; /* code 0 = well */
};

struct flight_calls {
	void *ctx;
	/* A new trace for what fired; the attributes are to be in it. */
	int (*open)(void *ctx, const struct trigger_hit *hit, const struct trace_attr *attrs,
	            size_t nr_attrs, struct diag *d, struct trace_writer **out);
	/* What the run has lost until now, but for the triggers; NULL = nothing. */
	void (*losses)(void *ctx, struct losses *out);
	void (*ended)(void *ctx, const struct flight_dump *dump);
};

struct flight_box_cfg {
	uint64_t keep_ns;
	uint64_t after_ns;
	uint64_t cooldown_ns;
	size_t keep_bytes;
	uint32_t nr_cpus;
	const struct trigger *triggers;
	const char *const *trigger_texts; /* as given, for the trace; must stay valid */
	size_t nr_triggers;
	uint64_t max_dumps; /* 0 = any number */
	uint32_t self_tgid; /* the recorder, which never fires; 0 = unknown */
	struct flight_calls calls;
};

struct flight_box_stats {
	uint64_t dumps; /* begun */
	uint64_t failed;
	uint64_t fired;   /* in all */
	uint64_t ignored; /* of these, during a dump or a cooldown */
	uint64_t covered_ns;
	size_t bytes;         /* of the ring's memory */
	uint64_t nr_cut;      /* records that memory made leave early */
	struct losses losses; /* of the triggers */
	bool is_dumping;
};

/* -EINVAL for a configuration out of range, or -ENOMEM. */
MUST_USE int flight_box_new(const struct flight_box_cfg *cfg, struct diag *d,
                            struct flight_box **out);
void flight_box_free(struct flight_box *b); /* NULL is fine; ends a dump where it is */
struct ev_sink flight_box_sink(struct flight_box *b);
struct trigger_eval *flight_box_triggers(struct flight_box *b); /* to describe probes */

/* A manual request for a dump now. */
void flight_box_ask(struct flight_box *b, uint64_t ts_ns);
/* Writes some of what waits; true if there is more at once. */
bool flight_box_pump(struct flight_box *b);
/* No more records come: writes all that is queued, and ends the dump. */
void flight_box_finish(struct flight_box *b);
bool flight_box_is_done(const struct flight_box *b); /* the last of max_dumps has ended */
void flight_box_stats(const struct flight_box *b, struct flight_box_stats *out);
