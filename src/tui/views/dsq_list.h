/*
 * tui/views/dsq_list — the dispatch queues that a view shows: those that the filter leaves, in the order of the screen's sort.
 *
 * A filter is a part of the id ("0x6F", upper and lower case alike) or of the name ("global"). By default the longest mean
 * latency comes first, then the 99th percentile, then the depth. Unknown comes last.
 */
#pragma once

#include "tui/view.h"

struct dsq_list {
	const void **rows; /* struct machine_dsq */
	int nr;
};

bool dsq_list_is_shown(uint64_t id, const struct screen *s);
int dsq_list_count(const struct machine *m, const struct screen *s);
MUST_USE int dsq_list_init(struct dsq_list *l, const struct machine *m,
                           const struct screen *s); /* -ENOMEM */
void dsq_list_done(struct dsq_list *l);
/* The same sort, of those that queues have: for the titles of tables. */
enum view_sort dsq_list_sort(enum view_sort sort);
