/*
 * tui/views/cpu_history — what each CPU did in the last intervals: a chart of braille dots, two intervals to a cell, in which time
 * of programs, of the kernel and of interrupts stand on each other, and above it how many tasks waited.
 */
#pragma once

#include "tui/view.h"

/* Lines that it takes of so many, its frame included, more where nothing else fills them; 0 = it would say too little. */
int cpu_history_height(const struct machine *m, const struct screen *s, int height, bool is_alone);
void cpu_history_draw(const struct machine *m, struct grid *g, struct area a);
