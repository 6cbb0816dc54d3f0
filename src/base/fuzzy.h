/*
 * base/fuzzy — finds names by some of their letters, the best first.
 *
 * Upper and lower case (of ASCII) are alike. The name that is the pattern comes first, then those that contain it, then
 * those that have its letters in their order, the closer together the better, taken greedily from the first one. Where no name has them, the
 * same is tried without any one letter of the pattern, for typing errors. Equally good names stay in their order. An
 * empty pattern finds all. Pure; one pass over the names, two without a find.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define FUZZY_NONE    INT32_MIN
#define FUZZY_WHOLE   101
#define FUZZY_BEST    100 /* contains it */
#define FUZZY_TYPO    75
#define FUZZY_PATTERN 128U /* bytes that count */

/* FUZZY_WHOLE, or FUZZY_BEST less the letters between those of the pattern; below 0 where they are far apart. FUZZY_NONE = none. */
int32_t fuzzy_score(const char *pattern, const char *name);
/* The same from FUZZY_TYPO on, without one letter of the pattern: the one that makes it best. */
int32_t fuzzy_score_typo(const char *pattern, const char *name);

/* Places of the names that are found, the best first; to be freed. -ENOMEM. */
MUST_USE int fuzzy_find(const char *pattern, const char *const *names, size_t nr, uint32_t **out,
                        size_t *nr_found);
