/*
 * render/table — aligned columns of text.
 *
 * Cells are added row by row; all memory is the arena's. Columns are as wide as their widest cell and at
 * least as wide as asked for; one space is between them and none at the end of a line. Titles and cells
 * are untrusted: control characters become '?'. Errors stick and come out of table_print().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"

struct arena;

#define TABLE_MAX_COLS 20

struct table_col {
	const char *title;
	size_t width;
	bool is_right;
};

struct table {
	struct arena *mem;
	struct table_col cols[TABLE_MAX_COLS];
	uint32_t nr_cols;
	bool wraps_titles; /* titles may take lines, broken at blanks; to be set before the first column */
	uint32_t nr_shown; /* of them, from the first; all unless table_fit() says otherwise */
	const char **cells;
	size_t nr_cells;
	size_t capacity;
	int error; /* negative errno, sticks */
};

void table_init(struct table *t, struct arena *mem);
/* All columns before the first cell. */
void table_col(struct table *t, const char *title, size_t min_width);
void table_col_right(struct table *t, const char *title, size_t min_width);
void table_cell(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void table_u64(struct table *t, uint64_t value);
size_t table_nr_rows(const struct table *t);
/* Leaves out the last columns that do not fit; the first is always shown. After the last cell. */
void table_fit(struct table *t, size_t width);

/* The titles alone, and one row alone. The same errors. */
MUST_USE int table_print_titles(const struct table *t, const char *indent, FILE *out);
MUST_USE int table_print_row(const struct table *t, size_t row, const char *indent, FILE *out);
/* Titles and rows [first, first + nr); 0, -ENOMEM, -EINVAL for a row that is not full, or -EIO. */
MUST_USE int table_print(const struct table *t, size_t first, size_t nr, const char *indent,
                         FILE *out);
