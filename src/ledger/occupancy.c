#include "ledger/occupancy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "model/timeline.h"

/* A row that says what had the CPU. */
struct piece {
	uint64_t start_ns, end_ns;
	uint32_t what;
	uint8_t kind;
	int16_t prio;
	uint8_t policy;
};

/* Rows that tile the CPU, of three tables; each comes in the order of time. */
enum { SLICES, IDLES, GAPS, NR_TILES };

struct tiles {
	struct timeline_iter its[NR_TILES];
	struct piece next[NR_TILES];
	bool has[NR_TILES];
};

static bool read_tile(struct tiles *t, int which)
{
	union timeline_row row;

	if (!timeline_next(&t->its[which], NULL, &row))
		return false;
	switch (which) {
	case SLICES:
		t->next[which] = (struct piece){ row.slice.start_ns, row.slice.end_ns,
			                         row.slice.task,     OCCUPANCY_TASK,
			                         row.slice.prio,     row.slice.policy };
		break;
	case IDLES:
		t->next[which] = (struct piece){
			row.idle.start_ns, row.idle.end_ns, 0, OCCUPANCY_IDLE, 0, 0
		};
		break;
	default:
		t->next[which] = (struct piece){
			row.gap.start_ns, row.gap.end_ns, 0, OCCUPANCY_UNKNOWN, 0, 0
		};
	}
	return true;
}

static int find(struct timeline *t, enum timeline_table table, uint32_t cpu,
                const struct occupancy *of, struct timeline_iter *out)
{
	struct timeline_query q = { .table = table,
		                    .task = TASKS_NONE,
		                    .cpu = cpu,
		                    .from_ns = of->at[0].start_ns,
		                    .to_ns = of->end_ns };

	return timeline_find(t, &q, out);
}

static int tiles_open(struct tiles *tiles, struct timeline *t, uint32_t cpu,
                      const struct occupancy *of)
{
	static const enum timeline_table tables[NR_TILES] = { TIMELINE_SLICE, TIMELINE_IDLE,
		                                              TIMELINE_GAP };

	for (int i = 0; i < NR_TILES; i++) {
		if (find(t, tables[i], cpu, of, &tiles->its[i]))
			return -ENOMEM;
		tiles->has[i] = read_tile(tiles, i);
	}
	return 0;
}

/* The one that begins first; false at the end. */
static bool tiles_next(struct tiles *t, struct piece *out)
{
	int first = -1;

	for (int i = 0; i < NR_TILES; i++)
		if (t->has[i] && (first < 0 || t->next[i].start_ns < t->next[first].start_ns))
			first = i;
	if (first < 0)
		return false;
	*out = t->next[first];
	t->has[first] = read_tile(t, first);
	return true;
}

/* A segment from start_ns on; equal neighbours are one. */
static int append(struct occupancy *o, const struct occupancy_segment *s)
{
	const struct occupancy_segment *last = o->nr ? &o->at[o->nr - 1] : NULL;

	if (last && last->start_ns == s->start_ns)
		o->nr--; /* it had no time */
	else if (last && last->kind == s->kind && last->what == s->what && last->prio == s->prio &&
	         last->policy == s->policy)
		return 0;
	if (GROW(o->at, o->room, o->nr))
		return -ENOMEM;
	o->at[o->nr++] = *s;
	return 0;
}

static int append_unknown(struct occupancy *o, uint64_t start_ns)
{
	return append(o, &(struct occupancy_segment){ .start_ns = start_ns });
}

static int append_piece(struct occupancy *o, uint64_t start_ns, const struct piece *p)
{
	return append(o, &(struct occupancy_segment){ start_ns, p->what, p->kind, p->policy,
	                                              p->prio });
}

