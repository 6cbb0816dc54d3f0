/* cli/record/record_events — the words of `record --events`, and messages for those that are not available. */
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/opt.h"

/* EV_BIT() of each kind; -EINVAL for a word that is none. */
MUST_USE int record_events_parse(const struct opt_list *list, uint64_t *kinds, struct diag *d);
/* What was asked for by name and is missing is worth a word before, not after. */
void record_events_missing(const struct opt_list *list, uint64_t missing);
