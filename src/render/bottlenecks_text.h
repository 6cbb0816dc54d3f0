/*
 * render/bottlenecks_text — the report of the analysis "scheduling_bottlenecks" for people: who lost how much time to
 * what, what helps, and the command that shows the longest wait.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"

#define BOTTLENECK_NEXT_BYTES 512

struct bottlenecks_text_cfg {
	size_t width;     /* columns of the terminal; 0 = any */
	const char *file; /* the recording */
};

/*
 * The command that explains the longest wait of an entry, in at most width columns (0 = any). "FILE" takes the place of a
 * file that does not fit, or that is no plain word.
 */
char *bottleneck_next(const struct report_node *entry, const char *file, size_t width,
                      char buf[BOTTLENECK_NEXT_BYTES]);
/* 0 or -EIO. */
MUST_USE int bottlenecks_text(const struct report_node *root,
                              const struct bottlenecks_text_cfg *cfg, FILE *out);
