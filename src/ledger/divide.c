#include "ledger/divide.h"

#include <errno.h>
#include <stdlib.h>

#include "ledger/occupancy.h"

#define FIRST_FAIR 100 /* priorities below are of real time or deadline; 0 is unknown */

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

/* The column of a segment; false where it has to be given as a part. */
static inline bool find_column(const struct divide *d, const struct occupancy_segment *s,
                               uint32_t *out)
{
	const struct divide_column *c;

	if (s->kind != OCCUPANCY_TASK) {
		*out = d->kinds + ledger_kind_of(s->kind);
		return true;
	}
	c = &d->columns[s->what];
	*out = c->column;
	return s->start_ns >= c->since_ns && !(d->is_urgent_apart && is_urgent(s->prio, s->policy));
}

static inline void add(struct divide *d, size_t place, uint64_t ns)
{
	if (d->touched && !d->sums[place])
		d->touched[d->nr_touched++] = (uint32_t)place;
	d->sums[place] += ns;
}

int divide_stay(struct divide *d, const struct ledger_stay *stay)
{
	const struct occupancy *o = ledger_cpu(d->l, stay->cpu);
	uint64_t until_ns = stay->end_ns, from_ns;
	size_t row = stay->unit * d->width;
	uint32_t at, column;
	int err = 0;

	if (stay->start_ns >= until_ns)
		return 0;
	at = occupancy_find_near(o, d->near[stay->cpu], until_ns - 1);
	d->near[stay->cpu] = at;
	if (!d->sums || o->nr_steals || stay->start_ns < o->at[0].start_ns || until_ns > o->end_ns)
		return give(d, stay, occupancy_find(o, stay->start_ns), stay->start_ns, until_ns);
	/* From its end to its start, which need not be looked for then. */
	for (; !err; at--) {
		const struct occupancy_segment *s = &o->at[at];

		from_ns = s->start_ns > stay->start_ns ? s->start_ns : stay->start_ns;
		if (find_column(d, s, &column))
			add(d, row + column, until_ns - from_ns);
		else
			err = give(d, stay, at, from_ns, until_ns);
		if (from_ns == stay->start_ns)
			break;
		until_ns = from_ns;
	}
	return err;
}
