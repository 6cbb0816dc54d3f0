#include <errno.h>
#include <math.h>

#include "stat/report/stat_build.h"

struct part_def {
	uint32_t metric;
	const char *name;
};

struct family {
	uint32_t nr;
	struct part_def parts[STAT_MAX_PARTS];
};

static const struct family delay_family = {
	.nr = 3,
	.parts = {
		{ STAT_DELAY_WOKEN, "woken" },
		{ STAT_DELAY_PREEMPTED, "preempted" },
		{ TALLY_DELAY_NEW, "new" },
	},
};

static const struct family waking_family = { .nr = 1, .parts = { { STAT_WAKING, "waking" } } };

static const struct family sleep_family = {
	.nr = 3,
	.parts = {
		{ STAT_SLEEP_S, "interruptible" },
		{ STAT_SLEEP_D, "uninterruptible" },
		{ STAT_SLEEP_OTHER, "other" },
	},
};

static const struct family slice_family = {
	.nr = 2,
	.parts = {
		{ STAT_SLICE_VOLUNTARY, "voluntary" },
		{ STAT_SLICE_INVOLUNTARY, "involuntary" },
	},
};

/* Adds one metric of all rows of an entry. */
static void add_metric(const struct stat_entry *e, enum tally_view_kind view, uint32_t metric,
                       struct hist *into)
{
	for (size_t i = 0; i < e->nr_rows; i++) {
		const struct hist *h = e->rows[i]->view[view].hist[metric];

		if (h)
			hist_merge(into, h);
	}
}

static void add_family(const struct stat_entry *e, enum tally_view_kind view, const void *family,
                       struct hist *into)
{
	const struct family *f = family;

	for (uint32_t i = 0; i < f->nr; i++)
		add_metric(e, view, f->parts[i].metric, into);
}

/* Threads behind one metric. Rows of an entry are in the order of their threads. */
static uint32_t count_tasks(const struct stat_entry *e, enum tally_view_kind view, uint32_t metric)
{
	uint32_t nr = 0, last_tid = 0;

	for (size_t i = 0; i < e->nr_rows; i++) {
		const struct tally_row *row = e->rows[i];
		uint32_t nr_tasks = row->view[view].metric_members[metric].nr_tasks;

		if (!nr_tasks || (row->tid && row->tid == last_tid && i > 0))
			continue;
		last_tid = row->tid;
		nr += nr_tasks;
	}
	return nr;
}

static const struct family *family_of(enum stat_table_id id)
{
	switch (id) {
	case STAT_TABLE_WAKING:
		return &waking_family;
	case STAT_TABLE_SLEEP:
		return &sleep_family;
	case STAT_TABLE_SLICE:
		return &slice_family;
	default:
		return &delay_family;
	}
}

static void fill_durations(const struct stat_entry *e, enum tally_view_kind view,
                           const struct family *f, struct stat_durations *out)
{
	struct hist all = { 0 };

	for (uint32_t i = 0; i < f->nr; i++) {
		struct hist part = { 0 };

		add_metric(e, view, f->parts[i].metric, &part);
		hist_merge(&all, &part);
		out->parts[i].name = f->parts[i].name;
		out->parts[i].nr_tasks = count_tasks(e, view, f->parts[i].metric);
		stat_dist_of(&part, &out->parts[i].dist);
	}
	out->nr_parts = f->nr > 1 ? f->nr : 0;
	stat_dist_of(&all, &out->all);
}

int stat_build_durations(struct stat_build *b, struct stat_table *t)
{
	const struct family *f = family_of(t->id);
	int err = stat_rank_hists(b, t, add_family, f);

	for (size_t i = 0; !err && i < t->nr_rows; i++)
		fill_durations(b->cands[i].entry, b->in->view, f, &t->rows[i].durations);
	return err;
}

static void fill_slices(const struct stat_entry *e, enum tally_view_kind view,
                        struct stat_slices *out)
{
	struct hist voluntary = { 0 }, involuntary = { 0 };

	add_metric(e, view, STAT_SLICE_VOLUNTARY, &voluntary);
	add_metric(e, view, STAT_SLICE_INVOLUNTARY, &involuntary);
	stat_dist_of(&voluntary, &out->voluntary);
	stat_dist_of(&involuntary, &out->involuntary);
	hist_merge(&voluntary, &involuntary);
	stat_dist_of(&voluntary, &out->all);
	if (out->all.count)
		out->preempt_pct = 100.0 * (double)out->involuntary.count / (double)out->all.count;
	for (size_t i = 0; i < e->nr_rows; i++) {
		const struct tally_row *row = e->rows[i];

		out->run_ns += row->view[view].run_ns;
		if (row->open_slice_ns > out->open_ns) {
			out->open_ns = row->open_slice_ns;
			out->open_tid = row->open_slice_tid;
		}
	}
}

static uint64_t count_samples(const struct stat_entry *e, enum tally_view_kind view,
                              uint32_t metric)
{
	uint64_t count = 0;

	for (size_t i = 0; i < e->nr_rows; i++)
		if (e->rows[i]->view[view].hist[metric])
			count += e->rows[i]->view[view].hist[metric]->count;
	return count;
}

static bool has_open_slice(const struct stat_entry *e)
{
	for (size_t i = 0; i < e->nr_rows; i++)
		if (e->rows[i]->open_slice_ns)
			return true;
	return false;
}

static double slice_key(const struct stat_entry *e, const struct stat_report_in *in, uint64_t count)
{
	struct hist all = { 0 };

	if (in->sort == STAT_SORT_DEFAULT) {
		/* A task that never left its CPU has no finished slice: list it first. */
		if (!count)
			return HUGE_VAL;
		return (double)count_samples(e, in->view, STAT_SLICE_INVOLUNTARY) / (double)count;
	}
	add_family(e, in->view, &slice_family, &all);
	return stat_hist_key(&all, in->sort);
}

int stat_build_slices(struct stat_build *b, struct stat_table *t)
{
	enum tally_view_kind view = b->in->view;
	struct hist table = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < b->entries.nr; i++) {
		const struct stat_entry *e = &b->entries.items[i];
		uint64_t count = count_samples(e, view, STAT_SLICE_VOLUNTARY) +
		                 count_samples(e, view, STAT_SLICE_INVOLUNTARY);

		if (!count && !has_open_slice(e))
			continue;
		if (b->in->has_bins)
			add_family(e, view, &slice_family, &table);
		b->cands[nr++] = (struct stat_cand){
			.entry = e,
			.key = slice_key(e, b->in, count),
			.count = count,
		};
	}
	if (stat_rank(b, t, nr, NULL) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++)
		fill_slices(b->cands[i].entry, view, &t->rows[i].slices);
	return b->in->has_bins ? stat_bins_of_hist(b->mem, &table, &t->bins) : 0;
}
