#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/format.h"
#include "tui/parts.h"
#include "tui/table_view.h"
#include "tui/views.h"

#define CELL(name) \
	static void name(const void *row, const struct screen *s, struct table_view_cell *out)

CELL(cell_id)
{
	(void)s;
	snprintf(out->text, sizeof(out->text), "%u", ((const struct machine_bpf *)row)->id);
}

CELL(cell_type)
{
	const char *type = ((const struct machine_bpf *)row)->type;

	(void)s;
	snprintf(out->text, sizeof(out->text), "%s", type ? type : "?");
	out->style = STYLE_DIM;
}

CELL(cell_name)
{
	const struct machine_bpf *p = row;

	(void)s;
	snprintf(out->text, sizeof(out->text), "%s", p->name && p->name[0] ? p->name : "-");
	if (p->type && strcmp(p->type, "struct_ops") == 0)
		out->style = STYLE_KEY;
}

CELL(cell_cpu)
{
	const struct machine_bpf *p = row;

	(void)s;
	/* Programs cost little: two decimals. */
	if (p->cpu >= 0 && p->cpu < 0.09995)
		snprintf(out->text, sizeof(out->text), "%.2f", p->cpu * 100);
	else
		format_percent(out->text, p->cpu);
	out->style = p->cpu > 0 ? grid_band(p->cpu * 10) : STYLE_DIM;
}

CELL(cell_ns)
{
	(void)s;
	format_ns(out->text, ((const struct machine_bpf *)row)->ns_per_run);
}

CELL(cell_runs)
{
	format_count(out->text, ((const struct machine_bpf *)row)->runs_per_s, s->is_localized);
}

CELL(cell_insns)
{
	format_count(out->text, ((const struct machine_bpf *)row)->insns, s->is_localized);
}

static const struct table_view_column columns[] = {
	{ "ID", 6, 0, 4, false, false, true, SORT_TID, 0, cell_id },
	{ "NAME", 10, 24, 0, true, false, true, SORT_NAME, 0, cell_name },
	{ "TYPE", 12, 20, 5, true, false, false, 0, 0, cell_type },
	{ "CPU%", 6, 0, 1, false, false, true, SORT_RUN, 0, cell_cpu },
	{ "RUNS/s", 6, 0, 2, false, true, true, SORT_SWITCHES, 0, cell_runs },
	{ "PER RUN", 7, 0, 3, false, false, true, SORT_P50, 0, cell_ns },
	{ "INSNS", 6, 0, 6, false, true, false, 0, 0, cell_insns },
};

static double key_of(const struct machine_bpf *p, enum view_sort sort)
{
	switch (sort) {
	case SORT_TID:
		return p->id;
	case SORT_SWITCHES:
		return p->runs_per_s;
	case SORT_P50:
		return p->ns_per_run;
	default:
		return p->cpu;
	}
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct machine_bpf *first = *(const struct machine_bpf *const *)a;
	const struct machine_bpf *second = *(const struct machine_bpf *const *)b;
	const struct screen *s = arg;
	double x = key_of(first, s->sort), y = key_of(second, s->sort);
	int way = s->is_ascending ? 1 : -1;

	if (s->sort == SORT_NAME) {
		int names = strcmp(first->name ? first->name : "",
		                   second->name ? second->name : "");

		return names ? way * names : (first->id > second->id) - (first->id < second->id);
	}
	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (x != y && !isnan(x))
		return x < y ? -way : way;
	return (first->id > second->id) - (first->id < second->id);
}

static bool is_left(const struct machine_bpf *p, const struct screen *s)
{
	char id[16];

	snprintf(id, sizeof(id), "%u", p->id);
	return !s->filter[0] || (p->name && strcasestr(p->name, s->filter)) ||
	       (p->type && strcasestr(p->type, s->filter)) ||
	       strncmp(id, s->filter, strlen(s->filter)) == 0;
}

static int rows(const struct machine *m, const struct screen *s)
{
	int nr = 0;

	for (size_t i = 0; i < m->nr_programs; i++)
		nr += is_left(&m->programs[i], s);
	return nr;
}

static void title_of(const struct machine *m, const struct screen *s, char title[static 128])
{
	char number[FORMAT_BYTES], cost[FORMAT_BYTES];
	double sum = NAN;

	for (size_t i = 0; i < m->nr_programs; i++)
		if (!isnan(m->programs[i].cpu))
			sum = (isnan(sum) ? 0 : sum) + m->programs[i].cpu;
	format_count(number, (double)m->nr_programs, s->is_localized);
	if (isnan(sum))
		snprintf(title, 128, " BPF programs %s, cost not measured ", number);
	else
		snprintf(title, 128, " BPF programs %s, %s%% of a CPU ", number,
		         format_percent(cost, sum));
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const void **all = calloc(m->nr_programs + 1, sizeof(*all));
	struct screen shown;
	char title[128], right[96];
	int height, nr = 0;
	struct area in;

	if (!all)
		return;
	title_of(m, s, title);
	parts_right(s, right, sizeof(right));
	in = panel_begin(g, a, title, right);
	height = table_view_height(in);
	for (size_t i = 0; i < m->nr_programs; i++)
		if (is_left(&m->programs[i], s))
			all[nr++] = &m->programs[i];
	table_view_scroll(s, nr, height);
	shown = *s;
	if (shown.sort != SORT_TID && shown.sort != SORT_NAME && shown.sort != SORT_SWITCHES &&
	    shown.sort != SORT_P50)
		shown.sort = SORT_RUN; /* programs have nothing else */
	qsort_r(all, (size_t)nr, sizeof(*all), by_key, &shown);
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .rows = all + s->scroll,
	                                      .nr_rows = nr - s->scroll < height ? nr - s->scroll
	                                                                         : height,
	                                      .first = s->scroll,
	                                      .total = nr,
	                                      .selected = s->selected },
	                &shown, g, in);
	free(all);
}

const struct view view_bpf = {
	.id = "bpf",
	.title = "BPF",
	.state = "BpfPrograms",
	.what = "BPF programs and what they cost",
	.needs = MACHINE_BPF,
	.draw = draw,
	.rows = rows,
};
