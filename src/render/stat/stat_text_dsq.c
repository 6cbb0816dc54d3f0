/* Sections of stat_text about dispatch queues of sched_ext. */
#include <errno.h>

#include "render/stat/stat_text_priv.h"

#define US(ns) ((ns) / 1000)

static void add_mean(const struct stat_dist *d, struct table *tb)
{
	if (d->count)
		table_cell(tb, "%.1f", d->mean_ns / 1000.0);
	else
		table_cell(tb, "-");
}

static void add_ns(const struct stat_dist *d, uint64_t ns, struct table *tb)
{
	if (d->count)
		table_u64(tb, US(ns));
	else
		table_cell(tb, "-");
}

static void add_max_at(const struct stat_report *r, const struct stat_dsq_row *d, struct table *tb)
{
	char when[STAT_TEXT_TIME];

	if (!d->latency.count || !d->latency.max_at_ns) {
		table_cell(tb, "-");
		return;
	}
	stat_text_time(r, d->latency.max_at_ns, when);
	table_cell(tb, "%s cpu%u tid %u", when, d->latency.max_cpu, d->latency_max_tid);
}

/* Far apart: thousands of millions are as usual as tens. */
static void add_vtime(const struct dsq_vtime *v, struct table *tb)
{
	if (v->count)
		table_cell(tb, "%+.3g", (double)v->sum / (double)v->count);
	else
		table_cell(tb, "-");
}

static void add_queue(const struct stat_report *r, const struct stat_dsq_row *d, struct table *tb)
{
	table_cell(tb, "%s", d->name);
	add_ns(&d->latency, d->latency.p50_ns, tb);
	add_ns(&d->latency, d->latency.p90_ns, tb);
	add_ns(&d->latency, d->latency.p99_ns, tb);
	add_mean(&d->latency, tb);
	add_ns(&d->latency, d->latency.max_ns, tb);
	if (d->depth.count)
		table_u64(tb, d->depth.max);
	else
		table_cell(tb, "-");
	if (d->id != STAT_DSQ_LOCAL)
		table_u64(tb, d->nr_now);
	else
		table_cell(tb, "-");
	table_u64(tb, d->inserts);
	table_u64(tb, d->runs);
	table_cell(tb, "%llu/%llu", (unsigned long long)d->moved_in,
	           (unsigned long long)d->moved_out);
	add_mean(&d->given, tb);
	add_mean(&d->used, tb);
	add_vtime(&d->vtime, tb);
	add_max_at(r, d, tb);
}

int stat_text_dsqs(const struct stat_text *x, const struct stat_table *t)
{
	static const struct {
		const char *title;
		unsigned int width;
	} cols[] = {
		{ "DSQ", 10 },    { "p50", 8 },      { "p90", 8 },    { "p99", 8 },
		{ "MEAN", 8 },    { "MAX", 8 },      { "Q_MAX", 5 },  { "QUEUED", 6 },
		{ "INSERTS", 8 }, { "DISPATCH", 8 }, { "IN/OUT", 6 }, { "SLICE", 8 },
		{ "USED", 8 },    { "VTIME+", 8 },   { "MAX_AT", 0 },
	};
	struct table tb;
	int err;

	if (x->r->scx.scheduler)
		fprintf(x->out, "\n%s, %s\n", x->r->scx.scheduler,
		        x->r->scx.state ? x->r->scx.state : "?");
	else
		fputs("\nNo sched_ext scheduler is loaded; queues appear when one is\n", x->out);
	if (!t->nr_total)
		return 0;
	table_init(&tb, x->mem);
	for (size_t i = 0; i < sizeof(cols) / sizeof(cols[0]); i++)
		table_col(&tb, cols[i].title, cols[i].width);
	for (size_t i = 0; i < t->nr_rows; i++)
		add_queue(x->r, t->rows[i].dsq, &tb);
	err = table_print(&tb, 0, t->nr_rows, "  ", x->out);
	if (!err && t->nr_total > t->nr_rows)
		fprintf(x->out, "  ... and %zu more\n", t->nr_total - t->nr_rows);
	return err;
}

void stat_text_dsq_task_cols(struct table *tb)
{
	stat_text_dist_cols(tb);
	table_col(tb, "SLICE", 8);
	table_col(tb, "USED", 8);
	table_col(tb, "DSQ", 0);
}

static void add_share(uint64_t nr, uint64_t sum_ns, struct table *tb)
{
	if (nr)
		table_cell(tb, "%.1f", (double)sum_ns / (double)nr / 1000.0);
	else
		table_cell(tb, "-");
}

void stat_text_dsq_task_cells(const struct stat_row *row, struct table *tb)
{
	const struct stat_dsq_task *d = &row->dsq_task;

	table_u64(tb, US(d->latency.p50_ns));
	table_u64(tb, US(d->latency.p90_ns));
	table_u64(tb, US(d->latency.p99_ns));
	table_u64(tb, d->latency.count);
	add_mean(&d->latency, tb);
	table_u64(tb, US(d->latency.max_ns));
	add_share(d->runs.nr_given, d->runs.given_ns, tb);
	add_share(d->runs.nr_used, d->runs.used_ns, tb);
	table_cell(tb, "%s", d->dsq ? d->dsq : "-");
}
