/*
 * render/report_lines — the rows of a report for programs: one JSON object per line, or CSV.
 *
 * CSV is that of RFC 4180 with a header; members of an object in a row are columns of their own, and the columns are
 * the members of all rows, in the order in which they first appear. What a row does not have, and null, is empty.
 * Names are untrusted: in CSV, what a terminal would obey becomes '?'; JSON escapes it.
 */
#pragma once

#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"

/* rows is an array of objects. 0, -ENOMEM or -EIO. */
MUST_USE int report_jsonl(const struct report_node *rows, FILE *out);
MUST_USE int report_csv(const struct report_node *rows, FILE *out);
