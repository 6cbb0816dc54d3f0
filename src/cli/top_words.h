/* cli/top_words — the words of 'schedscope top', of which scxtop writes some otherwise: -d true, -d, --perf-events A B. */
#pragma once

#include "base/attr.h"

/* A new list (to be freed, the words are lent) in which each value has an option of its own. -ENOMEM. */
MUST_USE int top_words(int argc, char **argv, char ***out, int *nr);
