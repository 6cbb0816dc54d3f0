/*
 * render/wrap — running text on a terminal: broken at blanks, below its title; and the weight of words.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * The text after a title, broken at blanks so that no line has more than width columns (0 = one line); further lines begin below its
 * first word. Both are printable. Returns how many lines. Errors of the stream are the caller's to check.
 */
size_t wrap_print(FILE *out, const char *title, const char *text, size_t width);

/* What a line is, which a terminal with colours shows. */
enum wrap_weight { WRAP_PLAIN, WRAP_ANSWER, WRAP_ASIDE, WRAP_COMMAND, WRAP_WEIGHTS };
/* What switches a weight on, and all of them off; "" without colours. */
const char *wrap_on(enum wrap_weight weight, bool is_colored);
const char *wrap_off(bool is_colored);
