/* collect/event_sets — the words that say what to record: sets of kinds, and single kinds. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

extern const char *const event_set_names[]; /* of the sets; ends with NULL */

/* Adds EV_BIT() of each kind of a word; false if it is none. */
bool event_set_kinds(const char *word, uint64_t *kinds);
/* What is recorded in any case, and what if nothing was asked for. */
uint64_t event_set_always(bool has_words);
