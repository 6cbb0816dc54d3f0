#include "report/data.h"

#include <errno.h>
#include <stdlib.h>

#include "analyses/explain/explain.h"
#include "analyze/classes.h"
#include "analyze/scope.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "report/budget.h"
#include "report/data_priv.h"

#define WORST_SCORE ((uint64_t)2e15) /* above all others */

static void free_packs(struct report_data *r)
{
	for (uint32_t i = 0; i < r->nr_packs; i++)
		pack_done(&r->packs[i]);
	r->nr_packs = 0;
}

void report_data_free(struct report_data *r)
{
	if (!r)
		return;
	free_packs(r);
	free(r->heat_counts);
	lanes_done(&r->lanes);
	detail_done(&r->detail);
	devices_done(&r->devices);
	stack_cells_done(&r->stacks);
	gather_done(&r->g);
	tables_done(&r->tables);
	who_done(&r->who);
	classes_done(&r->classes);
	ledger_free(r->ledger);
	scope_done(&r->sc);
	free(r);
}

/* Those of the worst waits are never folded. */
static void score_worst(struct report_data *r, const struct report_data_cfg *cfg)
{
	for (size_t i = 0; i < cfg->nr_worst; i++)
		r->who.scores[who_at(&r->who, cfg->worst[i].task,
		                     pair_wait_woken_ns(&cfg->worst[i]))] += WORST_SCORE;
}

static int count_rows(struct report_data *r, const struct budget_plan *plan)
{
	int err;

	gather_done(&r->g);
	tables_done(&r->tables);
	r->g = (struct gather){ .sc = &r->sc,
		                .axis = axis_make(r->sc.from_ns, r->sc.to_ns, plan->max_buckets),
		                .who = &r->who,
		                .tables = &r->tables,
		                .ledger = r->ledger,
		                .max_cells = plan->max_cells,
		                .slices = gather_every(r->sc.s, TIMELINE_SLICE),
		                .waits = gather_every(r->sc.s, TIMELINE_WAIT) };
	slots_init(&r->g.slots, plan->bands);
	err = tables_init(&r->tables, r->g.axis.nr);
	return err ? err : gather_all(&r->g, true);
}

static int count_all(struct report_data *r)
{
	struct budget_plan plan;
	int err = budget_choose(r, &plan);

	if (!err)
		err = who_place_seen(&r->who);
	if (!err)
		err = count_rows(r, &plan);
	while (err == -E2BIG && plan.max_buckets > 1) {
		plan.max_buckets = (plan.max_buckets + 3) / 4;
		err = count_rows(r, &plan);
	}
	return err ? err : budget_fit(r, &plan);
}

/* Which raw numbers the tables use, and, beside them, lanes and detail. */
struct marking {
	struct report_data *r;
	const struct report_data_cfg *cfg;
	struct tables_used used[2];
	int err[2];
};

static int used_new(const struct who *w, struct tables_used *out)
{
	out->who = calloc(w->nr, 1);
	out->wakers = calloc(w->nr, 1);
	out->interrupts = calloc(w->nr_interrupts + 1UL, 1);
	return out->who && out->wakers && out->interrupts ? 0 : -ENOMEM;
}

static void used_done(struct tables_used *u)
{
	free(u->who);
	free(u->wakers);
	free(u->interrupts);
}

static int mark_others(struct marking *m)
{
	struct report_data *r = m->r;
	int err = detail_make(&r->detail, &r->g, m->cfg->worst, m->cfg->nr_worst, budget_detail(r));

	if (!err)
		err = used_new(&r->who, &m->used[1]);
	if (err)
		return err;
	lanes_mark(&r->lanes, &r->who, m->used[1].who);
	detail_mark(&r->detail, &r->who, &m->used[1]);
	return 0;
}

static void mark(void *ctx, unsigned int worker, size_t item)
{
	struct marking *m = ctx;

	(void)worker;
	if (item) {
		m->err[1] = mark_others(m);
		return;
	}
	m->err[0] = used_new(&m->r->who, &m->used[0]);
	if (!m->err[0])
		tables_mark(&m->r->tables, &m->used[0]);
}

static void join(uint8_t *into, const uint8_t *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		into[i] |= from[i];
}

/* Makes the detail, and gives out the numbers of the report. */
static int number(struct report_data *r, const struct report_data_cfg *cfg)
{
	struct marking m = { .r = r, .cfg = cfg };
	struct parallel p = { .fn = mark, .ctx = &m };
	uint32_t nr_interrupts = r->who.nr_interrupts;
	struct tables_used *used = &m.used[1];
	int err;

	parallel_for(&p, 2);
	err = m.err[0] ? m.err[0] : m.err[1];
	if (!err) {
		join(used->who, m.used[0].who, r->who.nr);
		join(used->wakers, m.used[0].wakers, r->who.nr);
		join(used->interrupts, m.used[0].interrupts, nr_interrupts);
		err = who_number(&r->who, used->who, used->wakers, used->interrupts);
	}
	used_done(&m.used[0]);
	used_done(&m.used[1]);
	slots_number(&r->g.slots);
	if (!err)
		lanes_number(&r->lanes, &r->who);
	return err;
}

static void pack_one(void *ctx, unsigned int worker, size_t item)
{
	struct report_data *r = ctx;
	struct pack *p = &r->packs[item];

	(void)worker;
	switch (item) {
	case PACK_LANES:
		p->err = lanes_pack(&r->lanes, p);
		break;
	case PACK_FRAMES:
		p->err = stack_cells_pack(&r->stacks, p);
		break;
	case PACK_FREQUENCY:
		p->err = devices_pack(&r->devices, p);
		break;
	case PACK_SLICES:
		p->err = detail_pack_slices(&r->detail, &r->who, r->sc.s->start_ns, p);
		break;
	case PACK_WAITS:
		p->err = detail_pack_waits(&r->detail, &r->who, r->sc.s->start_ns, p);
		break;
	case PACK_PARTS:
		p->err = detail_pack_parts(&r->detail, &r->who, p);
		break;
	default:
		p->err = tables_pack(&r->tables, (enum report_table)item, &r->who, &r->g.slots, p);
	}
}

