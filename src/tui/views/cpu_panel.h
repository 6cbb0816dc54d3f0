/*
 * tui/views/cpu_panel — CPUs, LLCs or nodes in a frame with their totals: bars, sparks or a table
 * of what the screen says. Where that is not available, the reason.
 *
 * All of them are always in sight: with little room bars give way to numbers, numbers to one cell for each CPU, and then
 * to one cell for several, which shows the busiest.
 */
#pragma once

#include "tui/view.h"

/* Node panels if CPUs are shown and there is room for it, else one panel. */
void cpu_panel_draw(const struct machine *m, const struct screen *s, struct grid *g, struct area a);
/* Rows that it takes at that width, frames included; it can do with fewer. */
int cpu_panel_height(const struct machine *m, const struct screen *s, int width);
/* A line for screens that have no room for more. */
void cpu_panel_line(const struct machine *m, const struct screen *s, struct grid *g, struct area a);
