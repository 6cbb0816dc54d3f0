/*
 * analyze/top — the best of many: keeps the highest scores up to a limit, and gives them best first.
 *
 * Of equal scores the lower id is the better. Memory for as many as are kept, at most the limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report.h"

struct top_entry {
	uint64_t score;
	uint64_t id;
};

struct top {
	uint32_t limit;
	uint32_t nr;
	uint32_t capacity;
	bool has_failed;           /* without memory */
	struct top_entry *entries; /* a heap, the worst first; after top_rank() the best first */
};

/* A struct with only the limit set is empty. */
void top_add(struct top *t, uint64_t score, uint64_t id);
/* Best first. Nothing can be added any more. */
void top_rank(struct top *t);
void top_done(struct top *t);
/*
 * The rows of a report, after top_rank(): an array of objects, one for each of the best, whose members the body of the loop adds.
 *   for (uint32_t i = 0; top_row(&top, i, r, "rows"); i++)
 * No way out of the loop but its end.
 */
bool top_row(const struct top *t, uint32_t i, struct report *r, const char *key);
/* A score for numbers of which the lowest are the best. */
uint64_t top_lowest(uint64_t value);
/* A score for fractions; those below 0 count as 0. Distinguishes differences of a millionth. */
uint64_t top_fraction(double value);
