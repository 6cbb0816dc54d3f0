/*
 * tui/theme — colours: what a style looks like in each theme, and the nearest colour of a lesser terminal.
 *
 * Names are scxtop's, in its order, so that its settings load; ColorBlind is one more, whose bands differ in
 * brightness too and avoid red against green. The tables are for a dark background. On a light one all colours are darkened
 * until they can be read on white, and text is the terminal's own. The theme Default leaves text to the terminal in any case,
 * and on an unknown background uses the terminal's own 8 colours, which its user can read. Pure tables and arithmetic.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/background.h"
#include "tui/grid.h"

struct theme {
	const char *name;
	uint32_t text, title, frame, enabled, disabled, important; /* 0xRRGGBB */
	uint32_t bands[5];                                         /* from good to bad */
};

/* How to draw a cell. */
struct attrs {
	uint32_t colour; /* 0xRRGGBB */
	bool is_own;     /* the terminal's own foreground instead */
	bool is_named; /* the nearest of the terminal's 8 colours instead, also where it has more */
	bool is_bold, is_dim, is_reversed;
};

extern const struct theme themes[];
extern const size_t nr_themes;

const struct theme *theme_find(const char *name); /* any case; NULL = unknown */
const struct theme *theme_next(const struct theme *t);
struct attrs theme_attrs(const struct theme *t, enum style style, enum background on);

/* The nearest of the 256 colours of xterm, leaving out the first 16, which users change. */
uint8_t theme_of_256(uint32_t rgb);
/* The nearest of the 8 of ANSI: black, red, green, yellow, blue, magenta, cyan, white; never black. */
uint8_t theme_of_8(uint32_t rgb);
/* Of those the ones that can be read on white: red, blue, magenta; -1 for greys, which are the terminal's own colour there. */
int theme_of_8_on_white(uint32_t rgb);
