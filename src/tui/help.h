/* tui/help — the help: every action that has a key, from the table that keys.c obeys. */
#pragma once

#include "tui/grid.h"
#include "tui/keys.h"

/* Lines that the help has. */
int help_lines(const struct keymap *map);
/* From line first on. */
void help_draw(const struct keymap *map, int first, struct grid *g, struct area a);
