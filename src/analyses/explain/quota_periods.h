/*
 * analyses/explain/quota_periods — in how many of its periods a cgroup was throttled.
 *
 * Refills are recorded only of cgroups that were throttled, so this is worked out from the throttled times of its tasks,
 * laid over each other: each such time ends with the timer of a period, and one that is longer than a period
 * contains more of them. Two that end within half a period of each other end in the same one: the slack
 * timer has refilled the quota in between.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/source.h"

struct quota_periods {
	uint64_t throttled;
	uint64_t passed; /* in the recording; about, as their beginning is not recorded */
};

/* cgroup is the kernel's id. False where the period is unknown or changed, or fewer than two have passed. */
bool quota_periods(const struct source *s, uint64_t cgroup, struct quota_periods *out);
