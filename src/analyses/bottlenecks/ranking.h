/*
 * analyses/bottlenecks/ranking — how much the waits of a victim count where victims are ranked: as long as they took, with one
 * exception (docs/definitions.md, Time lost).
 *
 * A task that never sleeps waits whenever another one has its CPU, whatever the scheduler does: of three that share a CPU, two wait
 * at any time. That adds up to more than what a task loses that sleeps, and that they make late. So a name whose tasks are always busy
 * counts a little less than the one that sleeps and lost most behind it, if that lost much. If there is none, it counts in full: then the
 * crowd is the problem.
 */
#pragma once

#include <stdint.h>

#include "analyses/blame_sums.h"
#include "base/attr.h"

/* By unit of b. -ENOMEM. */
MUST_USE int ranking_find(const struct blame_sums *b, uint64_t *counts_ns);
