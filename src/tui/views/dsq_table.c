#include "tui/views/dsq_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/dsq_name.h"
#include "machine/machine_scx.h"
#include "tui/format.h"
#include "tui/table_view.h"

static enum style band_of(const struct machine_dist *d)
{
	static const uint64_t limits_ns[] = { 10000, 100000, 1000000, 10000000 };
	int band = 0;

	if (!d->count)
		return STYLE_DIM;
	while (band < 4 && d->p90_ns >= limits_ns[band])
		band++;
	return (enum style)(STYLE_GOOD + band);
}

static void put_ns(struct table_view_cell *out, const struct machine_dist *d, uint64_t ns)
{
	format_ns(out->text, d->count ? (double)ns : NAN);
	out->style = d->count ? STYLE_TEXT : STYLE_DIM;
}

static void put_p90(struct table_view_cell *out, const struct machine_dist *d)
{
	put_ns(out, d, d->p90_ns);
	out->style = band_of(d);
}

CELL(cell_id)
{
	const struct machine_dsq *d = row;

	dsq_name(d->id, out->text);
	out->style = band_of(&d->latency);
}

CELL(cell_p90)
{
	put_p90(out, &((const struct machine_dsq *)row)->latency);
}

CELL(cell_depth_max)
{
	const struct machine_dsq *d = row;

	format_count(out->text, d->depth_max ? (double)d->depth_max : NAN, s->is_localized);
}

/* May be below 0. */
CELL(cell_vtime)
{
	double delta = ((const struct machine_dsq *)row)->vtime_delta;
	char number[FORMAT_BYTES];

	snprintf(out->text, sizeof(out->text), "%s%s", delta < 0 ? "-" : "",
	         format_count(number, fabs(delta), s->is_localized));
}

static const struct table_view_column columns[] = {
	{ "DSQ", 10, 20, 0, true, false, true, SORT_TID, 0, .cell = cell_id },
	{ "P50", 6, 0, 4, false, false, true, SORT_P50, 0,
	  CELL_OF_DIST(struct machine_dsq, latency, p50_ns, DIM_UNKNOWN) },
	{ "P90", 6, 0, 5, false, false, false, 0, 0, .cell = cell_p90 },
	{ "P99", 6, 0, 1, false, false, true, SORT_P99, 0,
	  CELL_OF_DIST(struct machine_dsq, latency, p99_ns, DIM_UNKNOWN) },
	{ "AVG", 6, 0, 2, false, false, true, SORT_RUN, 0,
	  CELL_OF_DIST(struct machine_dsq, latency, mean_ns, NONE) },
	{ "MAX", 6, 0, 3, false, false, true, SORT_MAX, 0,
	  CELL_OF_DIST(struct machine_dsq, latency, max_ns, DIM_UNKNOWN) },
	{ "Q_MAX", 5, 0, 6, false, true, false, 0, 0, .cell = cell_depth_max },
	{ "COUNT", 6, 0, 7, false, true, false, 0, 0,
	  CELL_OF(struct machine_dsq, latency.count, COUNT, NONE) },
	{ "DEPTH", 5, 0, 8, false, true, false, 0, 0,
	  CELL_OF(struct machine_dsq, depth, COUNT, NONE) },
	{ "INS/s", 6, 0, 12, false, true, false, 0, 0,
	  CELL_OF(struct machine_dsq, inserts_per_s, COUNT, NONE) },
	{ "DISP/s", 6, 0, 9, false, true, true, SORT_SWITCHES, 0,
	  CELL_OF(struct machine_dsq, dispatches_per_s, COUNT, NONE) },
	{ "SLICE", 6, 0, 11, false, false, false, 0, 0,
	  CELL_OF(struct machine_dsq, slice_ns, NS, NONE) },
	{ "USED", 6, 0, 10, false, false, false, 0, 0,
	  CELL_OF(struct machine_dsq, used_ns, NS, NONE) },
	{ "VTIME+", 6, 0, 13, false, true, false, 0, 0, .cell = cell_vtime },
	{ "BEHIND%", 7, 0, 14, false, false, false, 0, 0,
	  CELL_OF(struct machine_dsq, behind, PERCENT, NONE) },
};

CELL(task_comm)
{
	const struct machine_scx_task *t = row;

	snprintf(out->text, sizeof(out->text), "%.*s", (int)sizeof(t->comm), t->comm);
}

CELL(task_dsq)
{
	dsq_name(((const struct machine_scx_task *)row)->dsq, out->text);
}

CELL(task_cpu)
{
	int32_t cpu = ((const struct machine_scx_task *)row)->last_cpu;

	if (cpu < 0)
		snprintf(out->text, sizeof(out->text), "-");
	else
		snprintf(out->text, sizeof(out->text), "%" PRId32, cpu);
}

