#include "cli/top_lanes.h"

#include <errno.h>

#include "replay/replay_lanes.h"

void top_lanes_done(struct top_lanes *t)
{
	replay_lanes_free(t->memory);
	*t = (struct top_lanes){ 0 };
}

void top_lanes_fill(struct top_lanes *t, const struct top_window *w, uint32_t nr_columns,
                    bool is_live, struct diag *d)
{
	const struct replay_lanes_cfg cfg = { .source = w->source,
		                              .from_ns = w->from_ns,
		                              .to_ns = w->to_ns,
		                              .nr_columns = nr_columns };
	const struct machine_lanes *lanes;

	if ((!t->memory && replay_lanes_new(&t->memory)) ||
	    replay_lanes_fill(t->memory, &cfg, &lanes)) {
		diag_set(d, -ENOMEM, NULL, "out of memory");
		return;
	}
	t->lanes = *lanes;
	t->lanes.lost = w->lost;
	t->lanes.start_ns = w->source->start_ns;
	t->lanes.is_live = is_live;
}
