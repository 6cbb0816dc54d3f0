/*
 * render/stat/stat_json — the report of `stat` for programs: one JSON object, schema "schedscope-stat/1".
 *
 * Every key is described in docs/stat-json.md; units are in the names. What is not known is null.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"

struct json_writer;
struct stat_report;

#define STAT_JSON_SCHEMA "schedscope-stat/1"

/* "time": the date, or null for 0. */
void stat_json_wall_time(struct json_writer *w, uint64_t wall_ns);
/* One line, or an indented document; 0 or the negative errno of the stream. */
MUST_USE int stat_json_print(const struct stat_report *r, bool is_pretty, FILE *out);
