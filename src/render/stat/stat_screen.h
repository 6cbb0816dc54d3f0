/*
 * render/stat/stat_screen — the report of `stat` on a terminal: one screen, which fits its width and height.
 *
 * First the machine in one line, then the answer in one: which row waited longest, and after what. Then waits that last, then tasks (or what the report is shown by) by the time that they waited for a CPU, with
 * a bar of the causes. Of the report only the delays of tasks are shown: it has to be built with all rows (STAT_TOP_ALL).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "stat/report/stat_shares.h"

struct stat_report;

struct stat_screen_cfg {
	size_t width, height;
	bool is_utf8;
	bool is_colored;
	bool is_filtered; /* only some tasks are measured */
	const char *next; /* the command that goes on from here; NULL = none is shown */
	size_t limit;     /* rows; 0 = as many as there is room for */
	struct stat_machine_shares machine;
};

/* Lines without the last line break, at most as many and as long as there is room; 0, -ENOMEM or -EIO. */
MUST_USE int stat_screen_print(const struct stat_report *r, const struct stat_screen_cfg *cfg,
                               FILE *out);
