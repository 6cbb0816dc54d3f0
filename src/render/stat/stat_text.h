/*
 * render/stat/stat_text — the report of `stat` for people, as text.
 *
 * Sections come in the order of the report, each after an empty line; the first line names the view,
 * the last one what was seen, lost and spent. Blocks; never allocates beyond a fixed cap.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/attr.h"

struct stat_report;

struct stat_text_cfg {
	bool is_utf8; /* what the terminal can show */
};

/* 0, -ENOMEM, or -EIO when the stream refuses. */
MUST_USE int stat_text_print(const struct stat_report *r, const struct stat_text_cfg *cfg,
                             FILE *out);
