/*
 * analyses/bottlenecks/idle_beside — CPUs that were idle while victims waited for others: a wait that need not have been.
 *
 * Which CPU it is, a sample of long waits tells, so that not all waits are held against all CPUs. How long that one was idle is
 * then added up over all waits of the victim, in the time asked for. Isolated CPUs do not count: nothing is moved there.
 */
#pragma once

#include <stdint.h>

#include "analyses/bottlenecks/lost_waits.h"
#include "base/attr.h"

/* Fills may_use and forbidden of each. -ENOMEM. */
MUST_USE int idle_beside_find(const struct blame_sums *b, const struct ledger *l,
                              struct bottleneck *list, uint32_t nr);
