/* tests/tui/screen — what tests of views share: drawing into a grid, and looking at its text. */
#pragma once

#include "fixture.h"

#include <stdbool.h>

/* The view as text, to be freed; the screen keeps what draw() settled. Every cell is checked: nothing that a terminal
   would obey, no half of a wide character alone. */
char *screen_draw(const char *view, const struct machine *m, struct screen *s, uint16_t width,
                  uint16_t height);
/* Line number n of a text (from 0), to be freed; empty beyond the end. */
char *screen_line(const char *text, int n);
bool screen_has(const char *text, const char *part);
/* The first line that has part, to be freed; fails the test if there is none. */
char *screen_find(const char *text, const char *part);

/* Around all tests of a file: fixture_small, and a locale in which bars can be drawn. 0, as cmocka wants it. */
int screen_begin(struct fixture *f);
int screen_end(struct fixture *f);
/* Draws, and compares with a file of tests/golden. */
void screen_golden(const char *view, const struct machine *m, struct screen s, uint16_t width,
                   uint16_t height, const char *name);
