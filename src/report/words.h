/* report/words — the words of a report, each defined once: as the title of a heading, and in the last section of the page. */
#pragma once

#include <stdio.h>

/* What a key of an analysis means; NULL = it has no entry. */
const char *words_meaning(const char *key);
/* The section "words". */
void words_write(FILE *out);
