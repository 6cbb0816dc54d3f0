/*
 * trace/perfetto/write/span_out — on which tracks spans are shown.
 *
 * Slices of one track must lie within each other or apart, which spans of one task need not do. So a task has as many
 * lanes as it takes: a span goes to the first in which it crosses no other. Spans come in the order of their ends. Of
 * what a lane holds, only the last intervals are remembered; a span that begins before those is taken to cross. Texts
 * of EV_STRING are kept here, too. Bounded. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/intern.h"
#include "base/map.h"

#define SPAN_LANE_DEPTH 8U

struct span_interval {
	uint64_t start_ns, end_ns;
};

struct span_lane {
	uint64_t floor_ns;                          /* what ends until then is not remembered */
	struct span_interval last[SPAN_LANE_DEPTH]; /* apart from each other, in the order of time */
	uint32_t nr;
	uint32_t number; /* among those of its task */
	uint64_t uuid;   /* of its track; 0 = it has none yet */
};

struct span_out {
	struct map *text_ids; /* number of an EV_STRING -> texts */
	struct intern *texts;
	struct map *lane_ids; /* task and number -> lanes */
	struct span_lane *lanes;
	uint32_t nr_lanes, room;
};

MUST_USE int spans_init(struct span_out *s);
void spans_done(struct span_out *s);
/* -ERANGE when there are too many. */
MUST_USE int spans_text(struct span_out *s, uint32_t id, const char *text, size_t len);
/* "" for one that is unknown. */
const char *spans_find_text(const struct span_out *s, uint32_t id);
/* Puts the span into a lane. -ERANGE when there are too many lanes. The pointer holds until the next call. */
MUST_USE int spans_lane(struct span_out *s, uint32_t tid, const struct span_interval *span,
                        struct span_lane **out);
