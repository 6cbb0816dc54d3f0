/*
 * tui/term_guard — gives the terminal back, whatever ends the process, and turns other signals into bytes of a pipe.
 *
 * Handlers of signals get no argument, and there is only one terminal: hence the one static variable. Knows no ncurses.
 */
#pragma once

#include "base/attr.h"

/* Remembers the modes that are to come back. 0 or -errno: standard output is not a terminal. */
MUST_USE int term_guard_remember(void);
/* From here on: sequences are written to standard output at the end; NULL among them is nothing. pipe takes the numbers of
   SIGTERM, SIGHUP, SIGINT, SIGWINCH and SIGCONT, a byte each; a SIGHUP that is ignored (nohup) stays so. */
void term_guard_begin(const char *const *sequences, int nr, int pipe);
void term_guard_end(void); /* restores, if it was begun; signals do what they did */
