/* render/stat/stat_text_priv — what the files of stat_text share; not for others. */
#pragma once

#include "base/arena.h"
#include "render/stat/stat_text.h"
#include "render/table.h"
#include "stat/report/stat_report.h"

struct stat_text {
	const struct stat_report *r;
	const struct stat_text_cfg *cfg;
	FILE *out;
	struct arena *mem; /* emptied after each section */
};

#define STAT_TEXT_TIME 48

/* When, in local time if it is known: "12:00:01.123"; else seconds since boot. */
void stat_text_time(const struct stat_report *r, uint64_t at_ns, char *dst);
/* Labels of ours, without what the terminal cannot show. */
void stat_text_label(const struct stat_text *x, const char *label);

/* stat_text_tables.c: one section with rows of tasks, after its heading. */
MUST_USE int stat_text_rows(const struct stat_text *x, const struct stat_table *t);
/* stat_text_dsq.c: dispatch queues, and what tasks got from them. */
MUST_USE int stat_text_dsqs(const struct stat_text *x, const struct stat_table *t);
void stat_text_dist_cols(struct table *tb);
void stat_text_dsq_task_cols(struct table *tb);
void stat_text_dsq_task_cells(const struct stat_row *row, struct table *tb);
/* stat_text_system.c: CPUs, schedstat, outliers. */
MUST_USE int stat_text_cpus(const struct stat_text *x, const struct stat_table *t);
MUST_USE int stat_text_schedstat(const struct stat_text *x);
MUST_USE int stat_text_outliers(const struct stat_text *x);
