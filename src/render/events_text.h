/*
 * render/events_text — the answer of a query for people: how many events there are in a sentence, then the events, or groups of them.
 *
 * Events of one type are a table whose titles are the names that options take; those of several types are a line each, with the
 * fields that each has. Moments count from the start of the recording, to the nanosecond, as --from and --to take them. Names are
 * untrusted: control characters become '?'.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "render/report_text.h"

/* What query_run() adds to an object. 0, -ENOMEM or -EIO. */
MUST_USE int events_text(const struct report_node *root, const struct report_text_cfg *cfg,
                         FILE *out);
