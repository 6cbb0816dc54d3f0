/*
 * render/diff_text — a comparison of recordings for people: what became better or worse in one sentence, each proved change in one with
 * its intervals, then the numbers as a table. All text is made safe for a terminal.
 */
#pragma once

#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "render/report_text.h"

/* A report of analyze/diff or analyze/diff_fleet. 0, -ENOMEM or -EIO. */
MUST_USE int diff_text(const struct report_node *root, const struct report_text_cfg *cfg,
                       FILE *out);
