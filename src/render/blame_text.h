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

#define BLAME_TEXT_BYTES 256U

/* A victim or a culprit: "make", "make/4711" by thread and process, a cgroup; cut to so many columns. Returns buf. */
char *blame_text_name(const struct report_node *root, const struct report_node *row, size_t columns,
                      char *buf, size_t size);
/* "make 71%, cc1 20%": the culprits of a victim, as many as fit, one at least. Returns buf. */
char *blame_text_culprits(const struct report_node *root, const struct report_node *victim,
                          size_t columns, char buf[BLAME_TEXT_BYTES]);

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
