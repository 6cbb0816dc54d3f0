/*
 * cli/analyze_list — the list of analyses that 'analyze --list' prints: what each answers and, with a recording, which apply to it.
 *
 * Takes a source of NULL without a recording, a category of NULL for all, and the columns of the terminal, 0 for any. Called by the thread of the command.
 */
#pragma once

#include <stddef.h>

struct json_writer;
struct source;

void analyze_list_text(const struct source *s, const char *category, size_t width);
void analyze_list_json(const struct source *s, const char *category, struct json_writer *jw);
