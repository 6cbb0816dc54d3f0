/*
 * render/explain_text — explained waits and sleeps for people: sentences, and the chain of wakers, or of what was slept for, as
 * a tree or a picture.
 *
 * All take the report of the analysis "explain". Names are made safe for a terminal, and for XML. Where there is a height, as many entries
 * are shown as fit, at least one, and a line says how many more there are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "render/report_value.h"

struct explain_text_cfg {
	bool has_chain; /* draw the tree too */
	bool is_utf8;
	bool is_colored;
	size_t width;  /* columns of the terminal; 0 = any */
	size_t height; /* lines of it; 0 = as many as it takes */
	struct report_clock clock;
	const char *file; /* the recording, for the command to run next; NULL = none is shown */
};

/* 0 or -EIO. */
MUST_USE int explain_text(const struct report_node *root, const struct explain_text_cfg *cfg,
                          FILE *out);
/*
 * The chain of the first wait: a lane per task, waits and runs to scale, arrows where one wakes the
 * next; below it what had the CPU meanwhile, and how much of it. Of sleeps: the first one, what the tasks did that it was for, and
 * the chain in words; -ENODATA unless the analysis was to be drawn (pass_args).
 */
MUST_USE int explain_svg(const struct report_node *root, FILE *out);
