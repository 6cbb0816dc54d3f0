/*
 * render/report_text — an analysis's report for people: lines of names and values, tables where there are lists.
 *
 * Members of an object are one per line, long ones are continued on the next; an array of objects is a table whose
 * columns are the keys of its rows. A row that is called by what it is ({"Woken": {...}}) has a column for that;
 * members of objects inside rows are columns of their own, and lists inside rows are below their row. Columns that
 * do not fit into the width are left out and named below the table. A list called "histogram" gets bars, by its
 * column "count". Units are those of render/report_value. Analyses that render/sheet knows begin with a sentence that answers, have tables
 * chosen by hand, and end with the command to run next. All text is made safe for a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "render/report_value.h"

struct report_text_cfg {
	size_t width;  /* columns of the terminal; 0 = as wide as needed */
	size_t height; /* lines of it, which cut tables of sheets; 0 = as long as needed */
	bool is_utf8;  /* bars may use blocks */
	bool is_colored;
	struct report_clock clock;
	const char *file; /* the recording, for the command to run next; NULL = "FILE" */
};

/* 0, -ENOMEM or -EIO. */
MUST_USE int report_text(const struct report_node *root, const struct report_text_cfg *cfg,
                         FILE *out);
