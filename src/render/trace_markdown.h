/*
 * render/trace_markdown — what a recording shows, as one page of Markdown: the verdict, findings with evidence, the longest waits and
 * sleeps, who kept whom waiting, tasks, and what was lost or is unknown.
 *
 * From reports of analyses; one that is NULL was not made, and the page says so. Names of tasks are untrusted: what Markdown or HTML would
 * read is escaped.
 */
#pragma once

#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"

struct trace_markdown {
	const char *name; /* of the recording */
	const struct report_node *summary;
	const struct report_node *waits, *sleeps; /* of explain */
	const struct report_node *blame;
	const struct report_node *tasks; /* of process_runtime */
};

/* 0 or -EIO. */
MUST_USE int trace_markdown(const struct trace_markdown *m, FILE *out);
