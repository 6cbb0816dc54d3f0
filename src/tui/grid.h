/*
 * tui/grid — a screen of cells in memory: what views draw on and tests read. Knows nothing of terminals.
 *
 * Drawing outside is cut. Texts are untrusted: control characters, and what is not UTF-8, become
 * '?'; wide characters take two cells, combining ones are left out. A grid is redrawn for every
 * frame.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"

/* What a cell means; a theme turns it into colours. */
enum style {
	STYLE_TEXT,
	STYLE_DIM,
	STYLE_TITLE,
	STYLE_FRAME,
	STYLE_HEAD,     /* of a table's columns */
	STYLE_SORTED,   /* the column that rows are sorted by */
	STYLE_SELECTED, /* row */
	STYLE_KEY,
	STYLE_GOOD, /* bands of values, from low to high */
	STYLE_FAIR,
	STYLE_MIDDLE,
	STYLE_HIGH,
	STYLE_BAD,
	STYLE_KERNEL,
	STYLE_USER,
	STYLE_WARNING,
	STYLE_HEAT, /* the first of HEAT_LEVELS: from nothing to very much */
	STYLE_HEAT_LAST = STYLE_HEAT + 8,
	STYLE_LANE, /* the first of LANE_COLOURS: filled cells that tell tasks apart */
	STYLE_LANE_LAST = STYLE_LANE + 7,
	STYLES,
};

#define HEAT_LEVELS  9
#define LANE_COLOURS 8

struct cell {
	uint32_t code; /* 0 = the right half of a wide character */
	uint8_t style;
	bool is_selected; /* of a selected row: drawn reversed, whatever its style */
};

/* A title that means something when it is clicked; those of one table follow each other. */
struct grid_mark {
	int x, y, width; /* width 0: there is one, but no room for it */
	int value;
	const char *text; /* lent forever */
	bool is_main;     /* of the table whose rows are selected */
};
#define GRID_MARKS 96U

struct grid {
	struct cell *cells;
	uint16_t width, height;
	struct grid_mark marks[GRID_MARKS];
	size_t nr_marks;
};

/* A part of a grid, in its coordinates. */
struct area {
	int x, y, width, height;
};

MUST_USE int grid_init(struct grid *g, uint16_t width, uint16_t height); /* -ENOMEM */
void grid_done(struct grid *g);
/* Blank cells; the size may change. -ENOMEM leaves it as it was. */
MUST_USE int grid_reset(struct grid *g, uint16_t width, uint16_t height);

int grid_cells(const char *text); /* that it takes */
/* At most max cells from (x, y) on; how many were taken. */
int grid_text(struct grid *g, int x, int y, int max, enum style style, const char *text);
int grid_printf(struct grid *g, int x, int y, int max, enum style style, const char *fmt, ...)
	PRINTF_LIKE(6, 7);
/* The same, ending at the last of max cells. */
void grid_right(struct grid *g, int x, int y, int max, enum style style, const char *text);
void grid_mark(struct grid *g, struct grid_mark mark); /* beyond GRID_MARKS they are left out */
void grid_fill(struct grid *g, struct area a, enum style style, uint32_t code);
/* Only colours. */
void grid_paint(struct grid *g, struct area a, enum style style);
/* A selected row: bands and warnings keep their colours, the rest gets that of the selection. */
void grid_select(struct grid *g, struct area a);
/* A frame with a title, and another at the right; the area inside. */
struct area grid_frame(struct grid *g, struct area a, const char *title, const char *right);

/* A bar of so much of 1, with eighths of a cell. STYLE_TEXT colours bars and sparks by the bands of their values;
   what is unknown (NAN) is blank, what is not 0 is never. */
void grid_bar(struct grid *g, int x, int y, int width, double part, enum style style);
/* Values, the newest last; max 0 takes the largest. */
struct grid_series {
	const double *values;
	size_t nr;
	double max;
};
/* As columns of eighths, the newest at the right. */
void grid_spark(struct grid *g, int x, int y, int width, struct grid_series of, enum style style);
/* The dots of a braille pattern: bits from the lowest up, of the left and of the right column. */
uint32_t grid_braille(unsigned int left, unsigned int right);
enum style grid_band(double part); /* of 1 */

/* As text, one line per row, blanks at the end left out. */
void grid_print(const struct grid *g, FILE *out);
