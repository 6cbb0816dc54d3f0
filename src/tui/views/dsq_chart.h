/*
 * tui/views/dsq_chart — one number of every dispatch queue as bars of the interval, or as
 * sparklines of those before; a line per queue. Times are drawn by their logarithm (1 us to 1 s),
 * other values relative to the largest.
 */
#pragma once

#include "tui/views/dsq_list.h"

enum dsq_chart { CHART_LATENCY, CHART_USED, CHART_VTIME, CHART_DEPTH, DSQ_CHARTS };

const char *dsq_chart_title(enum dsq_chart chart);
/* From the queue number first of the list on. */
void dsq_chart_draw(enum dsq_chart chart, const struct dsq_list *l, int first,
                    const struct screen *s, struct grid *g, struct area a);
