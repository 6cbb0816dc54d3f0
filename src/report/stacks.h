/* report/stacks — the two stacks of a wait, where they were recorded: where the task slept before it, and from where it was woken. */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "report/content.h"

/* Nothing where there are none. -ENOMEM. */
MUST_USE int stacks_write(const struct content *c, const struct pair_wait *w, FILE *out);
