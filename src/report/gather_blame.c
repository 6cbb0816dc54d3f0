/* What had the CPU while tasks were in its queue: the stays that report/gather has kept become cells of TABLE_BLAME. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "report/gather.h"

#define MATRIX_CELLS (1U << 17)

/* What the parts of time share: where the time of each culprit goes. */
struct gather_plan {
	const struct gather *g;
	struct divide_column *columns; /* by task */
	struct blame_column {
		uint32_t culprit;
		uint8_t kind;
	} * of; /* by column: first the kinds, then each culprit */
	uint32_t nr_columns;
	uint32_t *column_of;    /* by raw number: 1 + its column */
	struct divide_map *map; /* NULL = for a bucket that is tried it does not pay */
};

void gather_plan_free(struct gather_plan *p)
{
	if (!p)
		return;
	divide_map_free(p->map);
	free(p->columns);
	free(p->of);
	free(p->column_of);
	free(p);
}

static uint32_t culprit_of(const struct who *w, uint32_t raw)
{
	return w->as_other ? w->as_other[raw] : raw;
}

static int plan_init(struct gather_plan *p)
{
	const struct who *w = p->g->who;
	uint32_t nr_tasks = p->g->sc->nr_tasks;

	p->columns = calloc(nr_tasks + 1UL, sizeof(*p->columns));
	p->of = calloc(LEDGER_KINDS + (size_t)w->nr, sizeof(*p->of));
	p->column_of = calloc(w->nr, sizeof(*p->column_of));
	if (!p->columns || !p->of || !p->column_of)
		return -ENOMEM;
	for (; p->nr_columns < LEDGER_KINDS; p->nr_columns++)
		p->of[p->nr_columns].kind = (uint8_t)p->nr_columns;
	for (uint32_t i = 0; i < w->nr; i++) {
		uint32_t culprit = culprit_of(w, i);

		if (w->raw[i].same != i || p->column_of[culprit])
			continue;
		p->of[p->nr_columns] = (struct blame_column){ culprit, LEDGER_TASK };
		p->column_of[culprit] = ++p->nr_columns;
	}
	for (uint32_t i = 0; i < nr_tasks; i++) {
		uint32_t raw = who_last(w, i, &p->columns[i].since_ns);

		p->columns[i].column = p->column_of[culprit_of(w, raw)] - 1;
	}
	return 0;
}

static int plan_map(struct gather_plan *p)
{
	p->map = divide_map_new(&(struct divide){ .l = p->g->ledger, .columns = p->columns });
	return p->map ? 0 : -ENOMEM;
}

int gather_plan_new(const struct gather *g, bool is_mapped, struct gather_plan **out)
{
	struct gather_plan *p;
	int err;

	if (!g->ledger)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->g = g;
	err = plan_init(p);
	if (!err && is_mapped)
		err = plan_map(p);
	if (err)
		gather_plan_free(p);
	else
		*out = p;
	return err;
}

/* The sums of one bucket, by who waited and culprit, until they become cells. */
struct blamed {
	const struct gather_plan *plan;
	const struct gather *g;
	const struct gather_part *part;
	struct cells *to;
	uint32_t bucket;
	struct divide divide;
};

static void blamed_done(struct blamed *b)
{
	free(b->divide.sums);
	free(b->divide.touched);
	divide_done(&b->divide);
}

static int add_cell(struct blamed *b, uint32_t unit, uint32_t column, uint64_t ns)
{
	const struct gather_unit *of = &b->part->pairs[unit];
	const struct blame_column *c = &b->plan->of[column];

	if (b->to->nr > b->g->max_cells)
		return -E2BIG;
	return cells_add(b->to, b->bucket,
	                 table_key(TABLE_BLAME,
	                           (uint32_t[]){ of->who, of->band, c->kind, c->culprit }),
	                 ns, 0);
}

/* What has no place in the matrix, or would need too large a one. */
static int add_part(void *ctx, uint32_t unit, const struct ledger_part *part)
{
	struct blamed *b = ctx;
	const struct who *w = b->g->who;
	uint32_t column = part->kind;

	if (part->kind == LEDGER_TASK)
		column = b->plan->column_of[culprit_of(w, who_at(w, (uint32_t)part->what,
		                                                 part->start_ns))] -
		         1;
	return add_cell(b, unit, column, part->end_ns - part->start_ns);
}

static int blamed_init(struct blamed *b)
{
	uint64_t nr = (uint64_t)b->part->nr_pairs * b->plan->nr_columns;

	b->divide = (struct divide){ .l = b->g->ledger,
		                     .columns = b->plan->columns,
		                     .width = b->plan->nr_columns,
		                     .map = b->plan->map,
		                     .part = add_part,
		                     .ctx = b };
	if (nr <= MATRIX_CELLS) {
		b->divide.sums = calloc(nr + 1, sizeof(*b->divide.sums));
		b->divide.touched = calloc(nr + 1, sizeof(*b->divide.touched));
		if (!b->divide.sums || !b->divide.touched)
			return -ENOMEM;
	}
	return divide_init(&b->divide);
}

/* The sums of the bucket at hand become cells. */
static int flush(struct blamed *b)
{
	struct divide *d = &b->divide;
	int err = cells_reserve(b->to, b->bucket, d->nr_touched);

	for (uint32_t i = 0; i < d->nr_touched && !err; i++) {
		uint32_t at = d->touched[i];

		err = add_cell(b, (uint32_t)(at / d->width), (uint32_t)(at % d->width),
		               d->sums[at]);
		d->sums[at] = 0;
	}
	d->nr_touched = 0;
	return err;
}

/* Puts the stays of each bucket next to each other: those of bucket i are from ends[i] to ends[i + 1]. */
static int order(struct gather_part *part, uint32_t nr_buckets, size_t *ends)
{
	struct gather_stay *ordered = malloc(part->nr * sizeof(*ordered));

	if (!ordered)
		return -ENOMEM;
	for (size_t i = 0; i < part->nr; i++)
		ends[part->stays[i].bucket + 2U]++;
	for (uint32_t i = 1; i < nr_buckets; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < part->nr; i++)
		ordered[ends[part->stays[i].bucket + 1U]++] = part->stays[i];
	free(part->stays);
	part->stays = ordered;
	part->room = part->nr;
	return 0;
}

static int blame_buckets(struct gather_part *part, struct blamed *b)
{
	uint32_t nr_buckets = b->g->axis.nr;
	SCOPED(scoped_free) size_t *ends = calloc(nr_buckets + 2UL, sizeof(*ends));
	int err = ends ? order(part, nr_buckets, ends) : -ENOMEM;

	for (b->bucket = 0; b->bucket < nr_buckets && !err; b->bucket++) {
		for (size_t i = ends[b->bucket]; i < ends[b->bucket + 1] && !err; i++) {
			const struct gather_stay *s = &part->stays[i];

			err = divide_stay(&b->divide, &(struct ledger_stay){ s->start_ns, s->end_ns,
			                                                     s->unit, s->cpu });
		}
		if (!err)
			err = flush(b);
	}
	return err;
}

int gather_part_blame(struct gather_part *part)
{
	struct blamed b = {
		.plan = part->plan, .g = part->g, .part = part, .to = &part->tables.at[TABLE_BLAME]
	};
	int err;

	if (!part->nr)
		return 0;
	err = blamed_init(&b);
	if (!err)
		err = blame_buckets(part, &b);
	blamed_done(&b);
	return err;
}
