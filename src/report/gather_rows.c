/* The walks of report/gather over the rows of one part. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/latency.h"
#include "base/grow.h"
#include "report/gather.h"

#define KIND_WOKEN     0U
#define KIND_PREEMPTED 1U
#define LEAST_ROOM     16U
#define MOST_ROOM      256U

static uint32_t as_who(const struct who *w, uint32_t raw)
{
	return w->as_who ? w->as_who[raw] : raw;
}

static uint32_t as_other(const struct who *w, uint32_t raw)
{
	return w->as_other && !(raw & WHO_INTERRUPT) ? w->as_other[raw] : raw;
}

static int put(struct gather_part *part, enum report_table table, uint32_t bucket, uint64_t key,
               uint64_t a, uint64_t b)
{
	struct cells *c = &part->tables.at[table];

	if (c->nr > part->g->max_cells)
		return -E2BIG;
	return cells_add(c, bucket, key, a, b);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int add_slice(struct gather_part *part, const struct pair_slice *row)
{
	const struct gather *g = part->g;
	uint32_t who = as_who(g->who, who_at(g->who, row->task, row->start_ns));
	uint64_t key = table_run_key(row->cpu, who);
	uint64_t end_ns = earlier(row->end_ns, g->sc->to_ns);
	uint64_t at_ns = later(row->start_ns, g->sc->from_ns);
	uint32_t bucket = axis_at(&g->axis, row->start_ns);
	uint64_t begun = 1;
	int err = 0;

	for (;;) {
		uint64_t edge_ns = axis_edge(&g->axis, bucket + 1);
		bool is_last = bucket + 1 >= g->axis.nr || row->end_ns <= edge_ns;
		uint64_t until_ns = is_last ? end_ns : earlier(end_ns, edge_ns);

		err = put(part, TABLE_RUN, bucket, key, until_ns > at_ns ? until_ns - at_ns : 0,
		          begun);
		if (err || is_last)
			return err;
		at_ns = later(at_ns, edge_ns);
		begun = 0;
		err = put(part, TABLE_RUN_OPEN, ++bucket, key, 1, 0);
		if (err)
			return err;
	}
}

static int walk_slices(struct gather_part *part)
{
	struct rows it = { .sc = part->g->sc, .id = part->slices.first };
	struct pair_slice row;
	int err = 0;

	while (!err && rows_slice(&it, &row) && rows_id(&it) < part->slices.end)
		err = add_slice(part, &row);
	return err;
}

/* A wait that is over, by who, by CPU and by waker, at a bucket or an edge. */
static int put_wait(struct gather_part *part, const uint64_t keys[3], uint32_t bucket, bool is_open,
                    uint64_t ns)
{
	int err = put(part, TABLE_WAIT + is_open, bucket, keys[0], 1, ns);

	if (!err)
		err = put(part, TABLE_WAIT_CPU + is_open, bucket, keys[1], 1, ns);
	return err ? err : put(part, TABLE_WAKE + is_open, bucket, keys[2], 1, ns);
}

static int add_wait(struct gather_part *part, const struct pair_wait *w, uint32_t who, uint64_t ns)
{
	const struct gather *g = part->g;
	uint64_t start_ns = w->end_ns - ns;
	uint32_t kind = w->cause == PAIR_PREEMPTED ? KIND_PREEMPTED : KIND_WOKEN;
	uint32_t slot = hist_slot(ns), bucket = axis_at(&g->axis, start_ns), waker;
	uint64_t keys[3];
	int err;

	part->is_used[slot] = 1;
	if (w->is_open)
		return put(part, TABLE_WAITING, bucket,
		           table_key(TABLE_WAITING, (uint32_t[]){ who, kind }), 1, ns);
	err = who_waker(g->who, latency_waker(w), start_ns, &waker);
	if (err)
		return err;
	keys[0] = table_wait_key(who, kind, slot);
	keys[1] = table_wait_key(w->cpu, kind, slot);
	keys[2] = table_wake_key(as_other(g->who, who), as_other(g->who, waker), kind,
	                         g->slots.band_of[slot]);
	err = put_wait(part, keys, bucket, false, ns);
	while (!err && ++bucket < g->axis.nr && axis_edge(&g->axis, bucket) < w->end_ns)
		err = put_wait(part, keys, bucket, true, ns);
	return err;
}

static int unit_of(struct gather_part *part, uint32_t who, uint8_t band, uint32_t *out)
{
	uint32_t *unit = &part->units[(size_t)who * part->g->slots.max_bands + band];

	if (!*unit) {
		if (GROW(part->pairs, part->room_pairs, part->nr_pairs))
			return -ENOMEM;
		part->pairs[part->nr_pairs++] = (struct gather_unit){ who, band };
		*unit = part->nr_pairs;
	}
	*out = *unit - 1;
	return 0;
}

