/*
 * tui/table_view — rows under columns that are chosen by the width, the most important first.
 *
 * A column is a table entry: it names a field of the row with its unit, or a function that writes one cell. What a column
 * needs at least is never cut from numbers: they are made to fit it. Texts that do not fit end in an ellipsis. Draws only
 * the rows that it is given.
 */
#pragma once

#include <stddef.h>

#include "tui/view.h"

#define TABLE_VIEW_COLUMNS 40
#define TABLE_VIEW_TEXT    256
#define TABLE_VIEW_NOT_NOW (-2)

/* Parts of 1, or, where they are more, of their sum. */
struct table_view_split {
	double full, shaded; /* NAN = unknown */
};

struct table_view_cell {
	char text[TABLE_VIEW_TEXT];
	enum style style;              /* STYLE_TEXT unless set */
	double bar;                    /* of 1, drawn instead of the text; NAN = none */
	struct machine_history spark;  /* drawn instead of the text */
	double spark_max;              /* 1 unless set; 0 = the largest of them */
	struct table_view_split split; /* likewise; full NAN = none */
};

/* How a field of a row is written. */
enum table_view_unit {
	CELL_NONE, /* the column has a function */
	CELL_COUNT,
	CELL_NS,
	CELL_PERCENT,
	CELL_MHZ,
	CELL_WATTS,
	CELL_CELSIUS,
	CELL_BYTES,
	CELL_NUMBER, /* as it is; "?" below 0 */
	CELL_TEXT,   /* "?" where it is NULL */
};

/* Its style, by its value. */
enum table_view_tint {
	TINT_NONE,
	TINT_DIM,
	TINT_DIM_0,       /* dim unless above 0 */
	TINT_DIM_UNKNOWN, /* dim where unknown */
	TINT_BAND,        /* the band of the share; dim where unknown */
	TINT_WARNING,     /* above 0, else dim */
	TINT_BAD,         /* above 0, else dim */
};

enum table_view_type { TYPE_DOUBLE, TYPE_U64, TYPE_U32, TYPE_I32, TYPE_TEXT, TYPE_CHARS };

struct table_view_field {
	enum table_view_unit unit;
	enum table_view_tint tint;
	enum table_view_type type;
	uint16_t via; /* 1 + where the row has a pointer to what the rest is of; 0 = of the row */
	uint16_t at;
	uint16_t count; /* 1 + where the samples behind it are counted: unknown at 0; 0 = known */
};

#define TYPE_OF(struct_type, member) \
	_Generic(((struct_type *)0)->member, double: TYPE_DOUBLE, uint64_t: TYPE_U64,             \
	         uint32_t: TYPE_U32, int32_t: TYPE_I32, const char *: TYPE_TEXT, char *: TYPE_CHARS)
/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and fields take none */
/* Initializers of a column: a member of the row (CELL_OF(struct row, ns, NS, DIM_0)), one of a struct machine_dist in it, one of
   a struct that it points to. */
#define CELL_OF(row, member, unit_, tint_)       \
	.field = { .unit = CELL_##unit_,         \
		   .tint = TINT_##tint_,         \
		   .type = TYPE_OF(row, member), \
		   .at = (uint16_t)offsetof(row, member) }
#define CELL_OF_DIST(row, dist, member, tint_)                 \
	.field = { .unit = CELL_NS,                            \
		   .tint = TINT_##tint_,                       \
		   .type = TYPE_OF(row, dist.member),          \
		   .at = (uint16_t)offsetof(row, dist.member), \
		   .count = 1 + (uint16_t)offsetof(row, dist.count) }
#define CELL_VIA(row, pointer, to, member, unit_, tint_)        \
	.field = { .unit = CELL_##unit_,                        \
		   .tint = TINT_##tint_,                        \
		   .type = TYPE_OF(to, member),                 \
		   .via = 1 + (uint16_t)offsetof(row, pointer), \
		   .at = (uint16_t)offsetof(to, member) }
/* NOLINTEND(bugprone-macro-parentheses) */
#define CELL_VIA_DIST(row, pointer, member, tint_)                        \
	.field = { .unit = CELL_NS,                                       \
		   .tint = TINT_##tint_,                                  \
		   .type = TYPE_OF(struct machine_dist, member),          \
		   .via = 1 + (uint16_t)offsetof(row, pointer),           \
		   .at = (uint16_t)offsetof(struct machine_dist, member), \
		   .count = 1 + (uint16_t)offsetof(struct machine_dist, count) }

/* The head of a function that writes a cell. */
#define CELL(name)                                                                        \
	static void name(const void *row, __attribute__((unused)) const struct screen *s, \
	                 struct table_view_cell *out)

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
	struct table_view_field field; /* where there is no function */
	const char *
		heading; /* above columns that follow each other, if the table has headings; NULL = none */
};

struct table_view {
	const struct table_view_column *columns;
	size_t nr_columns;
	unsigned int has;
	const void *const *rows; /* those in sight */
	int nr_rows;
	int first; /* which of all the first one is */
	int total;
	bool has_headings; /* a line above the titles */
	int selected;      /* of all; -1 = none can be, TABLE_VIEW_NOT_NOW = none is */
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
/* A note in the lower line of that frame, if there is one. */
void panel_note(struct grid *g, struct area a, const char *note);
/* A frame where there is room for it, else a line of title; the area inside, or below. */
struct area panel_begin(struct grid *g, struct area a, const char *title, const char *right);
