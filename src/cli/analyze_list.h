/*
 * cli/analyze_list — the list of analyses that 'analyze --list' prints: what each answers and, with a recording, which apply to it.
 *
 * Takes a source of NULL without a recording, a category of NULL for all. Called by the thread of the command.
 */
#pragma once

struct json_writer;
struct source;

void analyze_list_text(const struct source *s, const char *category);
void analyze_list_json(const struct source *s, const char *category, struct json_writer *jw);
