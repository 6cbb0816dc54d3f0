/* session/machine_dist — what a screen shows of a histogram. */
#pragma once

#include "analyze/machine.h"

struct hist;

struct machine_dist machine_dist_of(const struct hist *h); /* NULL = an empty one */
