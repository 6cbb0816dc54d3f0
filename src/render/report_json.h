/*
 * render/report_json — an analysis's report as JSON.
 *
 * Keys and nesting are those of the report. Ids beyond 2^53, which many readers would round, become texts.
 */
#pragma once

#include "analyze/report.h"
#include "base/json_write.h"

/* One value under key, which is NULL at the top and inside arrays. Errors are the writer's: jw_finish(). */
void report_json(struct json_writer *w, const char *key, const struct report_node *node);