/* What the rows that tile the CPU say, without interrupts. */
static int lay_tiles(struct timeline *t, uint32_t cpu, struct occupancy *out)
{
	uint64_t at_ns = out->at[0].start_ns;
	struct tiles tiles;
	struct piece p;
	int err = tiles_open(&tiles, t, cpu, out);

	while (!err && tiles_next(&tiles, &p)) {
		if (p.start_ns > at_ns)
			err = append_unknown(out, at_ns);
		else
			p.start_ns = at_ns;
		if (p.end_ns <= p.start_ns)
			continue;
		if (!err)
			err = append_piece(out, p.start_ns, &p);
		at_ns = p.end_ns;
	}
	if (!err && at_ns < out->end_ns)
		err = append_unknown(out, at_ns);
	return err;
}

struct pieces {
	struct piece *at;
	uint32_t nr, room;
};

static int by_start(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static uint8_t kind_of_span(const struct pair_span *s)
{
	switch (s->kind) {
	case PAIR_IRQ:
	case PAIR_IPI:
		return OCCUPANCY_INTERRUPT;
	case PAIR_SOFTIRQ:
		return OCCUPANCY_SOFTIRQ;
	default:
		return OCCUPANCY_UNKNOWN;
	}
}

/* The handlers of one kind, by their starts, none of them in another. */
static int gather(struct timeline *t, uint32_t cpu, const struct occupancy *of, uint8_t kind,
                  struct pieces *out)
{
	struct timeline_iter it;
	union timeline_row row;
	uint64_t id, end_ns = 0;
	uint32_t nr = 0;

	if (find(t, TIMELINE_SPAN, cpu, of, &it))
		return -ENOMEM;
	while (timeline_next(&it, &id, &row)) {
		if (kind_of_span(&row.span) != kind)
			continue;
		if (GROW(out->at, out->room, out->nr))
			return -ENOMEM;
		out->at[out->nr++] =
			(struct piece){ row.span.start_ns,
			                row.span.end_ns,
			                (uint32_t)(id - timeline_first(t, TIMELINE_SPAN)),
			                kind,
			                0,
			                0 };
	}
	if (out->nr)
		qsort(out->at, out->nr, sizeof(*out->at), by_start);
	for (uint32_t i = 0; i < out->nr; i++) {
		struct piece p = out->at[i];

		if (p.start_ns < end_ns)
			p.start_ns = end_ns;
		if (p.end_ns <= p.start_ns)
			continue;
		out->at[nr++] = p;
		end_ns = p.end_ns;
	}
	out->nr = nr;
	return 0;
}

/* One segment with the handlers that interrupt it; *next is the first that may. */
static int lay_segment(const struct occupancy_segment *s, uint64_t end_ns,
                       const struct pieces *over, uint32_t *next, struct occupancy *out)
{
	struct occupancy_segment rest = *s;
	int err = append(out, s);

	while (*next < over->nr && over->at[*next].end_ns <= s->start_ns)
		++*next;
	if (s->kind == OCCUPANCY_UNKNOWN)
		return err;
	for (uint32_t i = *next; i < over->nr && over->at[i].start_ns < end_ns && !err; i++) {
		const struct piece *p = &over->at[i];

		err = append_piece(out, p->start_ns > s->start_ns ? p->start_ns : s->start_ns, p);
		rest.start_ns = p->end_ns;
		if (!err && p->end_ns < end_ns)
			err = append(out, &rest);
	}
	return err;
}

/* Puts the handlers of one kind over what it has. */
static int lay_over(struct timeline *t, uint32_t cpu, uint8_t kind, struct occupancy *o)
{
	struct occupancy out = { .end_ns = o->end_ns };
	struct pieces over = { 0 };
	uint32_t next = 0;
	int err = gather(t, cpu, o, kind, &over);

	for (uint32_t i = 0; i < o->nr && over.nr && !err; i++)
		err = lay_segment(&o->at[i], i + 1 < o->nr ? o->at[i + 1].start_ns : o->end_ns,
		                  &over, &next, &out);
	if (!err && over.nr) {
		free(o->at); /* which is all that it has by now */
		*o = out;
	} else {
		free(out.at);
	}
	free(over.at);
	return err;
}

/* What the rows say of time stolen. */
static int list_steals(struct timeline *t, uint32_t cpu, struct occupancy *o)
{
	struct timeline_iter it;
	union timeline_row row;
	uint64_t end_ns = 0, sum_ns = 0;

	if (find(t, TIMELINE_STEAL, cpu, o, &it))
		return -ENOMEM;
	while (timeline_next(&it, NULL, &row)) {
		if (row.steal.start_ns < end_ns)
			continue;
		if (GROW(o->steals, o->room_steals, o->nr_steals))
			return -ENOMEM;
		o->steals[o->nr_steals++] = (struct occupancy_steal){ row.steal.start_ns,
			                                              row.steal.end_ns,
			                                              row.steal.ns, sum_ns };
		end_ns = row.steal.end_ns;
		sum_ns += row.steal.ns;
	}
	return 0;
}

int occupancy_build(struct timeline *t, uint32_t cpu, uint64_t start_ns, uint64_t end_ns,
                    struct occupancy *out)
{
	int err;

	*out = (struct occupancy){ .end_ns = end_ns };
	err = append_unknown(out, start_ns);
	if (!err)
		err = lay_tiles(t, cpu, out);
	if (!err)
		err = lay_over(t, cpu, OCCUPANCY_SOFTIRQ, out);
	if (!err)
		err = lay_over(t, cpu, OCCUPANCY_INTERRUPT, out);
	if (!err)
		err = list_steals(t, cpu, out);
	if (err)
		occupancy_free(out);
	return err;
}

void occupancy_free(struct occupancy *o)
{
	free(o->at);
	free(o->steals);
	*o = (struct occupancy){ 0 };
}

/* The last that begins at a time or before; NULL = none. */
static const struct occupancy_steal *steal_at(const struct occupancy *o, uint64_t ts_ns)
{
	uint32_t low = 0, high = o->nr_steals;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (o->steals[middle].start_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &o->steals[low - 1] : NULL;
}

/* Stolen by the time; its share of the one that is under way. */
static uint64_t stolen_until(const struct occupancy *o, uint64_t ts_ns)
{
	const struct occupancy_steal *s = steal_at(o, ts_ns);

	if (!s)
		return 0;
	if (ts_ns >= s->end_ns)
		return s->before_ns + s->ns;
	return s->before_ns + (uint64_t)((unsigned __int128)s->ns * (ts_ns - s->start_ns) /
	                                 (s->end_ns - s->start_ns));
}

uint64_t occupancy_stolen_ns(const struct occupancy *o, uint64_t from_ns, uint64_t to_ns)
{
	return o->nr_steals ? stolen_until(o, to_ns) - stolen_until(o, from_ns) : 0;
}

bool occupancy_is_in_steal(const struct occupancy *o, uint64_t ts_ns)
{
	const struct occupancy_steal *s = steal_at(o, ts_ns);

	return s && s->start_ns < ts_ns && ts_ns < s->end_ns;
}

/* The last from low on and below high that begins at a time or before, else low. */
static uint32_t search(const struct occupancy *o, uint32_t low, uint32_t high, uint64_t ts_ns)
{
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (o->at[middle].start_ns <= ts_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t occupancy_find(const struct occupancy *o, uint64_t ts_ns)
{
	return search(o, 0, o->nr, ts_ns);
}

uint32_t occupancy_find_near(const struct occupancy *o, uint32_t near, uint64_t ts_ns)
{
	uint32_t low = near, high = near + 1, step = 1;

	if (o->at[near].start_ns <= ts_ns) {
		for (; high < o->nr && o->at[high].start_ns <= ts_ns; step *= 2) {
			low = high;
			high = step < o->nr - high ? high + step : o->nr;
		}
	} else {
		for (; low && o->at[low].start_ns > ts_ns; step *= 2) {
			high = low;
			low = step < low ? low - step : 0;
		}
	}
	return search(o, low, high, ts_ns);
}
