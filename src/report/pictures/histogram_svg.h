/* report/pictures/histogram_svg — wakeups by latency, as bars: the member "histogram" of the analysis wakeup_latency. */
#pragma once

#include <stdio.h>

#include "analyze/report.h"

/* <figure id="histogram">; nothing without wakeups. */
void histogram_svg(const struct report_node *latency, FILE *out);
