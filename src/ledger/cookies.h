/*
 * ledger/cookies — which tasks core scheduling lets run on one core at a time: those that have the same cookie.
 *
 * Pure. Made from the marks of the timeline, which say when the cookie of a task has changed.
 */
#pragma once

#include <stdint.h>

#include "base/attr.h"

struct cookies;
struct timeline;

/* cores: by CPU, below 0 = unknown. -ENOMEM. */
MUST_USE int cookies_new(struct timeline *t, const int32_t *cores, uint32_t nr_cpus,
                         struct cookies **out);
void cookies_free(struct cookies *c); /* NULL is fine */
/* That a task had then; 0 = none, or unknown. */
uint32_t cookies_of(const struct cookies *c, uint32_t task, uint64_t ts_ns);
/* The CPU of the same core as cpu after the one given, of which the last is cpu itself. */
uint32_t cookies_next_cpu(const struct cookies *c, uint32_t cpu, uint32_t after);
