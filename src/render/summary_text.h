/*
 * render/summary_text — the report of the analysis "summary" as one screen.
 *
 * From the top: who lost most time to what, and the command that shows it; what the trace is, how busy the CPUs were
 * beside the busiest threads, the longest waits, more bottlenecks, the analyses that apply. Lists are cut so that all of it fits the screen, the first ones of each are
 * always there; more CPUs than lines become one character each. All text is made safe for a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "render/report_value.h"

struct summary_text_cfg {
	size_t width;  /* columns of the terminal; 0 = 80 */
	size_t height; /* lines of it; 0 = as many as it takes */
	bool is_utf8;  /* bars may use blocks */
	bool is_colored;
	struct report_clock clock;
	bool is_utc; /* else the date is that of the local time zone */
};

/* 0, -ENOMEM or -EIO. */
MUST_USE int summary_text(const struct report_node *root, const struct summary_text_cfg *cfg,
                          FILE *out);
