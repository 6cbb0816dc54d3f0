/*
 * report/page_document — the JSON behind a page, for scripts and for assistants: what it is of, its verdict, its truth, the worst waits as
 * explain has them, and the analyses behind its tables as analyze prints them. docs/report-schema.md is its schema.
 */
#pragma once

#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "report/compare/compare.h"
#include "report/content.h"
#include "report/data.h"

struct page_document {
	const struct content *c;
	const char *title, *command, *generator, *file;
	const struct report *verdict, *truth, *tasks;
	const struct report_data *data;
	const struct report_compare *compare; /* NULL = none */
};

/* <script type="application/json" id="report-json">. -ENOMEM. */
MUST_USE int page_document_write(const struct page_document *doc, FILE *out);
