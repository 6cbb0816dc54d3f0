/*
 * report/pictures/threads_svg — what threads did over time: of each column of a lane, the share of the time in which the thread ran, and above
 * it the share in which it waited for a CPU.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "analyze/pass.h"
#include "base/attr.h"

/* <figure id="thread-lanes"> of these tasks; nothing without any. -ENOMEM. */
MUST_USE int threads_svg(const struct source *s, const struct pass_args *args,
                         const uint32_t *tasks, uint32_t nr, FILE *out);
