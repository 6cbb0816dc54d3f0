/*
 * analyses/summary_facts — what a trace is, without reading its rows: the first part of the
 * summary.
 */
#pragma once

#include "analyze/report.h"
#include "analyze/source.h"
#include "base/attr.h"
#include "base/diag.h"

/*
 * Members about the file and the machine, capabilities (which events are in it), damage, the analyses that apply
 * and those that do not, with the reason. -ENOMEM with a sentence.
 */
MUST_USE int summary_facts(const struct source *s, struct report *r, struct diag *d);
