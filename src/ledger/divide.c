#include "ledger/divide.h"

#include <errno.h>
#include <stdlib.h>

#include "ledger/occupancy.h"

#define FIRST_FAIR 100 /* priorities below are of real time or deadline; 0 is unknown */
#define NO_COLUMN  UINT32_MAX

struct divide_map {
	uint32_t nr_cpus;
	uint32_t *columns[]; /* by CPU: of each segment; NO_COLUMN = it has to be given as a part */
};

int divide_init(struct divide *d)
{
	d->near = calloc(ledger_nr_cpus(d->l) + 1UL, sizeof(*d->near));
	return d->near ? 0 : -ENOMEM;
}

void divide_done(struct divide *d)
{
	free(d->near);
	d->near = NULL;
}

static inline bool is_urgent(int16_t prio, uint8_t policy)
{
	return prio < FIRST_FAIR && (prio || policy);
}

bool divide_is_urgent(const struct ledger_part *part)
{
	return is_urgent(part->prio, part->policy);
}

/* What the CPU did from one time to another, the first of which is in this segment. */
static int give(const struct divide *d, const struct ledger_stay *stay, uint32_t segment,
                uint64_t from_ns, uint64_t to_ns)
{
	int err = 0;

	while (from_ns < to_ns && !err) {
		struct ledger_part part = { .start_ns = from_ns, .end_ns = to_ns }, stolen;

		ledger_part_of(d->l, stay->cpu, &segment, &part);
		from_ns = part.end_ns;
		ledger_cut_stolen(d->l, &part, &stolen);
		if (part.start_ns < part.end_ns)
			err = d->part(d->ctx, stay->unit, &part);
		if (stolen.start_ns < stolen.end_ns && !err)
			err = d->part(d->ctx, stay->unit, &stolen);
	}
	return err;
}

/* The column of a segment; NO_COLUMN where it has to be given as a part. */
static inline uint32_t find_column(const struct divide *d, const struct occupancy_segment *s)
{
	const struct divide_column *c;

	if (s->kind != OCCUPANCY_TASK)
		return d->kinds + ledger_kind_of(s->kind);
	c = &d->columns[s->what];
	if (s->start_ns < c->since_ns || (d->is_urgent_apart && is_urgent(s->prio, s->policy)))
		return NO_COLUMN;
	return c->column;
}

static uint32_t *map_cpu(const struct divide *d, uint32_t cpu)
{
	const struct occupancy *o = ledger_cpu(d->l, cpu);
	uint32_t *columns = reallocarray(NULL, o->nr, sizeof(*columns));

	for (uint32_t i = 0; columns && i < o->nr; i++)
		columns[i] = find_column(d, &o->at[i]);
	return columns;
}

struct divide_map *divide_map_new(const struct divide *d)
{
	uint32_t nr_cpus = ledger_nr_cpus(d->l);
	SCOPED(scoped_divide_map)
	struct divide_map *m = calloc(1, sizeof(*m) + nr_cpus * sizeof(m->columns[0]));

	for (uint32_t i = 0; m && i < nr_cpus; i++) {
		m->columns[m->nr_cpus++] = map_cpu(d, i);
		if (!m->columns[i])
			return NULL;
	}
	return TAKE_PTR(m);
}

void divide_map_free(struct divide_map *m)
{
	for (uint32_t i = 0; m && i < m->nr_cpus; i++)
		free(m->columns[i]);
	free(m);
}

/*
 * Adds the segments of a stay, from its end to its start, which need not be looked for then; from the one at *at on, up to one that has
 * no column, which is left in *at. Returns from when on all is added.
 */
static inline uint64_t add_segments(struct divide *d, const struct ledger_stay *stay,
                                    const uint32_t *columns, bool is_listed, uint64_t until_ns,
                                    uint32_t *at)
{
	const struct occupancy_segment *segments = ledger_cpu(d->l, stay->cpu)->at;
	uint64_t start_ns = stay->start_ns, *sums = d->sums + stay->unit * d->width;
	uint32_t nr_touched = d->nr_touched, i = *at;

	for (; until_ns > start_ns; i--) {
		uint64_t from_ns = segments[i].start_ns > start_ns ? segments[i].start_ns
		                                                   : start_ns;
		uint32_t column = columns ? columns[i] : find_column(d, &segments[i]);

		if (column == NO_COLUMN)
			break;
		if (is_listed && !sums[column])
			d->touched[nr_touched++] = (uint32_t)(sums - d->sums) + column;
		sums[column] += until_ns - from_ns;
		until_ns = from_ns;
	}
	d->nr_touched = nr_touched;
	*at = i;
	return until_ns;
}

/* With and without a list, and with and without a map: as different loops, each does what it has to only. */
static uint64_t add_stay(struct divide *d, const struct ledger_stay *stay, uint64_t until_ns,
                         uint32_t *at)
{
	const uint32_t *columns = d->map ? d->map->columns[stay->cpu] : NULL;

	if (!columns)
		return add_segments(d, stay, NULL, d->touched, until_ns, at);
	if (d->touched)
		return add_segments(d, stay, columns, true, until_ns, at);
	return add_segments(d, stay, columns, false, until_ns, at);
}

int divide_stay(struct divide *d, const struct ledger_stay *stay)
{
	const struct occupancy *o = ledger_cpu(d->l, stay->cpu);
	uint64_t until_ns = stay->end_ns, from_ns;
	uint32_t at;
	int err = 0;

	if (stay->start_ns >= until_ns)
		return 0;
	at = occupancy_find_near(o, d->near[stay->cpu], until_ns - 1);
	d->near[stay->cpu] = at;
	if (!d->sums || o->nr_steals || stay->start_ns < o->at[0].start_ns || until_ns > o->end_ns)
		return give(d, stay, occupancy_find(o, stay->start_ns), stay->start_ns, until_ns);
	for (; !err; at--) {
		until_ns = add_stay(d, stay, until_ns, &at);
		if (until_ns <= stay->start_ns)
			break;
		from_ns = o->at[at].start_ns > stay->start_ns ? o->at[at].start_ns : stay->start_ns;
		err = give(d, stay, at, from_ns, until_ns);
		until_ns = from_ns;
	}
	return err;
}
