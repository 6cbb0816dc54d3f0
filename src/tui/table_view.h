/*
 * tui/table_view — rows under columns that are chosen by the width, the most important first.
 *
 * A column is a table entry with a function that writes one cell. What a column needs at least is never cut from
 * numbers: they are made to fit it. Texts that do not fit end in an ellipsis. Draws only the rows that it is given.
 */
#pragma once

#include "tui/view.h"

#define TABLE_VIEW_COLUMNS 32
#define TABLE_VIEW_TEXT    256

struct table_view_cell {
	char text[TABLE_VIEW_TEXT];
	enum style style;             /* STYLE_TEXT unless set */
	double bar;                   /* of 1, drawn instead of the text; NAN = none */
	struct machine_history spark; /* of 1 each, drawn instead of the text */
};

struct table_view_column {
	const char *title;
	uint8_t width;     /* cells at least */
	uint8_t most;      /* that it may grow to; 0 = it stays */
	uint8_t rank;      /* 0 is given up last */
	bool is_left;      /* text; else a number */
	bool is_count;     /* gets wider when thousands are separated */
	bool is_sorted_by; /* sort says by what */
	enum view_sort sort;
	unsigned int needs; /* bits of the table's own; shown if table_view.has has all of them */
	void (*cell)(const void *row, const struct screen *s, struct table_view_cell *out);
};

struct table_view {
	const struct table_view_column *columns;
	size_t nr_columns;
	unsigned int has;
	const void *const *rows; /* those in sight */
	int nr_rows;
	int first; /* which of all the first one is */
	int total;
	int selected; /* of all; -1 = none */
	/* Instead of the columns' own, for tables whose columns are entries of another table; NULL = theirs. */
	void (*cell)(size_t column, const void *row, const struct screen *s,
	             struct table_view_cell *out);
};

/* Rows that fit below the titles. */
int table_view_height(struct area a);
void table_view_draw(const struct table_view *t, const struct screen *s, struct grid *g,
                     struct area a);
/* Moves scroll so that selected (clamped) is in sight, and no more rows are below the last than must be. */
void table_view_scroll(struct screen *s, int total, int height);
/* By the rules of view.h: follows the row whose key is selected_tid, or takes that of the selected row. Keys are of all
   rows, in their order. */
void table_view_follow(struct screen *s, const uint32_t *keys, int total, int height);
/* A text, cut with an ellipsis. */
void table_view_text(struct grid *g, int x, int y, int width, enum style style, const char *text);
/* A frame where there is room for it, else a line of title; the area inside, or below. */
struct area panel_begin(struct grid *g, struct area a, const char *title, const char *right);
