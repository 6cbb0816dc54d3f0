/*
 * replay/replay_levels — values of CPUs that hold until they change, from a recording: frequency,
 * pressure.
 *
 * Read from the recording once; then a lookup searches the values of its CPU. A value holds from
 * its record on; before the first, nothing is known. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"

struct replay_level {
	uint64_t ts_ns;
	uint64_t value;
	uint32_t cpu;
};

struct replay_levels {
	struct replay_level *items; /* by CPU, then by time */
	size_t nr;
};

/* kind is one of enum pair_counter_kind. -ENOMEM. */
MUST_USE int replay_levels_init(struct replay_levels *l, const struct source *s, uint8_t kind);
void replay_levels_done(struct replay_levels *l);
/* NAN = unknown. */
double replay_levels_at(const struct replay_levels *l, uint32_t cpu, uint64_t ts_ns);
