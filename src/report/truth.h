/*
 * report/truth — how far a report can be trusted: what was recorded, on what, how much of it is lost or unknown, what a filter
 * left out, what the recorder itself cost, and what was not recorded, with the command that records it.
 */
#pragma once

#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "report/content.h"

/* {"duration_ns", ..., "coverage": [...], "not_recorded": [...]}. command is the one that made the report. -ENOMEM. */
MUST_USE int truth_make(const struct content *c, const char *command, struct report **out);
void truth_write(const struct report *truth, FILE *out);
/* The recording in one line: how long, of which machine, when, and what was left out. */
void truth_line(const struct report *truth, FILE *out);
