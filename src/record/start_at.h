/*
 * record/start_at — when a recording begins, if many machines are to begin at one moment: a time of the wall clock, which is
 * the same on all of them as far as their clocks are set.
 *
 * Pure but for the time zone, which is that of the process.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

#define START_AT_MAX_NS (7ULL * 86400 * 1000000000) /* longer is a mistake */

/*
 * A word to nanoseconds since 1970:
 *   /10s                  the next whole multiple of that time since 1970, 100 ms to 1 day
 *   17:30, 17:30:05       the next time that the clock shows this, in the time zone of the process
 *   2026-11-18T17:30:05   then; with a Z behind it, of UTC
 *   @1794936605           seconds since 1970; decimals may follow
 * -EINVAL for another word, a time that is over, or one beyond START_AT_MAX_NS.
 */
MUST_USE int start_at_parse(const char *word, uint64_t now_real_ns, struct diag *d, uint64_t *out);
