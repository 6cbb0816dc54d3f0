/* tui/term_priv — what the files of the terminal share; not for others. */
#pragma once

#include <curses.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/grid.h"
#include "tui/term.h"

enum depth { DEPTH_MONO, DEPTH_8, DEPTH_256, DEPTH_TRUE };

struct terminal {
	SCREEN *screen;
	WINDOW *pad; /* keys are read through it: reading from stdscr would draw that */
	FILE *in;
	enum depth depth;
	struct grid shown; /* what the terminal shows now */
	bool is_blank;     /* nothing of it is known */
	bool is_cut;       /* bytes of the frame found no memory */
	const struct theme *theme;
	int signals[2];
	char *bytes; /* of a frame, before they are written */
	size_t nr_bytes, room;
};

/* A sequence of terminfo, or NULL; written with the next flush. */
void term_put(struct terminal *t, const char *text);
MUST_USE int term_flush(struct terminal *t); /* 0 or -errno */
