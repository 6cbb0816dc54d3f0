#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "machine/machine_bandwidth.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/views.h"

#define PANEL_MIN   5
#define LABEL_CELLS 8
#define VALUE_CELLS 6
#define SPLIT       70 /* from here on caches and nodes are side by side */

static const char *const kind_names[BANDWIDTHS] = { "local", "remote", "total", "L3 occupancy" };

struct bandwidth_row {
	const struct machine_bandwidth_row *row;
	const char *what; /* LLC, node */
};

static void label_of(const struct bandwidth_row *r, char *out, size_t size)
{
	if (r->row->id < 0)
		snprintf(out, size, "%s ?", r->what);
	else
		snprintf(out, size, "%s %d", r->what, r->row->id);
}

CELL(cell_name)
{
	label_of(row, out->text, sizeof(out->text));
}

#define RATE(kind)                                                        \
	CELL_VIA(struct bandwidth_row, row, struct machine_bandwidth_row, \
	         values[BANDWIDTH_##kind], BYTES, DIM_0)
static const struct table_view_column columns[] = {
	{ "", 7, 10, 0, true, false, false, 0, 0, .cell = cell_name },
	{ "LOCAL/s", 7, 0, 2, false, false, false, 0, 1U << BANDWIDTH_LOCAL, RATE(LOCAL) },
	{ "REMOTE/s", 8, 0, 3, false, false, false, 0, 1U << BANDWIDTH_REMOTE, RATE(REMOTE) },
	{ "TOTAL/s", 7, 0, 1, false, false, false, 0, 1U << BANDWIDTH_TOTAL, RATE(TOTAL) },
	{ "L3 HELD", 7, 0, 4, false, false, false, 0, 1U << BANDWIDTH_OCCUPANCY, RATE(OCCUPANCY) },
};

static int by_id(const void *a, const void *b)
{
	uint32_t first = (uint32_t)((const struct bandwidth_row *)a)->row->id;
	uint32_t second = (uint32_t)((const struct bandwidth_row *)b)->row->id;

	return (first > second) - (first < second); /* -1 comes last */
}

/* Those of one kind, in the order of their numbers. */
static void sort_rows(const struct machine_bandwidth_row *from, size_t nr, const char *what,
                      struct bandwidth_row *to)
{
	for (size_t i = 0; i < nr; i++)
		to[i] = (struct bandwidth_row){ &from[i], what };
	qsort(to, nr, sizeof(*to), by_id);
}

static int rows(const struct machine *m, const struct screen *s)
{
	const struct machine_bandwidth *b = m->bandwidth;

	return b && !b->reason && s->shape == SHAPE_TABLE ? (int)(b->nr_llcs + b->nr_nodes) : 0;
}

static void draw_table(const struct machine_bandwidth *b, const struct bandwidth_row *all,
                       struct screen *s, struct grid *g, struct area a)
{
	int height = table_view_height(a), total = (int)(b->nr_llcs + b->nr_nodes), nr;
	const void **shown = calloc((size_t)height + 1, sizeof(*shown));
	unsigned int has = 0;

	table_view_scroll(s, total, height);
	nr = total - s->scroll < height ? total - s->scroll : height;
	for (int i = 0; shown && i < nr; i++)
		shown[i] = &all[s->scroll + i];
	for (int k = 0; k < BANDWIDTHS; k++)
		has |= b->has[k] ? 1U << k : 0;
	if (shown)
		table_view_draw(
			&(struct table_view){ .columns = columns,
		                              .nr_columns = sizeof(columns) / sizeof(columns[0]),
		                              .has = has,
		                              .rows = shown,
		                              .nr_rows = nr,
		                              .first = s->scroll,
		                              .total = total,
		                              .selected = s->shape == SHAPE_TABLE ? s->selected
		                                                                  : -1 },
			s, g, a);
	free(shown);
}

static int by_value(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;

	return (first > second) - (first < second);
}

/* Over the rows and what is remembered of them. */
static struct panel_stats {
	double sum; /* of now */
	double max, p95, mean;
} stats_of(const struct bandwidth_row *r, size_t nr, int kind)
{
	struct panel_stats st = { NAN, NAN, NAN, NAN };
	double *values = calloc(nr * MACHINE_HISTORY + 1, sizeof(*values)), sum = 0;
	size_t used = 0;

	for (size_t i = 0; values && i < nr; i++) {
		struct machine_history h = r[i].row->histories[kind];

		if (!isnan(r[i].row->values[kind]))
			st.sum = (isnan(st.sum) ? 0 : st.sum) + r[i].row->values[kind];
		for (uint32_t k = 0; k < h.nr && k < MACHINE_HISTORY; k++) {
			values[used++] = h.values[k];
			sum += h.values[k];
		}
	}
	if (used) {
		qsort(values, used, sizeof(*values), by_value);
		st.max = values[used - 1];
		st.p95 = values[percentile_rank(used, 9500) - 1];
		st.mean = sum / (double)used;
	}
	free(values);
	return st;
}

static void title_of(const struct panel_stats *st, const char *what, int kind, char out[static 128])
{
	const char *per = kind == BANDWIDTH_OCCUPANCY ? "" : "/s";
	char sum[FORMAT_BYTES], max[FORMAT_BYTES], p95[FORMAT_BYTES], mean[FORMAT_BYTES];

	snprintf(out, 128, " %s %s %s%s  max %s p95 %s avg %s ", what, kind_names[kind],
	         format_bytes(sum, st->sum), per, format_bytes(max, st->max),
	         format_bytes(p95, st->p95), format_bytes(mean, st->mean));
}

static void draw_gauge(const struct bandwidth_row *r, int kind, double max, const struct screen *s,
                       struct grid *g, struct area a)
{
	struct machine_history h = r->row->histories[kind];
	char label[32], value[FORMAT_BYTES];
	int bar = a.width - LABEL_CELLS - VALUE_CELLS - 2;

	label_of(r, label, sizeof(label));
	grid_text(g, a.x, a.y, LABEL_CELLS, STYLE_DIM, label);
	grid_right(g, a.x + a.width - VALUE_CELLS, a.y, VALUE_CELLS, STYLE_TEXT,
	           format_bytes(value, r->row->values[kind]));
	if (bar <= 0)
		return;
	if (s->shape == SHAPE_SPARKS)
		grid_spark(g, a.x + LABEL_CELLS + 1, a.y, bar,
		           (struct grid_series){ h.values, h.nr, max > 0 ? max : 0 }, STYLE_TEXT);
	else
		grid_bar(g, a.x + LABEL_CELLS + 1, a.y, bar,
		         max > 0 ? r->row->values[kind] / max : NAN, STYLE_TEXT);
}

static void draw_panel(const struct bandwidth_row *r, size_t nr, int kind, const struct screen *s,
                       struct grid *g, struct area a)
{
	struct panel_stats st = stats_of(r, nr, kind);
	char title[128];
	struct area in;

	title_of(&st, nr ? r[0].what : "node", kind, title);
	in = panel_begin(g, a, title, NULL);
	for (size_t i = 0; i < nr && (int)i < in.height; i++) {
		/* The last line counts those that do not fit. */
		if ((int)i + 1 == in.height && i + 1 < nr) {
			grid_printf(g, in.x, in.y + (int)i, in.width, STYLE_DIM,
			            "and %zu more: v shows the table", nr - i);
			return;
		}
		draw_gauge(&r[i], kind, st.max, s, g,
		           (struct area){ in.x, in.y + (int)i, in.width, 1 });
	}
}

static int nr_kinds(const struct machine_bandwidth *b)
{
	int nr = 0;

	for (int k = 0; k < BANDWIDTHS; k++)
		nr += b->has[k];
	return nr;
}

/* A line of panels for each kind, caches at the left and nodes at the right. */
static void draw_panels(const struct machine_bandwidth *b, const struct bandwidth_row *all,
                        const struct screen *s, struct grid *g, struct area a)
{
	int kinds = nr_kinds(b), seen = 0;
	int left = a.width >= SPLIT && b->nr_nodes ? a.width / 2 : a.width;

	for (int k = 0; k < BANDWIDTHS; k++) {
		int y = a.y + a.height * seen / kinds, end;

		if (!b->has[k])
			continue;
		end = a.y + a.height * ++seen / kinds;
		draw_panel(all, b->nr_llcs, k, s, g, (struct area){ a.x, y, left, end - y });
		if (left < a.width)
			draw_panel(all + b->nr_llcs, b->nr_nodes, k, s, g,
			           (struct area){ a.x + left, y, a.width - left, end - y });
	}
}

static void header_of(const struct machine_bandwidth *b, char out[static 128])
{
	static const char *const names[BANDWIDTHS] = { "local_bw", NULL, "total_bw", "occupancy" };
	size_t at = (size_t)snprintf(out, 128, " Bandwidth: resctrl [");

	for (int k = 0; k < BANDWIDTHS; k++)
		if (b->has[k] && names[k])
			at += (size_t)snprintf(out + at, 128 - at, "%s%s",
			                       out[at - 1] == '[' ? "" : ",", names[k]);
	snprintf(out + at, 128 - at, "], %u group%s ", b->nr_groups, b->nr_groups == 1 ? "" : "s");
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_bandwidth *b = m->bandwidth;
	char title[128], right[96];
	struct bandwidth_row *all;

	if (!b || b->reason) {
		parts_sentence(g, panel_begin(g, a, " Bandwidth ", NULL), STYLE_DIM,
		               b ? b->reason : "memory bandwidth is not measured here");
		return;
	}
	all = calloc(b->nr_llcs + b->nr_nodes + 1, sizeof(*all));
	if (!all)
		return;
	sort_rows(b->llcs, b->nr_llcs, "LLC", all);
	sort_rows(b->nodes, b->nr_nodes, "node", all + b->nr_llcs);
	header_of(b, title);
	parts_right(s, right, sizeof(right));
	if (b->note && a.height > PANEL_MIN) {
		table_view_text(g, a.x, a.y + a.height - 1, a.width, STYLE_WARNING, b->note);
		a.height--;
	}
	if (s->shape == SHAPE_TABLE || a.height < 1 + nr_kinds(b) * PANEL_MIN) {
		draw_table(b, all, s, g, panel_begin(g, a, title, right));
	} else {
		table_view_text(g, a.x, a.y, a.width, STYLE_TITLE, title + 1);
		draw_panels(b, all, s, g, (struct area){ a.x, a.y + 1, a.width, a.height - 1 });
	}
	free(all);
}

const struct view view_bandwidth = {
	.id = "bandwidth",
	.title = "Bandwidth",
	.state = "Bandwidth",
	.what = "memory traffic and the use of caches, by cache and node (resctrl)",
	.needs = MACHINE_CPUS | MACHINE_BANDWIDTH,
	.draw = draw,
	.rows = rows,
};
