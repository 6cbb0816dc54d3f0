/*
 * replay/replay_lanes — struct machine_lanes out of a source: of a recording, or of a live window.
 *
 * Reads the rows of that time twice: first which names ran longest, then what had each column. One thread.
 */
#pragma once

#include <stdint.h>

#include "analyze/source.h"
#include "base/attr.h"
#include "machine/machine_lanes.h"

struct replay_lanes; /* the memory behind it */

struct replay_lanes_cfg {
	const struct source *source; /* lent */
	uint64_t from_ns, to_ns;
	uint32_t nr_columns; /* 1 to MACHINE_LANES_COLUMNS; else the nearest */
};

MUST_USE int replay_lanes_new(struct replay_lanes **out); /* -ENOMEM */
void replay_lanes_free(struct replay_lanes *l);           /* NULL is fine */
/* Lent until the next, which the source need not be. -ENOMEM leaves it empty. */
MUST_USE int replay_lanes_fill(struct replay_lanes *l, const struct replay_lanes_cfg *cfg,
                               const struct machine_lanes **out);
