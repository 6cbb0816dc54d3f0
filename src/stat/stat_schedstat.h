/*
 * stat/stat_schedstat — /proc/schedstat between two moments, ready for the report.
 *
 * Switches the kernel's counting on while it is open, if it was off, and back when it closes.
 */
#pragma once

#include "base/attr.h"
#include "base/diag.h"
#include "stat/report/stat_report.h"

struct stat_schedstat_source;

/* -ENOENT with a remedy on a kernel without schedstats. */
MUST_USE int stat_schedstat_open(struct diag *d, struct stat_schedstat_source **out);
void stat_schedstat_close(struct stat_schedstat_source *s); /* NULL is fine */

/* What was counted since the last call with begins_anew, or since the start. Valid until the next call. */
MUST_USE int stat_schedstat_since(struct stat_schedstat_source *s, enum tally_view_kind view,
                                  struct diag *d, const struct stat_schedstat_in **out);
