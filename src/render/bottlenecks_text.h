/*
 * render/bottlenecks_text — the report of the analysis "scheduling_bottlenecks" for people: who lost how much time to
 * what, what helps, and the command that shows the longest wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "render/command_text.h"
#include "render/report_text.h"

/*
 * The command that explains the longest wait of an entry: render/command_text.
 */
char *bottleneck_next(const struct report_node *entry, const char *file, struct report_clock clock,
                      size_t width, char buf[COMMAND_TEXT_BYTES]);
/* The sentence of a report without any entry. */
char *bottlenecks_none(const struct report_node *root, char *buf, size_t size);
/*
 * Which entries are shown where at most so many fit: many small victims of one cause must not hide another cause, so the first of
 * each, then the largest. is_chosen begins all false.
 */
#define BOTTLENECKS_RANKED 100U
void bottlenecks_choose(const struct report_node *list, uint64_t most,
                        bool is_chosen[BOTTLENECKS_RANKED]);
/* 0 or -EIO. */
MUST_USE int bottlenecks_text(const struct report_node *root, const struct report_text_cfg *cfg,
                              FILE *out);
