/* tests/ledger/ledger_fixture — records become rows of a timeline, and those a ledger. */
#pragma once

#include "../model/pair_fixture.h"

#include "ledger/ledger.h"

#define WORLD_CPUS 3

struct world {
	struct fixture *f; /* records go in here */
	struct timeline *timeline;
	struct ledger *ledger; /* after world_done() */
	uint64_t end_ns;
};

/* Time begins at 0. */
void world_begin(struct world *w);
/* Time ends. */
void world_done(struct world *w, uint64_t ts, bool has_migrations);
void world_end(struct world *w);
/* The only wait of a task that ended then. */
struct pair_wait world_wait(const struct world *w, uint32_t tid, uint64_t end_ns);
/* Its parts; how many. */
uint32_t world_parts(struct world *w, const struct pair_wait *wait, struct ledger_part *out,
                     uint32_t max);
