#include <errno.h>
#include <stdlib.h>

#include "analyze/dsq_name.h"
#include "stat/report/stat_build.h"

struct queue_cand {
	const struct dsq_row *row;
	double key;
};

static const struct dsq_view *view_of(const struct dsq_row *row, const struct stat_report_in *in)
{
	return &row->view[in->view];
}

static int compare_queues(const void *pa, const void *pb, void *arg)
{
	const struct queue_cand *a = pa, *b = pb;
	const struct stat_report_in *in = arg;
	uint64_t na = view_of(a->row, in)->latency.count, nb = view_of(b->row, in)->latency.count;

	if (in->sort != STAT_SORT_NAME) {
		if (a->key > b->key || a->key < b->key)
			return a->key > b->key ? -1 : 1;
		if (na != nb)
			return na > nb ? -1 : 1;
	}
	return (a->row->id > b->row->id) - (a->row->id < b->row->id);
}

static char *name_of(struct arena *mem, uint64_t id)
{
	char name[DSQ_NAME];

	return arena_strdup(mem, dsq_name(id, name));
}

static int fill_queue(struct stat_build *b, const struct dsq_row *row, struct stat_dsq_row *out)
{
	const struct dsq_view *v = view_of(row, b->in);

	out->id = row->id;
	out->nr_now = row->nr_now;
	out->inserts = v->inserts;
	out->moved_in = v->moved_in;
	out->moved_out = v->moved_out;
	out->runs = v->runs;
	out->endless = v->endless;
	stat_dist_of(&v->latency, &out->latency);
	out->latency_max_tid = v->latency_max_tid;
	stat_dist_of(&v->given, &out->given);
	stat_dist_of(&v->used, &out->used);
	stat_values_of_depth(&v->depth, &out->depth);
	out->vtime = v->vtime;
	out->name = name_of(b->mem, row->id);
	return out->name ? 0 : -ENOMEM;
}

/* One that nothing happened to is shown as long as tasks are in it: they may be stuck. */
static bool is_shown(const struct dsq_row *row, const struct stat_report_in *in)
{
	const struct dsq_view *v = view_of(row, in);

	return v->inserts || v->runs || v->used.count || row->nr_now;
}

int stat_build_dsqs(struct stat_build *b, struct stat_table *t)
{
	const struct stat_report_in *in = b->in;
	struct queue_cand *cands = ARENA_ARRAY(b->mem, struct queue_cand, in->nr_dsqs);
	struct hist table = { 0 };
	struct stat_dsq_row *rows;
	size_t limit = stat_rank_limit(in, t);

	if (!cands)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_dsqs; i++) {
		const struct hist *latency = &view_of(in->dsqs[i], in)->latency;

		if (!is_shown(in->dsqs[i], in))
			continue;
		if (latency->count)
			hist_merge(&table, latency);
		cands[t->nr_total++] = (struct queue_cand){ in->dsqs[i],
			                                    stat_hist_key(latency, in->sort) };
	}
	qsort_r(cands, t->nr_total, sizeof(*cands), compare_queues, (void *)in);
	t->is_flat = true;
	t->nr_rows = t->nr_total < limit ? t->nr_total : limit;
	t->rows = ARENA_ARRAY(b->mem, struct stat_row, t->nr_rows);
	rows = ARENA_ARRAY(b->mem, struct stat_dsq_row, t->nr_rows);
	if (!t->rows || !rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		if (fill_queue(b, cands[i].row, &rows[i]) < 0)
			return -ENOMEM;
		t->rows[i].band = STAT_NO_BAND;
		t->rows[i].dsq = &rows[i];
	}
	return in->has_bins ? stat_bins_of_hist(b->mem, &table, &t->bins) : 0;
}

static void latency_of(const struct stat_entry *e, enum tally_view_kind view, const void *unused,
                       struct hist *into)
{
	(void)unused;
	for (size_t i = 0; i < e->nr_rows; i++)
		if (e->rows[i]->view[view].hist[STAT_DSQ_LATENCY])
			hist_merge(into, e->rows[i]->view[view].hist[STAT_DSQ_LATENCY]);
}

static int fill_task(struct stat_build *b, const struct stat_entry *e, struct stat_dsq_task *out)
{
	struct hist latency = { 0 };

	latency_of(e, b->in->view, NULL, &latency);
	stat_dist_of(&latency, &out->latency);
	for (size_t i = 0; i < e->nr_rows; i++) {
		const struct tally_runs *runs = &e->rows[i]->view[b->in->view].runs;

		out->runs.nr += runs->nr;
		out->runs.nr_given += runs->nr_given;
		out->runs.given_ns += runs->given_ns;
		out->runs.nr_used += runs->nr_used;
		out->runs.used_ns += runs->used_ns;
		if (!e->rows[i]->has_dsq)
			continue;
		out->has_dsq = true;
		out->dsq_id = e->rows[i]->dsq_id;
	}
	out->dsq = out->has_dsq ? name_of(b->mem, out->dsq_id) : NULL;
	return out->has_dsq && !out->dsq ? -ENOMEM : 0;
}

int stat_build_dsq_tasks(struct stat_build *b, struct stat_table *t)
{
	int err = stat_rank_hists(b, t, latency_of, NULL);

	for (size_t i = 0; !err && i < t->nr_rows; i++)
		err = fill_task(b, b->cands[i].entry, &t->rows[i].dsq_task);
	return err;
}
