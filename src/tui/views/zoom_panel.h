/*
 * tui/views/zoom_panel — a thread's wakers, what held its CPU while it waited, its last waits:
 * pieces of the task view.
 */
#pragma once

#include "tui/view.h"

struct machine_zoom;

#define ZOOM_PANEL_MIN   12 /* lines that make sense */
#define ZOOM_PANEL_LEAST 5  /* without what it waited for */

/* Both tables, side by side where there is room, and the last waits below; with few lines, wakers and last waits alone. */
void zoom_panel_draw(const struct machine_zoom *z, const struct screen *s, struct grid *g,
                     struct area a);
/* "S 12 x 3.1ms, D 2 x 10ms": how often and how long on average it slept in each state; "" = never. */
void zoom_panel_sleeps(const struct machine_zoom *z, char *out, size_t size);
