/*
 * analyze/diff_report — the parts that all reports of comparisons have: what changed in a sentence, and its numbers in rows.
 */
#pragma once

#include "analyze/diff_judge.h"
#include "analyze/pass.h"
#include "analyze/report.h"

#define DIFF_LIMIT 40 /* rows, where nothing else was asked for */
#define DIFF_NOTE                                                                           \
	"a change is reported if it is at least 2 % and the chance of any false change "    \
	"among all tests of this comparison is at most 1 % (Holm's correction); it says "   \
	"that the recordings differ, not why: recordings of the same workload also differ " \
	"if the machine did other things"

struct diff_report_cfg {
	uint32_t limit; /* 0 = none */
	bool has_noise; /* also rows that did not change */
};

/* "summary": all tasks together, then how many names. */
void diff_report_summary(const struct diff_changes *overall, const struct diff_changes *names,
                         uint32_t nr_names, enum pass_by by, struct report *r);
/* An array under key. */
void diff_report_rows(const struct diff_changes *all, enum pass_by by,
                      const struct diff_report_cfg *cfg, const char *key, struct report *r);
