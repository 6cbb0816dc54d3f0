/* analyze/losses — what a recording lost: while it was loaded (the counters of its tables), and before (its recorder's). */
#pragma once

#include "analyze/source.h"
#include "base/loss.h"

void source_losses(const struct source *s, struct losses *out);
