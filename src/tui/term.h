/*
 * tui/term — the terminal: shows a grid, reads keys, mouse and changes of size. Its files (term*.c) alone know
 * ncursesw.
 *
 * ncurses finds out what the terminal can do and reads its keys; cells are written by us, only those that changed, in
 * true colour where COLORTERM says so, else with 256 or 8 colours, or without any (NO_COLOR, or a terminal that has none).
 * The terminal is restored by term_close(), and by handlers of signals that end the process (tui/term_guard); there can be
 * only one terminal at a time. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "tui/app.h"
#include "tui/grid.h"
#include "tui/theme.h"

struct terminal; /* "term" is taken by ncurses */

/* Standard output must be a terminal; -ENOTTY else. */
MUST_USE int term_open(struct diag *d, struct terminal **out);
void term_close(struct terminal *t); /* NULL is fine; restores the terminal */
void term_size(const struct terminal *t, uint16_t *width, uint16_t *height); /* at least 1x1 */
MUST_USE int term_draw(struct terminal *t, const struct grid *g, const struct theme *theme);
/* Waits for input until timeout_ms have passed; KEY_NONE if none came. */
struct app_input term_read(struct terminal *t, int timeout_ms);
/* Gives the terminal back, stops the process, and comes back with it. */
void term_suspend(struct terminal *t);
