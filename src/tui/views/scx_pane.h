/*
 * tui/views/scx_pane — statistics of a scheduler and of the kernel about it: its own statistics as
 * JSON in lines, which can be scrolled; counters of the kernel; how the last one ended.
 */
#pragma once

#include "tui/view.h"

/* Settles the screen's selection, which is the first line in sight. */
void scx_pane_draw(const struct machine *m, struct screen *s, struct grid *g, struct area a);
int scx_pane_lines(const struct machine *m); /* that can be scrolled through */
/* "seq 3  all tasks  select_cpu_fallback 12 (3/s)": what fits of it, what moves first; how many lines were taken. */
int scx_pane_counters(const struct machine *m, const struct screen *s, struct grid *g,
                      struct area a);
