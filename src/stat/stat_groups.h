/*
 * stat/stat_groups — the words after `stat -g`: metric groups and events.
 *
 * Groups: latency, slice, sleep, perf, schedstat, migration, waking, dsq; most (all but waking and dsq); all. `perf` is
 * instructions per cycle, `perf=EVENT` one event; a bare word that is not a group must be an event that the caller
 * knows. Events keep the order in which they were first named.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/stat.h"
#include "base/attr.h"
#include "base/diag.h"

#define STAT_EVENTS_MAX     8
#define STAT_EVENT_NAME_LEN 96

struct stat_groups {
	uint32_t asked;   /* bits of enum stat_group that were named: missing is a failure */
	uint32_t implied; /* those implied by most or all: if missing, only a note */
	bool has_ipc;
	bool is_ipc_implied;
	size_t nr_events;
	char events[STAT_EVENTS_MAX][STAT_EVENT_NAME_LEN];
};

extern const char *const stat_group_names[]; /* in the order of the bits, then most, all, NULL */

/* Whether a bare word names an event; raw codes (rHEX) do not count: they need perf=. */
typedef bool stat_is_event_fn(void *ctx, const char *name);

/* words are comma-separated lists; none at all means latency. -EINVAL with the word in the diag. */
MUST_USE int stat_groups_parse(const char *const *words, size_t nr, stat_is_event_fn *is_event,
                               void *ctx, struct diag *d, struct stat_groups *out);

static inline uint32_t stat_groups_all(const struct stat_groups *g)
{
	return g->asked | g->implied;
}