CELL(task_p90)
{
	put_p90(out, &((const struct machine_scx_task *)row)->latency);
}

static const struct table_view_column task_columns[] = {
	{ "PID", 7, 0, 1, false, false, false, 0, 0,
	  CELL_OF(struct machine_scx_task, tid, NUMBER, NONE) },
	{ "COMM", 8, 16, 0, true, false, false, 0, 0, .cell = task_comm },
	{ "DSQ", 8, 20, 3, true, false, false, 0, 0, .cell = task_dsq },
	{ "CPU", 4, 0, 8, false, false, false, 0, 0, .cell = task_cpu },
	{ "P50", 6, 0, 5, false, false, false, 0, 0,
	  CELL_OF_DIST(struct machine_scx_task, latency, p50_ns, DIM_UNKNOWN) },
	/* Always in this order. */
	{ "P90", 6, 0, 2, false, false, true, SORTS, 0, .cell = task_p90 },
	{ "P99", 6, 0, 4, false, false, false, 0, 0,
	  CELL_OF_DIST(struct machine_scx_task, latency, p99_ns, DIM_UNKNOWN) },
	{ "SLICE", 6, 0, 9, false, false, false, 0, 0,
	  CELL_OF(struct machine_scx_task, slice_ns, NS, NONE) },
	{ "USED", 6, 0, 7, false, false, false, 0, 0,
	  CELL_OF(struct machine_scx_task, used_ns, NS, NONE) },
	{ "COUNT", 6, 0, 6, false, true, false, 0, 0,
	  CELL_OF(struct machine_scx_task, latency.count, COUNT, NONE) },
};

struct dsq_table_rows {
	const struct table_view_column *columns;
	size_t nr_columns;
	enum view_sort sort;
	const void *const *items;
	int nr;
};

static void draw_rows(const struct dsq_table_rows *r, struct screen *s, bool has_focus,
                      struct grid *g, struct area a)
{
	int height = table_view_height(a), first = 0;
	struct screen shown;

	if (has_focus) {
		table_view_scroll(s, r->nr, height);
		first = s->scroll;
	}
	shown = *s;
	shown.sort = r->sort;
	table_view_draw(&(struct table_view){ .columns = r->columns,
	                                      .nr_columns = r->nr_columns,
	                                      .rows = r->items + first,
	                                      .nr_rows = r->nr - first < height ? r->nr - first
	                                                                        : height,
	                                      .first = first,
	                                      .total = r->nr,
	                                      .selected = has_focus ? s->selected : -1 },
	                &shown, g, a);
}

void dsq_table_draw(const struct dsq_list *l, struct screen *s, bool has_focus, struct grid *g,
                    struct area a)
{
	const struct dsq_table_rows r = { columns, sizeof(columns) / sizeof(columns[0]),
		                          dsq_list_sort(s->sort), l->rows, l->nr };

	draw_rows(&r, s, has_focus, g, a);
}

static int by_p90(const void *a, const void *b)
{
	const struct machine_scx_task *first = *(const struct machine_scx_task *const *)a;
	const struct machine_scx_task *second = *(const struct machine_scx_task *const *)b;

	if (first->latency.p90_ns != second->latency.p90_ns)
		return first->latency.p90_ns > second->latency.p90_ns ? -1 : 1;
	return (first->tid > second->tid) - (first->tid < second->tid);
}

int dsq_table_nr_tasks(const struct machine *m, const struct screen *s)
{
	int nr = 0;

	for (size_t i = 0; m->scx && i < m->scx->nr_tasks; i++)
		nr += dsq_list_is_shown(m->scx->tasks[i].dsq, s);
	return nr;
}

void dsq_table_draw_tasks(const struct machine *m, struct screen *s, bool has_focus, struct grid *g,
                          struct area a)
{
	const void **rows = calloc(m->scx->nr_tasks + 1, sizeof(*rows));
	int nr = 0;

	if (!rows)
		return;
	for (size_t i = 0; i < m->scx->nr_tasks; i++)
		if (dsq_list_is_shown(m->scx->tasks[i].dsq, s))
			rows[nr++] = &m->scx->tasks[i];
	qsort(rows, (size_t)nr, sizeof(*rows), by_p90);
	draw_rows(&(struct dsq_table_rows){ task_columns,
	                                    sizeof(task_columns) / sizeof(task_columns[0]), SORTS,
	                                    rows, nr },
	          s, has_focus, g, a);
	if (!nr)
		grid_text(g, a.x, a.y + 1, a.width, STYLE_DIM,
		          m->scx->nr_tasks
		                  ? "no process was dispatched from such a queue"
		                  : "no process was dispatched from a queue in this interval");
	free(rows);
}
