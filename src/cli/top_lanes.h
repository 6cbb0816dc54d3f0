/* cli/top_lanes — what the timeline of the screen shows: replay/replay_lanes. */
#pragma once

#include "base/diag.h"
#include "cli/top_events.h"
#include "machine/machine_lanes.h"

struct replay_lanes;

struct top_lanes {
	struct machine_lanes lanes;
	struct replay_lanes *memory;
};

void top_lanes_done(struct top_lanes *t); /* a zeroed one is fine */
/* A failure is in d. */
void top_lanes_fill(struct top_lanes *t, const struct top_window *w, uint32_t nr_columns,
                    bool is_live, struct diag *d);
