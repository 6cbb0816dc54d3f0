/*
 * report/table — rows of a report as a table of the page.
 *
 * A row is an object. Its id is in data-tid, data-tgid, data-comm or data-cgroup where it is about one, so that scripts and tests
 * find it; a number is in data-key and data-value as the report has it. Heads lead to the definitions of their words
 * (report/words), which are also their titles.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analyze/pass.h"
#include "analyze/report.h"

struct table_column {
	const char *path;     /* of the value in a row; NULL ends a list */
	const char *title;    /* NULL = made of the key */
	const char *analysis; /* whose number it is, where the table is of several */
};

struct table_cfg {
	const char *id;
	const char *caption;
	const char *analysis;               /* whose rows they are; NULL = of none, or of several */
	enum pass_by by;                    /* what a row is about: DEFAULT = none of them */
	const struct table_column *columns; /* NULL = all plain values of the first row */
	bool is_folded;                     /* in a details element, which people open */
};

/* rows is an array of objects. Nothing is written of an empty one. */
void table_write(FILE *out, const struct table_cfg *cfg, const struct report_node *rows);
/* The parts of it, for tables of another shape: up to <tbody>'s begin the caller writes heads. */
void table_begin(FILE *out, const struct table_cfg *cfg);
void table_end(FILE *out, const struct table_cfg *cfg);
/* <th> of a key; title NULL = made of the key. */
void table_head(FILE *out, const char *key, const char *title, bool is_number);
/* " data-tid=..." and such, of what the row is about: members pid, tgid, comm, cgroup. */
void table_row_ids(FILE *out, const struct report_node *row, enum pass_by by);
