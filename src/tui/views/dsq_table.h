/*
 * tui/views/dsq_table — the two tables of the scheduler view: dispatch queues, and processes
 * dispatched from them. Colours are bands of the 90th percentile: 10 us, 100 us, 1 ms, 10 ms.
 */
#pragma once

#include "tui/views/dsq_list.h"

/* has_focus: the screen's selection is in it, and is settled here. */
void dsq_table_draw(const struct dsq_list *l, struct screen *s, bool has_focus, struct grid *g,
                    struct area a);
/* Those whose last queue the filter leaves, the longest 90th percentile first. */
void dsq_table_draw_tasks(const struct machine *m, struct screen *s, bool has_focus, struct grid *g,
                          struct area a);
int dsq_table_nr_tasks(const struct machine *m, const struct screen *s);
