/*
 * render/bars — a distribution as horizontal bars.
 *
 * Neighbouring bins share a line where there are too many of them; bins before the first and after the
 * last one in use are left out, empty ones between stay. Errors of the stream are the caller's to check.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct stat_bins;

struct bars_cfg {
	const char *title; /* over the values: their unit */
	uint64_t unit;     /* values are divided by it: 1000 shows ns as us */
	bool is_utf8;
};

void bars_print(const struct stat_bins *bins, const struct bars_cfg *cfg, FILE *out);

/*
 * One bar, as long as part (0 to 1) of so many cells: eighths of a cell where the font has them; what is not nothing shows. buf
 * holds 3 * cells + 4 bytes.
 */
char *bars_text(double part, size_t cells, bool is_utf8, char *buf);
