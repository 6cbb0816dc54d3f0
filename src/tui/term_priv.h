/* tui/term_priv — what the files of the terminal share; not for others. */
#pragma once

#include <curses.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/grid.h"
#include "tui/term.h"

/* What comes before and behind a paste, and the keys that ncurses makes of it: it has no names for them. */
#define TERM_PASTE_BEGIN "\033[200~"
#define TERM_PASTE_END   "\033[201~"
enum { TERM_KEY_PASTE_BEGIN = KEY_MAX + 1, TERM_KEY_PASTE_END };

enum depth { DEPTH_MONO, DEPTH_8, DEPTH_256, DEPTH_TRUE };

struct terminal {
	SCREEN *screen;
	WINDOW *pad; /* keys are read through it: reading from stdscr would draw that */
	FILE *in;
	enum depth depth;
	struct grid shown; /* what the terminal shows now */
	bool is_blank;     /* nothing of it is known */
	bool is_cut;       /* bytes of the frame found no memory */
	uint64_t pasted_ns; /* when the last byte of a paste came whose end has not come yet; 0 = none */
	const struct theme *theme;
	enum background background;
	uint64_t asked_ns; /* when the terminal was asked for it, and has not answered yet; 0 = it has */
	int signals[2];
	char *bytes; /* of a frame, before they are written */
	size_t nr_bytes, room;
};

/* A sequence of terminfo, or NULL; written with the next flush. */
void term_put(struct terminal *t, const char *text);
MUST_USE int term_flush(struct terminal *t); /* 0 or -errno */
/* Replies that are still on their way would be typed into the shell. */
void term_await_reply(struct terminal *t);
/* After a stop from outside: the modes of the terminal and all that it shows are set again. */
void term_continue(struct terminal *t);