/* A part of a wait that is no stay in the queue of a CPU. */
static int add_part(struct gather_part *part, uint32_t who, uint8_t band,
                    const struct ledger_part *p)
{
	const struct report_axis *axis = &part->g->axis;
	uint64_t key = table_key(TABLE_BLAME, (uint32_t[]){ who, band, p->kind, 0 });
	uint64_t at_ns = p->start_ns;
	uint32_t bucket = axis_at(axis, at_ns);
	int err = 0;

	while (!err && at_ns < p->end_ns) {
		uint64_t edge_ns = bucket + 1 < axis->nr ? axis_edge(axis, bucket + 1) : p->end_ns;
		uint64_t until_ns = earlier(edge_ns, p->end_ns);

		err = put(part, TABLE_BLAME, bucket++, key, until_ns - at_ns, 0);
		at_ns = until_ns;
	}
	return err;
}

/* Cut where buckets begin, so that no part of it is in two. */
static int keep_stay(struct gather_part *part, uint32_t unit, const struct ledger_part *p)
{
	const struct report_axis *axis = &part->g->axis;
	uint64_t at_ns = p->start_ns;
	uint32_t bucket = axis_at(axis, at_ns);

	for (; at_ns < p->end_ns; bucket++) {
		uint64_t edge_ns = bucket + 1 < axis->nr ? axis_edge(axis, bucket + 1) : p->end_ns;
		uint64_t until_ns = earlier(edge_ns, p->end_ns);

		if (GROW(part->stays, part->room, part->nr))
			return -ENOMEM;
		part->stays[part->nr++] = (struct gather_stay){ at_ns, until_ns, unit, p->cpu,
			                                        (uint16_t)bucket };
		at_ns = until_ns;
	}
	return 0;
}

/* Of that what is in the time asked for. */
static int take_part(struct gather_part *part, uint32_t who, uint8_t band, uint32_t unit,
                     struct ledger_part *p)
{
	p->start_ns = later(p->start_ns, part->g->sc->from_ns);
	p->end_ns = earlier(p->end_ns, part->g->sc->to_ns);
	if (p->start_ns >= p->end_ns)
		return 0;
	return p->kind == LEDGER_STAY ? keep_stay(part, unit, p) : add_part(part, who, band, p);
}

/* What the wait was for: only stays, and what is none. */
static int cut_wait(struct gather_part *part, const struct pair_wait *w, uint32_t who, uint64_t ns)
{
	uint8_t band = part->g->slots.band_of[hist_slot(ns)];
	struct ledger_walk walk;
	struct ledger_part p;
	uint32_t unit = 0;
	int err = unit_of(part, who, band, &unit);

	if (err)
		return err;
	if (ledger_is_stay(part->g->ledger, w, &p))
		return take_part(part, who, band, unit, &p);
	err = ledger_begin(part->g->ledger, w, &walk);
	while (!err && ledger_next_stay(&walk, &p))
		err = take_part(part, who, band, unit, &p);
	return err;
}

static int walk_waits(struct gather_part *part)
{
	const struct who *names = part->g->who;
	struct rows it = { .sc = part->g->sc, .id = part->waits.first };
	struct pair_wait w;
	int err = 0;

	while (!err && rows_wait(&it, &w) && rows_id(&it) < part->waits.end) {
		uint64_t ns = latency_ns(&w);
		uint32_t who = as_who(names, who_at(names, w.task, w.end_ns - ns));

		err = add_wait(part, &w, who, ns);
		if (!err && part->plan && w.task != TASKS_NONE)
			err = cut_wait(part, &w, as_other(names, who), ns);
	}
	return err;
}

/* Where each row of a bucket may have a cell of its own, as in short recordings, there is room for all from the start. */
static uint32_t room_of(const struct gather *g, const struct gather_rows *all)
{
	uint64_t nr = (all->end - all->first) / g->axis.nr;
	uint32_t room = LEAST_ROOM;

	while (room < MOST_ROOM && room * 3ULL < nr * 4)
		room *= 2;
	return room;
}

static int begin_tables(struct gather_part *part)
{
	const struct gather *g = part->g;
	struct cells *at = part->tables.at;
	int err = tables_init(&part->tables, g->axis.nr);

	if (err)
		return err;
	at[TABLE_RUN].first_room = room_of(g, &g->slices);
	at[TABLE_WAIT].first_room = room_of(g, &g->waits);
	at[TABLE_WAIT_CPU].first_room = at[TABLE_WAKE].first_room = at[TABLE_WAIT].first_room;
	return 0;
}

int gather_part_rows(struct gather_part *part)
{
	const struct gather *g = part->g;
	int err = begin_tables(part);

	if (!err && part->plan) {
		part->units = calloc((size_t)g->who->nr * g->slots.max_bands, sizeof(*part->units));
		err = part->units ? 0 : -ENOMEM;
	}
	if (!err && part->slices.first < part->slices.end)
		err = walk_slices(part);
	if (!err && part->waits.first < part->waits.end)
		err = walk_waits(part);
	free(part->units);
	part->units = NULL;
	return err;
}
