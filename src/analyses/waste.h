/*
 * analyses/waste — time during which a task waited while a CPU that it may use was idle: work that the scheduler could have given away.
 *
 * One sweep over the starts and ends of stays in queues (ledger) and of idle times. Tasks that wait for the same CPU and may use the same CPUs
 * are one queue. A pair of a CPU with waiters and an idle one is open while a queue of the first may use the second; its
 * time counts once, however many tasks wait, and wasted_ns is the time in which at least one pair is open. So a moment of
 * change costs as many steps as there are CPUs or queues in the other state. A CPU that goes idle for a task in flight
 * counts too: a wait of a few microseconds beside an idle CPU is the price of a wakeup, which is why waits shorter than
 * WASTE_MIN_WAIT_NS are left out. Time in which a limit throttled a task is none of its waits. The scheduler moves nothing to
 * isolated CPUs: they are no loss.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/scope.h"
#include "base/attr.h"
#include "ledger/ledger.h"

#define WASTE_MIN_WAIT_NS 20000ULL

/* A time in which at least one pair was open; in the order of their ends. A negative errno ends the sweep. */
typedef int waste_span_fn(void *ctx, uint64_t from_ns, uint64_t to_ns);

struct waste_cfg {
	const struct scope *sc; /* whose waits; idle times are those of all CPUs */
	struct ledger *ledger;
	/* Leave out waits of tasks of which is not known which CPUs they may use; else they may use all. */
	bool needs_affinity;
	waste_span_fn *span; /* NULL = none */
	void *ctx;
};

struct waste_sums {
	uint32_t nr_cpus;
	uint64_t *pairs; /* [waiting CPU * nr_cpus + idle CPU], ns */
	uint64_t wasted_ns;
	uint64_t total_wait_ns, nr_waits;
	uint64_t nr_short;   /* waits that are too short */
	uint64_t nr_unknown; /* waits that needs_affinity left out */
};

/* -ENOMEM; -E2BIG: too many different masks of CPUs. */
MUST_USE int waste_measure(const struct waste_cfg *cfg, struct waste_sums *out);
void waste_sums_done(struct waste_sums *s); /* a zeroed one is fine */
