/*
 * report/verdict — the first thing that a reader sees: who lost how much time to what, how sure that is, and what to do.
 *
 * Three to seven sentences. First those of the analysis scheduling_bottlenecks, in its words and order; where nothing lost much
 * time, one that says so. Then what all waits together were for, how busy the CPUs were, and how far the recording
 * can be trusted. Each names its evidence: ids of the page.
 */
#pragma once

#include "analyze/report.h"
#include "base/attr.h"
#include "report/content.h"

/*
 * {"verdict": [{id, sentence, evidence, confidence, kind, cause, remedy, lost_ns, next}]}. file is the recording in commands;
 * has_tasks: the page has a table of tasks to lead to.
 * -ENOMEM.
 */
MUST_USE int verdict_make(const struct content *c, const char *file, bool has_tasks,
                          struct report **out);
/* The sentence that comes first. */
const char *verdict_first(const struct report *verdict);
void verdict_write(const struct report *verdict, FILE *out);
