/*
 * trace/perfetto/clocks — times of any clock of a trace as those of the trace's own.
 *
 * Clocks are known by their number; 64 to 127 are of one sequence each. Snapshots say what several clocks
 * showed at one moment; after clocks_link() a time goes from clock to clock along snapshots that hold both,
 * by the last one before it (or the first one). A clock that goes backwards is only converted to, never
 * from. Bounded: beyond CLOCKS_MAX clocks, or a cap of readings, further ones are ignored.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define CLOCKS_MAX     256U
#define CLOCK_READINGS (1U << 20)
#define CLOCK_NONE     UINT32_MAX

/* Two clocks at one moment. */
struct clock_pair {
	uint64_t from_ns;
	uint64_t to_ns;
};

struct clock {
	uint32_t id;
	uint32_t seq; /* 0 = of the whole trace */
	bool is_incremental;
	bool goes_back;
	uint64_t unit_ns;
	uint64_t last_ns; /* of a reading, or of the last packet of an incremental clock */
	/* Filled by clocks_link(): the way to the trace's clock. */
	uint32_t next; /* CLOCK_NONE = there is none */
	struct clock_pair *pairs;
	size_t nr_pairs;
};

struct clock_reading {
	uint32_t snapshot;
	uint32_t clock;
	uint64_t ns;
};

struct clocks {
	struct clock all[CLOCKS_MAX];
	uint32_t nr;
	struct clock_reading *readings;
	size_t nr_readings, cap_readings;
	uint32_t nr_snapshots;
	uint32_t primary; /* id given by a snapshot; 0 = none */
	uint32_t trace;   /* index of the trace's clock, after clocks_link() */
};

void clocks_init(struct clocks *c);
void clocks_done(struct clocks *c);

/* The index of a clock, new or not; CLOCK_NONE beyond the cap. */
uint32_t clocks_get(struct clocks *c, uint32_t id, uint32_t seq);
/* A body of ClockSnapshot; 0 or -ENOMEM. False in *is_good if it is damaged. */
MUST_USE int clocks_snapshot(struct clocks *c, const uint8_t *body, size_t len, uint32_t seq,
                             bool *is_good);
/* Two clocks at one moment, by their indices; 0 or -ENOMEM. */
MUST_USE int clocks_pair(struct clocks *c, uint32_t a, uint64_t a_ns, uint32_t b, uint64_t b_ns);
/* What a packet's timestamp means on its clock: units and increments applied. In file order. */
uint64_t clocks_take(struct clocks *c, uint32_t clock, uint64_t value);
/* No more snapshots: finds the trace's clock and the ways to it. 0 or -ENOMEM. */
MUST_USE int clocks_link(struct clocks *c);

/* Whether there is a way; otherwise clocks_to_trace() gives the time back as it is. */
bool clocks_has_way(const struct clocks *c, uint32_t clock);
uint64_t clocks_to_trace(const struct clocks *c, uint32_t clock, uint64_t ns);
/* The other direction, to a clock by its number; false without a snapshot of both. */
bool clocks_from_trace(const struct clocks *c, uint32_t id, uint64_t ns, uint64_t *out);