static int pack_all(struct report_data *r)
{
	struct parallel p = { .fn = pack_one, .ctx = r };

	r->nr_packs = PACKS;
	parallel_for(&p, r->nr_packs);
	for (uint32_t i = 0; i < r->nr_packs; i++)
		if (r->packs[i].err)
			return r->packs[i].err;
	return 0;
}

/* The counts of waits of woken tasks, as a picture needs them. */
static int make_heat(struct report_data *r)
{
	const struct cells *c = &r->tables.at[TABLE_WAIT];
	uint32_t nr_slots = r->g.slots.nr, numbers[TABLE_MAX_KEYS];

	if (!c->nr || !nr_slots)
		return 0;
	r->heat_counts = calloc((size_t)c->nr_sets * nr_slots, sizeof(*r->heat_counts));
	if (!r->heat_counts)
		return -ENOMEM;
	for (uint32_t b = 0; b < c->nr_sets; b++) {
		for (uint32_t i = 0; i < c->sets[b].room; i++) {
			const struct cell *cell = &c->sets[b].at[i];

			if (cell->key == CELLS_NO_KEY)
				continue;
			table_numbers(TABLE_WAIT, cell->key, numbers);
			if (!numbers[1])
				r->heat_counts[(size_t)b * nr_slots +
				               r->g.slots.numbers[numbers[2]]] += cell->a;
		}
	}
	for (uint32_t i = 0; i < nr_slots; i++)
		r->heat_slots[i] = hist_slot_range(r->g.slots.slots[i]);
	r->heat = (struct report_heat){ .nr_buckets = c->nr_sets,
		                        .nr_slots = nr_slots,
		                        .first_ns = r->g.axis.from_ns - r->sc.s->start_ns,
		                        .width_ns = r->g.axis.width_ns,
		                        .counts = r->heat_counts,
		                        .slots = r->heat_slots };
	return 0;
}

static int make_devices(struct report_data *r)
{
	int err = devices_gather(&r->devices, &r->g);

	return err ? err : stack_cells_gather(&r->stacks, &r->g, r->max_bytes / 8);
}

struct others {
	struct report_data *r;
	int err[2];
};

static void make_other(void *ctx, unsigned int worker, size_t item)
{
	struct others *x = ctx;

	(void)worker;
	x->err[item] = item ? make_devices(x->r)
	                    : lanes_make(&x->r->lanes, &x->r->g, budget_lanes(x->r));
}

/* Lanes have cells of their own, so that they can be made beside those of tables. */
static int make_others(struct report_data *r)
{
	struct others x = { .r = r };
	struct parallel p = { .fn = make_other, .ctx = &x };

	parallel_for(&p, 2);
	return x.err[0] ? x.err[0] : x.err[1];
}

/* A ledger of its own, and the indexes that it looks into: several threads ask for them at once later, when none may build them. */
static int make_ledger(struct report_data *r)
{
	static const enum timeline_table tables[] = { TIMELINE_MIGRATION, TIMELINE_DSQ,
		                                      TIMELINE_THROTTLE };
	const struct source *s = r->sc.s;
	int err = explain_ledger(s, s->start_ns, s->end_ns, &r->ledger);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !err; i++)
		err = timeline_index(s->timeline, tables[i], true);
	return err;
}

static int make(struct report_data *r, const struct report_data_cfg *cfg)
{
	int err = 0;

	r->ledger = cfg->ledger ? ledger_share(cfg->ledger) : NULL;
	r->max_bytes = cfg->max_bytes ? cfg->max_bytes : budget_bytes(cfg->s->facts->nr_events);
	score_worst(r, cfg);
	if (!r->ledger && r->sc.s->end_ns > r->sc.s->start_ns)
		err = make_ledger(r);
	if (!err)
		err = count_all(r);
	if (!err)
		err = make_others(r);
	if (!err)
		err = number(r, cfg);
	if (!err)
		err = make_heat(r);
	return err ? err : pack_all(r);
}

/* Says what went wrong. */
static int fail(int err, struct diag *d)
{
	return diag_set(d, err, "ask for less with --from and --to",
	                err == -ENOMEM ? "out of memory"
	                               : "the recording has too many threads for a report");
}

int report_data_begin(const struct report_data_cfg *cfg, struct diag *d, struct report_data **out)
{
	SCOPED(scoped_report_data) struct report_data *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = scope_init(&r->sc, cfg->s, cfg->args, d);
	if (err)
		return err;
	err = who_init(&r->who, &r->sc);
	if (!err)
		err = classes_init(&r->classes, &r->sc);
	if (!err)
		err = gather_scores(&r->who, &r->sc);
	if (err)
		return fail(err, d);
	*out = TAKE_PTR(r);
	return 0;
}

int report_data_make(struct report_data *r, const struct report_data_cfg *cfg, struct diag *d)
{
	int err = make(r, cfg);

	return err ? fail(err, d) : 0;
}

int report_data_write(const struct report_data *r, FILE *out)
{
	int err = 0;

	for (uint32_t i = 0; i < r->nr_packs && !err; i++)
		err = pack_write(&r->packs[i], out);
	return err;
}

const struct report_heat *report_data_heat(const struct report_data *r)
{
	return r->heat.counts ? &r->heat : NULL;
}

const struct report_lanes *report_data_lanes(const struct report_data *r)
{
	return r->lanes.cells ? &r->lanes.view : NULL;
}
