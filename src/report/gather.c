#include "report/gather.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/latency.h"
#include "base/cleanup.h"
#include "base/parallel.h"

#define SCORE_OF_ALL 1e15 /* of one that ran all of the time */

static void part_done(struct gather_part *p)
{
	tables_done(&p->tables);
	free(p->stays);
	free(p->units);
	free(p->pairs);
}

void gather_done(struct gather *g)
{
	for (uint32_t i = 0; i < GATHER_PARTS; i++)
		part_done(&g->parts[i]);
	*g = (struct gather){ 0 };
}

int gather_scores(struct who *w, const struct scope *sc)
{
	struct rows slices = { .sc = sc }, waits = { .sc = sc };
	double all_ran = 1, all_waited = 1;
	SCOPED(scoped_free) uint64_t *waited = calloc(w->nr, sizeof(*waited));
	struct pair_slice slice;
	struct pair_wait wait;

	if (!waited)
		return -ENOMEM;
	while (rows_slice(&slices, &slice)) {
		uint64_t ns = 1 + scope_cut(sc, slice.start_ns, slice.end_ns);

		w->scores[who_at(w, slice.task, slice.start_ns)] += ns;
		all_ran += (double)ns;
	}
	while (rows_wait(&waits, &wait)) {
		uint64_t start_ns = pair_wait_woken_ns(&wait);
		uint64_t ns = 1 + scope_cut(sc, start_ns, wait.end_ns);

		waited[who_at(w, wait.task, start_ns)] += ns;
		if (!wait.is_open && who_see(w, latency_waker(&wait)))
			return -ENOMEM;
		all_waited += (double)ns;
	}
	for (uint32_t i = 1; i < w->nr; i++) {
		double part = (double)w->scores[i] / all_ran + (double)waited[i] / all_waited;

		w->scores[i] = (uint64_t)(part * SCORE_OF_ALL);
	}
	return 0;
}

static uint64_t first_that_ends(const struct timeline *t, enum timeline_table table, uint64_t ts_ns)
{
	size_t offset = table == TIMELINE_SLICE ? offsetof(struct pair_slice, end_ns)
	                                        : offsetof(struct pair_wait, end_ns);
	uint64_t low = timeline_first(t, table), high = timeline_end(t, table), end_ns;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (timeline_times(t, table, offset, middle, &end_ns, 1) && end_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct gather_rows gather_every(const struct source *s, enum timeline_table table)
{
	return (struct gather_rows){ timeline_first(s->timeline, table),
		                     timeline_end(s->timeline, table) };
}

struct gather_rows gather_find(const struct source *s, enum timeline_table table, uint64_t from_ns,
                               uint64_t to_ns)
{
	return (struct gather_rows){ first_that_ends(s->timeline, table, from_ns),
		                     first_that_ends(s->timeline, table, to_ns) };
}

int gather_wakers(struct gather *g)
{
	struct rows it = { .sc = g->sc, .id = g->waits.first };
	struct pair_wait w;
	uint32_t waker;
	int err = 0;

	if (g->waits.first >= g->waits.end)
		return 0;
	while (!err && rows_wait(&it, &w) && rows_id(&it) < g->waits.end)
		if (!w.is_open)
			err = who_waker(g->who, latency_waker(&w), w.end_ns, &waker);
	return err;
}

static uint64_t end_of(const struct timeline *t, enum timeline_table table, uint64_t id)
{
	size_t offset = table == TIMELINE_SLICE ? offsetof(struct pair_slice, end_ns)
	                                        : offsetof(struct pair_wait, end_ns);
	uint64_t end_ns = 0;

	(void)timeline_times(t, table, offset, id, &end_ns, 1);
	return end_ns;
}

/* As many rows for each part, but so that one ends where a bucket does. */
static uint64_t part_begin(const struct gather *g, enum timeline_table table,
                           const struct gather_rows *all, uint32_t part, uint32_t nr_parts)
{
	const struct timeline *t = g->sc->s->timeline;
	uint64_t nr = all->end > all->first ? all->end - all->first : 0;
	uint64_t id = all->first + nr * part / nr_parts;

	if (!part || part == nr_parts || !nr)
		return id;
	id = first_that_ends(t, table,
	                     axis_edge(&g->axis, axis_at(&g->axis, end_of(t, table, id))));
	if (id < all->first)
		return all->first;
	return id < all->end ? id : all->end;
}

static struct gather_rows rows_of(const struct gather *g, enum timeline_table table, uint32_t part,
                                  uint32_t nr_parts)
{
	const struct gather_rows *all = table == TIMELINE_SLICE ? &g->slices : &g->waits;

	return (struct gather_rows){ part_begin(g, table, all, part, nr_parts),
		                     part_begin(g, table, all, part + 1, nr_parts) };
}

static void make_part(void *ctx, unsigned int worker, size_t item)
{
	struct gather *g = ctx;
	struct gather_part *part = &g->parts[item];

	(void)worker;
	part->err = gather_part_rows(part);
	if (!part->err && part->plan)
		part->err = gather_part_blame(part);
}

struct joining {
	struct gather *g;
	int err[REPORT_TABLES];
};

static void join_table(void *ctx, unsigned int worker, size_t item)
{
	struct joining *j = ctx;
	struct cells *into = &j->g->tables->at[item];
	int err = 0;

	(void)worker;
	for (uint32_t i = 0; i < GATHER_PARTS && !err; i++)
		if (j->g->parts[i].tables.at[item].nr)
			err = cells_merge(into, &j->g->parts[i].tables.at[item]);
	j->err[item] = err || into->nr <= j->g->max_cells ? err : -E2BIG;
}

static int join_parts(struct gather *g, unsigned int nr_workers)
{
	struct joining j = { .g = g };
	struct parallel p = { .nr_workers = nr_workers, .fn = join_table, .ctx = &j };

	for (uint32_t i = 0; i < GATHER_PARTS; i++) {
		if (g->parts[i].err)
			return g->parts[i].err;
		for (uint32_t k = 0; k < HIST_SLOTS; k++)
			g->slots.is_used[k] |= g->parts[i].is_used[k];
	}
	parallel_for(&p, REPORT_TABLES);
	for (uint32_t i = 0; i < GATHER_PARTS; i++)
		tables_done(&g->parts[i].tables);
	for (int i = 0; i < REPORT_TABLES; i++)
		if (j.err[i])
			return j.err[i];
	return 0;
}

int gather_all(struct gather *g, bool is_parallel)
{
	uint32_t nr_parts = is_parallel ? GATHER_PARTS : 1;
	struct parallel p = { .nr_workers = is_parallel ? 0 : 1, .fn = make_part, .ctx = g };
	struct gather_plan *plan = NULL;
	int err = gather_plan_new(g, is_parallel, &plan);

	if (err)
		return err;
	for (uint32_t i = 0; i < nr_parts; i++) {
		g->parts[i] = (struct gather_part){
			.g = g,
			.plan = plan,
			.slices = rows_of(g, TIMELINE_SLICE, i, nr_parts),
			.waits = rows_of(g, TIMELINE_WAIT, i, nr_parts),
		};
	}
	parallel_for(&p, nr_parts);
	gather_plan_free(plan);
	for (uint32_t i = 0; i < nr_parts; i++)
		g->parts[i].plan = NULL;
	return join_parts(g, p.nr_workers);
}
