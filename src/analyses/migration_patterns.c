/*
 * Which tasks move between CPUs, how far, and how long they wait when they wake up or continue
 * elsewhere. The latency of a move is the wait across it: of a task that ran on one CPU, became
 * runnable, and was switched in on another.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/latency.h"
#include "analyze/moves.h"
#include "analyze/pass.h"
#include "analyze/samples.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"
#include "base/hist.h"

struct count {
	uint64_t nr;
	uint64_t hops[MOVE_HOPS];
};

struct move_patterns {
	struct scope sc;
	struct moves moves;
	struct units units;
	struct count *counts; /* by unit */
	struct count all;
	struct samples waits;
	struct latency_from from;
};

static void done(void *work)
{
	struct move_patterns *x = work;

	free(x->counts);
	samples_done(&x->waits);
	moves_done(&x->moves);
}

static void count(struct count *c, enum move_hop hop)
{
	c->nr++;
	c->hops[hop]++;
}

static int collect(void *work)
{
	struct move_patterns *x = work;
	struct rows it = { .sc = &x->sc };
	struct pair_migration move;
	struct pair_wait wait;
	int err = moves_init(&x->moves, &x->sc);

	x->counts = calloc(x->units.nr ? x->units.nr : 1, sizeof(*x->counts));
	if (err || !x->counts)
		return -ENOMEM;
	while (moves_next(&x->moves, &move)) {
		enum move_hop hop = move_hop(x->sc.s, move.from_cpu, move.to_cpu);

		count(&x->all, hop);
		count(&x->counts[units_at(&x->units, move.task, move.ts_ns)], hop);
	}
	while (rows_wait(&it, &wait)) {
		if (wait.is_open || wait.from_cpu == PAIR_NO_CPU || wait.from_cpu == wait.cpu)
			continue;
		latency_from_add(&x->from, &wait);
		samples_add(&x->waits, latency_ns(&wait));
	}
	return x->waits.has_failed ? -ENOMEM : 0;
}

static void show_latency(struct move_patterns *x, struct report *r)
{
	static const struct {
		const char *key;
		uint32_t p10000;
	} rows[] = { { "min_ns", 0 },
		     { "max_ns", HIST_P(100) },
		     { "p50_ns", HIST_P(50) },
		     { "p95_ns", HIST_P(95) },
		     { "p99_ns", HIST_P(99) } };

	report_begin_object(r, "latency");
	report_u64(r, "count", x->waits.nr);
	latency_from_report(&x->from, r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		report_u64_if(r, rows[i].key, x->waits.nr,
		              samples_percentile(&x->waits, rows[i].p10000));
	report_u64_if(r, "avg_ns", x->waits.nr, (uint64_t)samples_mean(&x->waits));
	report_end_object(r);
}

/* Unknown, not 0, on a machine whose caches and nodes are not known. */
static void show_hops(const struct move_patterns *x, const struct count *c, struct report *r)
{
	if (!move_knows_places(x->sc.s)) {
		report_null(r, "cross_numa_migrations");
		report_null(r, "cross_llc_migrations");
		return;
	}
	report_u64(r, "cross_numa_migrations", c->hops[MOVE_CROSS_NODE]);
	report_u64(r, "cross_llc_migrations", c->hops[MOVE_CROSS_LLC]);
}

static void show_unit(const struct move_patterns *x, uint32_t unit, struct report *r)
{
	units_report(&x->units, r, unit);
	report_u64(r, "migration_count", x->counts[unit].nr);
	show_hops(x, &x->counts[unit], r);
}

static int show(void *work, struct report *r)
{
	struct move_patterns *x = work;
	SCOPED(top_done)
	struct top top = { .limit = pass_limit(&pass_migration_patterns, x->sc.args) };
	uint64_t nr = 0;

	for (uint32_t i = 0; i < x->units.nr; i++) {
		if (!x->counts[i].nr)
			continue;
		nr++;
		top_add(&top, x->counts[i].nr, i);
	}
	if (top.has_failed)
		return -ENOMEM;
	top_rank(&top);
	report_u64(r, "total_migrations", x->all.nr);
	show_hops(x, &x->all, r);
	report_u64(r, "unknown_distance_migrations", x->all.hops[MOVE_UNKNOWN]);
	moves_report_basis(&x->moves, r);
	show_latency(x, r);
	report_u64(r, "total_processes_migrated", nr);
	units_report_mode(&x->units, r);
	for (uint32_t i = 0; top_row(&top, i, r, "top_migrating_processes"); i++)
		show_unit(x, (uint32_t)top.entries[i].id, r);
	report_string(r, "note",
	              "a move between nodes counts as cross NUMA only, one between caches of a "
	              "node as cross LLC; latency is the wait of tasks that were switched in on "
	              "another CPU than they were switched out on");
	return 0;
}

const struct pass pass_migration_patterns = {
	.id = "migration_patterns",
	.name = "Migration Patterns",
	.category = "scheduling",
	.what = "which tasks move between CPUs, how far, and how long they wait for it",
	.needs_any = EV_BIT(EV_MIGRATE) | EV_BIT(EV_SWITCH),
	.uses = EV_BIT(EV_WAKING) | EV_BIT(EV_WAKEUP),
	.cost = 3,
	.work = { .size = sizeof(struct move_patterns),
	          .units_at = offsetof(struct move_patterns, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
