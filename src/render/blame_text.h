/*
 * render/blame_text — who kept whom waiting in one interval, for `stat --blame`: a table of victims with what they waited
 * for, or one JSON object, schema "schedscope-stat-blame/1" (docs/stat-json.md).
 *
 * It is made of the report of the analysis blame. All text is made safe for a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"

#define BLAME_JSON_SCHEMA "schedscope-stat-blame/1"

struct blame_interval {
	const struct report_node *root; /* of the analysis; NULL = nothing matches */
	const char *note;          /* why there is none, or what the numbers lack; NULL = nothing */
	uint64_t time_ns, wall_ns; /* its end */
	double interval_s;
	double elapsed_s;
	uint64_t events, lost; /* since the start */
	double cpu_pct;        /* of a CPU, by this process, since the start */
};

/* width in columns; 0 = as wide as needed. 0, -ENOMEM or -EIO. */
MUST_USE int blame_text(const struct blame_interval *b, size_t width, FILE *out);
/* One line. */
MUST_USE int blame_json(const struct blame_interval *b, FILE *out);
