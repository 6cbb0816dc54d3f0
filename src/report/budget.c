#include "report/budget.h"

#include <errno.h>
#include <math.h>

#include "base/parallel.h"
#include "report/data_priv.h"

#define SMALL_EVENTS 100000.0
#define LARGE_EVENTS 200000U
#define SMALL_BYTES  700000.0  /* text, static pictures and scripts take up to 800 kB more */
#define LARGE_BYTES  6000000.0 /* of a hundred times as many events */
#define WHO_BYTES    150U      /* of a thread in the document */
#define LANE_BYTES   5U        /* of a cell of a lane */
#define MAX_CELLS    (16UL << 20)

uint64_t budget_bytes(uint64_t nr_events)
{
	double decades = (double)nr_events > SMALL_EVENTS ? log10((double)nr_events / SMALL_EVENTS)
	                                                  : 0;

	return (uint64_t)(SMALL_BYTES + (LARGE_BYTES - SMALL_BYTES) * fmin(decades / 2, 1));
}

/* Bytes of a row of each table, as they come out of the compression on average, in base64. */
static const uint8_t row_bytes[REPORT_TABLES] = {
	[TABLE_RUN] = 6,      [TABLE_RUN_OPEN] = 4,      [TABLE_WAIT] = 5, [TABLE_WAIT_OPEN] = 7,
	[TABLE_WAIT_CPU] = 5, [TABLE_WAIT_CPU_OPEN] = 7, [TABLE_WAKE] = 6, [TABLE_WAKE_OPEN] = 7,
	[TABLE_WAITING] = 12, [TABLE_BLAME] = 4,         [TABLE_IRQ] = 5,  [TABLE_IDLE] = 5,
	[TABLE_DSQ] = 6,      [TABLE_SAMPLE] = 6,
};

static uint64_t estimate(const struct tables *t)
{
	uint64_t bytes = 0;

	for (int i = 0; i < REPORT_TABLES; i++)
		bytes += t->at[i].nr * row_bytes[i];
	return bytes;
}

/* Without the names of threads, which are not packed. */
static uint64_t packed_bytes(const struct report_data *r)
{
	uint64_t names = (uint64_t)who_nr_kept(&r->who) * WHO_BYTES;

	return names < r->max_bytes / 2 ? r->max_bytes - names : r->max_bytes / 2;
}

/* Of that, the sums: the rest is for lanes and detail, of which large recordings have some spans only. */
static uint64_t room(const struct report_data *r)
{
	return packed_bytes(r) / 10 * (r->sc.s->facts->nr_events > LARGE_EVENTS ? 7 : 6);
}

/* What is tried, one after the other; a step that changes nothing costs nothing. */
struct step {
	uint32_t max_buckets;
	enum report_bands bands;
	uint32_t keep, keep_other; /* threads; of those, in pairs with wakers and culprits */
};

static const struct step steps[] = {
	{ 512, BANDS_OF_SLOT, 1000, 1000 }, { 256, BANDS_OF_SLOT, 1000, 256 },
	{ 256, BANDS_OF_TWO, 1000, 64 },    { 256, BANDS_OF_EIGHT, 1000, 8 },
	{ 128, BANDS_OF_EIGHT, 1000, 0 },   { 64, BANDS_OF_EIGHT, 1000, 0 },
	{ 64, BANDS_OF_EIGHT, 100, 0 },     { 32, BANDS_OF_EIGHT, 100, 0 },
	{ 32, BANDS_OF_ONE, 20, 0 },        { 16, BANDS_OF_ONE, 10, 0 },
};

#define NR_STEPS (sizeof(steps) / sizeof(steps[0]))
#define FAR      3U /* times as much as fits: the next step will not do either */
#define SAMPLED  2U /* buckets that are tried */

static int apply(struct report_data *r, const struct step *step)
{
	uint8_t former[HIST_SLOTS];
	bool is_coarser = step->bands > r->g.slots.bands;
	int err = 0;

	while (r->g.axis.nr > step->max_buckets && !err) {
		err = tables_halve(&r->tables);
		axis_halve(&r->g.axis);
	}
	if (err)
		return err;
	if (is_coarser)
		slots_coarsen(&r->g.slots, step->bands, former);
	if (who_nr_kept(&r->who) > step->keep_other)
		err = who_fold(&r->who, step->keep, step->keep_other);
	else if (!is_coarser)
		return 0;
	return err ? err : tables_refold(&r->tables, &r->who, is_coarser ? former : NULL, 0);
}

/* A bucket that is tried: its cells, as many as there would be. */
struct trial {
	struct gather g;
	struct tables tables;
	int err;
};

struct trials {
	struct report_data *r;
	const struct step *step; /* that they are for; NULL = none yet */
	struct report_axis axis;
	struct trial at[SAMPLED];
	bool is_refolded; /* by the step at hand: the buckets are those of the one before */
};

