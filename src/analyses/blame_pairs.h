/*
 * analyses/blame_pairs — how long each unit kept each other one waiting.
 *
 * A matrix where there are few units, into which ledger/divide adds the time of waits; else an entry per pair that was seen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/edges.h"
#include "base/attr.h"
#include "ledger/ledger.h"

struct blame_culprit {
	uint32_t unit;
	uint64_t ns;
};

struct blame_pairs {
	uint32_t nr_units;
	size_t width;       /* of a row: culprits, then the kinds of what is no task */
	uint64_t *ns;       /* [victim * width + culprit]; NULL: too many units */
	struct edges edges; /* by the victim, to the culprit; instead of ns */
};

/* -ENOMEM, here and below. */
MUST_USE int blame_pairs_init(struct blame_pairs *p, uint32_t nr_units);
void blame_pairs_done(struct blame_pairs *p); /* a zeroed one is fine */
/* One made the other wait so long. */
MUST_USE int blame_pairs_add(struct blame_pairs *p, uint32_t victim, uint32_t culprit, uint64_t ns);
/* What one of few units has, of which each is a part of a unit of this one: unit_of says of which. */
MUST_USE int blame_pairs_fold(struct blame_pairs *p, const struct blame_pairs *from,
                              const uint32_t *unit_of);
/* Whether so many units have a matrix. */
bool blame_pairs_is_small(uint32_t nr_units);
/* All are added. */
void blame_pairs_end(struct blame_pairs *p);
/* The culprits of a victim with the most time, at most max of them, the most first; how many. */
uint32_t blame_pairs_most(const struct blame_pairs *p, uint32_t victim, uint32_t max,
                          struct blame_culprit *out);
