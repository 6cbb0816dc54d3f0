/*
 * ledger/sweep — the parts of very many waits at once, added up by who waited.
 *
 * Where hundreds of tasks wait for a CPU, each slice on it is a part of hundreds of waits. The sweep goes through a CPU
 * once: it knows how many tasks of each waiting unit are in the queue, and gives each segment of the CPU's time once
 * per unit. The sums are those of all the parts of ledger_next().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "ledger/ledger.h"

/* A part of a wait by ledger_next_stay(), of the kind LEDGER_STAY. */
struct sweep_stay {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t unit; /* whatever the caller counts by, from 0 on */
	uint16_t cpu;
};

struct sweep_out {
	void *ctx;
	/* nr tasks of a unit had this part. Fails only without memory. */
	int (*part)(void *ctx, uint32_t unit, uint32_t nr, const struct ledger_part *part);
};

/* units are below nr_units; of stays in the order of their ends it is quick. -ENOMEM. */
MUST_USE int sweep_run(const struct ledger *l, const struct sweep_stay *stays, size_t nr_stays,
                       uint32_t nr_units, const struct sweep_out *out);
