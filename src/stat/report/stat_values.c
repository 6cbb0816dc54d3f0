#include <errno.h>

#include "base/cleanup.h"
#include "stat/report/stat_build.h"

static struct hist_range depth_range(uint32_t slot)
{
	return (struct hist_range){ slot, slot };
}

static void add_depth(struct tally_depth *into, const struct tally_depth *from)
{
	if (from->count && (!into->count || from->max > into->max)) {
		into->max = from->max;
		into->max_at_ns = from->max_at_ns;
		into->max_cpu = from->max_cpu;
	}
	into->count += from->count;
	into->sum += from->sum;
	for (uint32_t i = 0; i < STAT_DEPTH_SLOTS; i++)
		into->slots[i] += from->slots[i];
}

static void depth_of_entry(const struct stat_entry *e, enum tally_view_kind view,
                           struct tally_depth *out)
{
	for (size_t i = 0; i < e->nr_rows; i++)
		if (e->rows[i]->view[view].depth)
			add_depth(out, e->rows[i]->view[view].depth);
}

void stat_values_of_depth(const struct tally_depth *depth, struct stat_values *out)
{
	struct hist_view v = {
		.slots = depth->slots,
		.nr_slots = STAT_DEPTH_SLOTS,
		.range = depth_range,
		.max = depth->max,
	};

	*out = (struct stat_values){ .count = depth->count };
	if (!depth->count || !hist_view_percentile(&v, HIST_P(50), &out->p50) ||
	    !hist_view_percentile(&v, HIST_P(90), &out->p90) ||
	    !hist_view_percentile(&v, HIST_P(99), &out->p99))
		return;
	out->max = depth->max;
	out->max_at_ns = depth->max_at_ns;
	out->max_cpu = depth->max_cpu;
	out->mean = (double)depth->sum / (double)depth->count;
}

int stat_build_depth(struct stat_build *b, struct stat_table *t)
{
	struct tally_depth table = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < b->entries.nr; i++) {
		const struct stat_entry *e = &b->entries.items[i];
		struct tally_depth depth = { 0 };
		struct stat_values v;

		depth_of_entry(e, b->in->view, &depth);
		if (!depth.count)
			continue;
		add_depth(&table, &depth);
		stat_values_of_depth(&depth, &v);
		b->cands[nr++] = (struct stat_cand){
			.entry = e,
			.key = stat_values_key(&v, b->in->sort),
			.count = v.count,
		};
	}
	if (stat_rank(b, t, nr, NULL) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		struct tally_depth depth = { 0 };

		depth_of_entry(b->cands[i].entry, b->in->view, &depth);
		stat_values_of_depth(&depth, &t->rows[i].values);
	}
	return b->in->has_bins ? stat_bins_of_depth(b->mem, table.slots, &t->bins) : 0;
}

/* What a table of rates reads from a row: which rates, and which sum belongs to them. */
struct rate_source {
	enum stat_table_id id;
	uint32_t index;
	enum tally_view_kind view;
};

static const struct rates *rates_of_row(const struct rate_source *s, const struct tally_row *row)
{
	const struct rates *all = s->id == STAT_TABLE_COUNTER ? row->counter_rates
	                                                      : row->migration_rates;

	return all ? &all[s->index] : NULL;
}

static uint64_t total_of_row(const struct rate_source *s, const struct tally_row *row)
{
	const struct tally_view *view = &row->view[s->view];

	switch (s->id) {
	case STAT_TABLE_COUNTER:
		return view->counters[s->index];
	case STAT_TABLE_CROSS_LLC:
		return view->migrations.cross_llc;
	case STAT_TABLE_CROSS_NODE:
		return view->migrations.cross_node;
	default:
		return view->migrations.all;
	}
}

static void values_of_rates(const struct rates *r, struct stat_values *out)
{
	double sum = 0.0;

	for (uint32_t i = 0; i < r->nr; i++)
		sum += (double)r->bins[i].value * (double)r->bins[i].count;
	out->count = r->count;
	if (!r->count)
		return;
	out->p50 = rates_percentile(r, HIST_P(50));
	out->p90 = rates_percentile(r, HIST_P(90));
	out->p99 = rates_percentile(r, HIST_P(99));
	out->max = r->max;
	out->mean = sum / (double)r->count;
}

static int values_of_entry(const struct rate_source *s, const struct stat_entry *e,
                           struct stat_values *out, struct rates *table)
{
	SCOPED(rates_done) struct rates merged = { 0 };
	const struct rates *only = NULL;
	int err = 0;

	*out = (struct stat_values){ .has_total = true };
	for (size_t i = 0; i < e->nr_rows && !err; i++) {
		const struct rates *r = rates_of_row(s, e->rows[i]);

		out->total += total_of_row(s, e->rows[i]);
		if (!r)
			continue;
		if (e->nr_rows == 1)
			only = r;
		else
			err = rates_merge(&merged, r);
		if (!err && table)
			err = rates_merge(table, r);
	}
	if (!err)
		values_of_rates(only ? only : &merged, out);
	return err;
}

static int build_rates(struct stat_build *b, struct stat_table *t, const struct rate_source *s,
                       const struct stat_entries *entries)
{
	SCOPED(rates_done) struct rates table = { 0 };
	struct stat_values v;
	size_t nr = 0;
	int err;

	for (size_t i = 0; i < entries->nr; i++) {
		const struct stat_entry *e = &entries->items[i];

		err = values_of_entry(s, e, &v, b->in->has_bins ? &table : NULL);
		if (err < 0)
			return err;
		/* Samples of zero are part of a distribution, but a row needs at least one other. */
		if (!v.total && (!v.count || !v.max))
			continue;
		b->cands[nr++] = (struct stat_cand){
			.entry = e,
			.key = stat_values_key(&v, b->in->sort),
			.count = v.count,
		};
	}
	if (stat_rank(b, t, nr, NULL) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		err = values_of_entry(s, b->cands[i].entry, &t->rows[i].values, NULL);
		if (err < 0)
			return err;
	}
	t->is_since_start = true;
	return b->in->has_bins ? stat_bins_of_rates(b->mem, &table, &t->bins) : 0;
}

int stat_build_migrations(struct stat_build *b, struct stat_table *t)
{
	struct rate_source s = { .id = t->id, .view = b->in->view };

	if (t->id == STAT_TABLE_CROSS_LLC)
		s.index = 1;
	else if (t->id == STAT_TABLE_CROSS_NODE)
		s.index = 2;
	return build_rates(b, t, &s, &b->entries);
}

int stat_build_counter(struct stat_build *b, struct stat_table *t,
                       const struct stat_counter_in *counter)
{
	struct rate_source s = { .id = t->id, .view = b->in->view, .index = counter->index };

	return build_rates(b, t, &s, &b->counted);
}