static void trial_done(struct trial *t)
{
	gather_done(&t->g);
	tables_done(&t->tables);
}

static int trial_begin(const struct trials *all, uint32_t bucket, struct trial *out)
{
	const struct report_data *r = all->r;
	uint64_t from_ns = axis_edge(&all->axis, bucket), to_ns = axis_edge(&all->axis, bucket + 1);

	trial_done(out);
	out->g = (struct gather){ .sc = &r->sc,
		                  .axis = { from_ns, to_ns, all->axis.width_ns, 1 },
		                  .who = &all->r->who,
		                  .tables = &out->tables,
		                  .ledger = r->ledger,
		                  .max_cells = UINT64_MAX,
		                  .slices = gather_find(r->sc.s, TIMELINE_SLICE, from_ns, to_ns),
		                  .waits = gather_find(r->sc.s, TIMELINE_WAIT, from_ns, to_ns) };
	slots_init(&out->g.slots, all->step->bands);
	return gather_wakers(&out->g);
}

/* The cells of a step before become those of this one, which are the same as if they were gathered again. */
static int refold(const struct trials *all, struct trial *t)
{
	uint8_t former[HIST_SLOTS];

	slots_coarsen(&t->g.slots, all->step->bands, former);
	return tables_refold(&t->tables, &all->r->who, former, 1);
}

static void try_bucket(void *ctx, unsigned int worker, size_t item)
{
	struct trials *all = ctx;
	struct trial *t = &all->at[item];

	(void)worker;
	if (all->is_refolded) {
		t->err = refold(all, t);
		return;
	}
	t->err = tables_init(&t->tables, 1);
	if (!t->err)
		t->err = gather_all(&t->g, false);
}

static int begin_step(struct trials *all, const struct step *step)
{
	struct report_data *r = all->r;
	int err = 0;

	all->is_refolded = all->step && all->step->max_buckets == step->max_buckets;
	all->step = step;
	all->axis = axis_make(r->sc.from_ns, r->sc.to_ns, step->max_buckets);
	if (who_nr_kept(&r->who) > step->keep_other)
		err = who_fold(&r->who, step->keep, step->keep_other);
	for (uint32_t i = 0; i < SAMPLED && !err && !all->is_refolded; i++)
		err = trial_begin(all, (uint32_t)(all->axis.nr * (2ULL * i + 1) / (2ULL * SAMPLED)),
		                  &all->at[i]);
	return err;
}

/* What all of it would come to. */
static int try_step(struct trials *all, const struct step *step, uint64_t *bytes)
{
	struct parallel p = { .fn = try_bucket, .ctx = all };
	int err = begin_step(all, step);

	*bytes = 0;
	if (err)
		return err;
	parallel_for(&p, SAMPLED);
	for (uint32_t i = 0; i < SAMPLED; i++) {
		*bytes += estimate(&all->at[i].tables);
		err = err ? err : all->at[i].err;
	}
	*bytes = *bytes * all->axis.nr / SAMPLED;
	return err;
}

int budget_choose(struct report_data *r, struct budget_plan *out)
{
	struct trials trials = { .r = r };
	uint64_t bytes = 0;
	size_t i = 0;
	int err;

	for (;;) {
		err = try_step(&trials, &steps[i], &bytes);
		if (err || bytes <= room(r))
			break;
		i += bytes > FAR * room(r) ? 2 : 1;
		if (i >= NR_STEPS - 1) {
			i = NR_STEPS - 1;
			err = who_fold(&r->who, steps[i].keep, steps[i].keep_other);
			break;
		}
	}
	for (uint32_t k = 0; k < SAMPLED; k++)
		trial_done(&trials.at[k]);
	*out = (struct budget_plan){ .max_buckets = steps[i].max_buckets,
		                     .max_cells = MAX_CELLS,
		                     .bands = steps[i].bands,
		                     .step = i };
	return err;
}

int budget_fit(struct report_data *r, const struct budget_plan *plan)
{
	int err = 0;

	for (size_t i = plan->step + 1; i < NR_STEPS && !err && estimate(&r->tables) > room(r); i++)
		err = apply(r, &steps[i]);
	return err;
}

uint32_t budget_lanes(const struct report_data *r)
{
	return (uint32_t)(packed_bytes(r) / 10 / LANE_BYTES);
}

uint64_t budget_detail(const struct report_data *r)
{
	uint64_t used = estimate(&r->tables), max = packed_bytes(r);

	for (size_t i = 0; i < (size_t)r->lanes.view.nr_cpus * r->lanes.view.nr_buckets; i++)
		used += r->lanes.cells[i].busy || r->lanes.cells[i].depth_max ? LANE_BYTES : 0;
	return used < max ? max - used : 0;
}
