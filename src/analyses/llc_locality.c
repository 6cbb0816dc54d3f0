/*
 * Whether tasks stay near their caches: moves by the last-level caches and nodes of both CPUs. A move of which a CPU's
 * place is not known is unknown, and part of no share.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyses/passes.h"
#include "analyze/moves.h"
#include "analyze/pass.h"
#include "analyze/top.h"
#include "analyze/units.h"
#include "base/cleanup.h"

struct llc {
	uint64_t inbound;
	uint64_t outbound;
	uint64_t internal;
	bool is_there;
};

struct locality {
	struct scope sc;
	struct moves moves;
	struct units units;
	uint64_t hops[MOVE_HOPS];
	struct llc *llcs;  /* by number */
	uint32_t nr_llcs;  /* room */
	uint64_t *crossed; /* by unit */
	uint8_t *nodes;    /* by number: is there */
	uint32_t nr_nodes;
};

static void done(void *work)
{
	struct locality *x = work;

	free(x->llcs);
	free(x->nodes);
	free(x->crossed);
	moves_done(&x->moves);
}

/* Numbers of caches and nodes come from the recording: values that no machine has are ignored. */
static uint32_t room_for(const struct source *s, int32_t (*number)(const struct source *, uint32_t))
{
	uint32_t room = 0;

	for (uint32_t i = 0; i < s->facts->nr_places; i++) {
		int32_t nr = number(s, i);

		if (nr >= 0 && (uint32_t)nr < PAIR_MAX_CPUS && (uint32_t)nr >= room)
			room = (uint32_t)nr + 1;
	}
	return room;
}

static int learn_places(struct locality *x)
{
	const struct source *s = x->sc.s;

	x->nr_llcs = room_for(s, source_llc);
	x->nr_nodes = room_for(s, source_node);
	x->llcs = calloc(x->nr_llcs + 1, sizeof(*x->llcs));
	x->nodes = calloc(x->nr_nodes + 1, 1);
	if (!x->llcs || !x->nodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->facts->nr_places; i++) {
		int32_t llc = source_llc(s, i), node = source_node(s, i);

		if (llc >= 0 && (uint32_t)llc < x->nr_llcs)
			x->llcs[llc].is_there = true;
		if (node >= 0 && (uint32_t)node < x->nr_nodes)
			x->nodes[node] = 1;
	}
	return 0;
}

static struct llc *llc_of(const struct locality *x, uint32_t cpu)
{
	int32_t llc = source_llc(x->sc.s, cpu);

	/* The extra last one takes what is not requested. */
	return &x->llcs[llc >= 0 && (uint32_t)llc < x->nr_llcs ? (uint32_t)llc : x->nr_llcs];
}

static int collect(void *work)
{
	struct locality *x = work;
	struct pair_migration move;
	int err = moves_init(&x->moves, &x->sc);

	x->crossed = calloc(x->units.nr ? x->units.nr : 1, sizeof(*x->crossed));
	if (err || !x->crossed)
		return -ENOMEM;
	err = learn_places(x);
	while (!err && moves_next(&x->moves, &move)) {
		enum move_hop hop = move_hop(x->sc.s, move.from_cpu, move.to_cpu);

		x->hops[hop]++;
		if (hop == MOVE_UNKNOWN)
			continue;
		if (hop == MOVE_SAME_LLC) {
			llc_of(x, move.from_cpu)->internal++;
			continue;
		}
		llc_of(x, move.from_cpu)->outbound++;
		llc_of(x, move.to_cpu)->inbound++;
		x->crossed[units_at(&x->units, move.task, move.ts_ns)]++;
	}
	return err;
}

static void show_topology(const struct locality *x, struct report *r)
{
	uint64_t nr_llcs = 0, nr_nodes = 0;

	if (!move_knows_places(x->sc.s)) {
		report_null(r, "topology");
		return;
	}
	for (uint32_t i = 0; i < x->nr_llcs; i++)
		nr_llcs += x->llcs[i].is_there;
	for (uint32_t i = 0; i < x->nr_nodes; i++)
		nr_nodes += x->nodes[i];
	report_begin_object(r, "topology");
	report_u64(r, "nr_cpus", x->sc.s->facts->nr_cpus);
	report_u64(r, "nr_llcs", nr_llcs);
	report_u64(r, "nr_numa_nodes", nr_nodes);
	report_end_object(r);
}

static int show_llcs(const struct locality *x, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = limit };

	for (uint32_t i = 0; i < x->nr_llcs; i++)
		if (x->llcs[i].is_there)
			top_add(&top, x->llcs[i].outbound, i);
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, "per_llc_stats"); i++) {
		const struct llc *l = &x->llcs[top.entries[i].id];

		report_u64(r, "llc_id", top.entries[i].id);
		report_u64(r, "inbound_migrations", l->inbound);
		report_u64(r, "outbound_migrations", l->outbound);
		report_u64(r, "internal_migrations", l->internal);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static int show_units(const struct locality *x, uint32_t limit, struct report *r)
{
	SCOPED(top_done) struct top top = { .limit = limit };

	for (uint32_t i = 0; i < x->units.nr; i++)
		if (x->crossed[i])
			top_add(&top, x->crossed[i], i);
	top_rank(&top);
	for (uint32_t i = 0; top_row(&top, i, r, "top_cross_llc_processes"); i++) {
		units_report(&x->units, r, (uint32_t)top.entries[i].id);
		report_u64(r, "cross_llc_count", top.entries[i].score);
	}
	return top.has_failed ? -ENOMEM : 0;
}

static void show_count(const struct locality *x, const char *key, uint64_t count, struct report *r)
{
	report_u64_if(r, key, move_knows_places(x->sc.s), count);
}

static int show(void *work, struct report *r)
{
	const struct locality *x = work;
	uint64_t same = x->hops[MOVE_SAME_LLC], cross = x->hops[MOVE_CROSS_LLC];
	uint64_t node = x->hops[MOVE_CROSS_NODE], known = same + cross + node;
	uint32_t limit = pass_limit(&pass_llc_locality, x->sc.args);
	int err;

	show_topology(x, r);
	report_u64(r, "total_migrations", known + x->hops[MOVE_UNKNOWN]);
	moves_report_basis(&x->moves, r);
	show_count(x, "same_llc_migrations", same, r);
	show_count(x, "cross_llc_same_numa_migrations", cross, r);
	show_count(x, "cross_numa_migrations", node, r);
	report_u64(r, "unknown_distance_migrations", x->hops[MOVE_UNKNOWN]);
	if (known)
		report_double(r, "llc_locality_pct", 100.0 * (double)same / (double)known, 2);
	else if (x->hops[MOVE_UNKNOWN])
		report_null(r, "llc_locality_pct");
	else
		report_double(r, "llc_locality_pct", 100, 2); /* no task left its cache */
	err = show_llcs(x, limit, r);
	return err ? err : show_units(x, limit, r);
}

const struct pass pass_llc_locality = {
	.id = "llc_locality",
	.name = "LLC Locality",
	.category = "scheduling",
	.what = "whether moves stay within a last-level cache, leave it, or leave the node",
	.needs_any = EV_BIT(EV_MIGRATE) | EV_BIT(EV_SWITCH),
	.cost = 1,
	.work = { .size = sizeof(struct locality),
	          .units_at = offsetof(struct locality, units),
	          .collect = collect,
	          .show = show,
	          .done = done },
};
