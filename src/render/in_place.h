/*
 * render/in_place — a screen drawn over the one before it: nothing flickers, and what the terminal keeps of earlier commands stays.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Lines, the last one without a line break if it is on the last line of the terminal. Each line is erased before it is written: after
 * one that fills its line the cursor still stands on its last cell. The first screen has nothing of ours below it.
 */
void in_place_print(const char *lines, size_t len, bool is_first, FILE *out);
