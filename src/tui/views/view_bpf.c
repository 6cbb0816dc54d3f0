#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_program.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/views.h"

#define COST_HEIGHT 10 /* of the area, from which on the cost is drawn below the table */
#define COST_LABEL  34

/* The scheduler that it belongs to, or what else of the kernel it is an operation of. */
static const char *owner_of(const struct machine_bpf *p)
{
	if (p->is_sched_ext)
		return p->owner ? p->owner : "sched_ext";
	return p->struct_name ? p->struct_name : "-";
}

CELL(cell_owner)
{
	snprintf(out->text, sizeof(out->text), "%s", owner_of(row));
	out->style = ((const struct machine_bpf *)row)->is_sched_ext ? STYLE_KEY : STYLE_DIM;
}

CELL(cell_name)
{
	const struct machine_bpf *p = row;

	snprintf(out->text, sizeof(out->text), "%s", p->name && p->name[0] ? p->name : "-");
	if (p->is_sched_ext)
		out->style = STYLE_KEY;
}

CELL(cell_cpu)
{
	const struct machine_bpf *p = row;

	/* Programs cost little: two decimals. */
	if (p->cpu >= 0 && p->cpu < 0.09995)
		snprintf(out->text, sizeof(out->text), "%.2f", p->cpu * 100);
	else
		format_percent(out->text, p->cpu);
	out->style = p->cpu > 0 ? grid_band(p->cpu * 10) : STYLE_DIM;
}

CELL(cell_misses)
{
	const struct machine_bpf *p = row;

	format_count(out->text, (double)p->misses, s->is_localized);
	if (p->misses)
		out->style = STYLE_WARNING;
}

static const struct table_view_column columns[] = {
	{ "ID", 6, 0, 4, false, false, true, SORT_TID, 0,
	  CELL_OF(struct machine_bpf, id, NUMBER, NONE) },
	{ "NAME", 10, 24, 0, true, false, true, SORT_NAME, 0, .cell = cell_name },
	{ "TYPE", 12, 20, 5, true, false, false, 0, 0,
	  CELL_OF(struct machine_bpf, type, TEXT, DIM) },
	{ "SCHEDULER", 9, 20, 6, true, false, false, 0, 0, .cell = cell_owner },
	{ "CPU%", 6, 0, 1, false, false, true, SORT_RUN, 0, .cell = cell_cpu },
	{ "RUNS/s", 6, 0, 2, false, true, true, SORT_SWITCHES, 0,
	  CELL_OF(struct machine_bpf, runs_per_s, COUNT, NONE) },
	{ "PER RUN", 7, 0, 3, false, false, true, SORT_MAX, 0,
	  CELL_OF(struct machine_bpf, ns_per_run, NS, NONE) },
	{ "P50", 6, 0, 7, false, false, true, SORT_P50, 0,
	  CELL_OF(struct machine_bpf, p50_ns, NS, NONE) },
	{ "P99", 6, 0, 8, false, false, true, SORT_P99, 0,
	  CELL_OF(struct machine_bpf, p99_ns, NS, NONE) },
	{ "RUN TIME", 8, 0, 9, false, false, true, SORT_WAIT, 0,
	  CELL_OF(struct machine_bpf, run_ns, NS, NONE) },
	{ "RUNS", 6, 0, 10, false, true, false, 0, 0,
	  CELL_OF(struct machine_bpf, runs, COUNT, NONE) },
	{ "MISSES", 6, 0, 11, false, true, true, SORT_MIGRATIONS, 0, .cell = cell_misses },
	{ "INSNS", 6, 0, 13, false, true, false, 0, 0,
	  CELL_OF(struct machine_bpf, insns, COUNT, NONE) },
};

static const struct parts_sort sorts[] = {
	{ SORT_RUN, "CPU time" },      { SORT_SWITCHES, "runs a second" },
	{ SORT_MAX, "time per run" },  { SORT_P50, "p50" },
	{ SORT_P99, "p99" },           { SORT_WAIT, "run time so far" },
	{ SORT_MIGRATIONS, "misses" }, { SORT_TID, "id" },
	{ SORT_NAME, "name" },
};
#define NR_SORTS (sizeof(sorts) / sizeof(sorts[0]))

static double key_of(const struct machine_bpf *p, enum view_sort sort)
{
	switch (sort) {
	case SORT_TID:
		return p->id;
	case SORT_SWITCHES:
		return p->runs_per_s;
	case SORT_MAX:
		return p->ns_per_run;
	case SORT_P50:
		return p->p50_ns;
	case SORT_P99:
		return p->p99_ns;
	case SORT_WAIT:
		return (double)p->run_ns;
	case SORT_MIGRATIONS:
		return (double)p->misses;
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

/* The words that scxtop has for it mean what the kernel says, not what programs are called. */
static bool is_shown(const struct machine_bpf *p, const struct screen *s)
{
	char all[256];

	if (strcasecmp(s->filter, "sched_ext") == 0 || strcasecmp(s->filter, "scheduler") == 0)
		return p->is_sched_ext;
	snprintf(all, sizeof(all), "%s %s %s %u", p->name ? p->name : "", p->type ? p->type : "",
	         owner_of(p), p->id);
	return !s->filter[0] || strcasestr(all, s->filter);
}

static int rows(const struct machine *m, const struct screen *s)
{
	int nr = 0;

	for (size_t i = 0; i < m->nr_programs; i++)
		nr += is_shown(&m->programs[i], s);
	return nr;
}

static void title_of(const struct machine *m, const struct screen *s, int left,
                     char title[static 128])
{
	char number[FORMAT_BYTES], of[FORMAT_BYTES + 8] = "", cost[FORMAT_BYTES];
	double sum = NAN;

	for (size_t i = 0; i < m->nr_programs; i++)
		if (!isnan(m->programs[i].cpu))
			sum = (isnan(sum) ? 0 : sum) + m->programs[i].cpu;
	if (s->filter[0])
		snprintf(of, sizeof(of), "%s of ", format_count(number, left, s->is_localized));
	format_count(number, (double)m->nr_programs, s->is_localized);
	if (isnan(sum))
		snprintf(title, 128, " BPF programs %s%s, cost not measured ", of, number);
	else
		snprintf(title, 128, " BPF programs %s%s, %s%% of a CPU ", of, number,
		         format_percent(cost, sum));
}

/* What is left above it. */
static struct area draw_cost(const struct machine *m, struct grid *g, struct area a)
{
	int y = a.y + a.height - 1;

	if (!m->bpf || a.height < COST_HEIGHT)
		return a;
	if (m->bpf->refusal) {
		table_view_text(g, a.x, y, a.width, STYLE_WARNING, m->bpf->refusal);
		a.height--;
		return a;
	}
	if (isnan(m->bpf->cost))
		grid_text(g, a.x, y - 1, COST_LABEL, STYLE_TITLE, "BPF of all CPUs' time: -");
	else
		grid_printf(g, a.x, y - 1, COST_LABEL, STYLE_TITLE, "BPF %.2f%% of all CPUs' time",
		            m->bpf->cost * 100);
	if (m->bpf->cost_history.nr)
		grid_spark(g, a.x + COST_LABEL, y - 1, a.width - COST_LABEL,
		           (struct grid_series){ m->bpf->cost_history.values,
		                                 m->bpf->cost_history.nr, 0 },
		           STYLE_GOOD);
	table_view_text(g, a.x, y, a.width, STYLE_DIM,
	                "P50, P99: of the means of the last 100 intervals, not of single runs");
	a.height -= 2;
	return a;
}

static void draw_table(const void **all, int nr, struct screen *s, struct grid *g, struct area in)
{
	uint32_t *keys = calloc((size_t)nr + 1, sizeof(*keys));
	struct screen shown = *s;
	int height = table_view_height(in), left;

	if (!keys)
		return;
	shown.sort = parts_sort_of(sorts, NR_SORTS, s);
	qsort_r(all, (size_t)nr, sizeof(*all), by_key, &shown);
	for (int i = 0; i < nr; i++)
		keys[i] = ((const struct machine_bpf *)all[i])->id;
	table_view_follow(s, keys, nr, height);
	s->program = s->selected_tid;
	free(keys);
	left = nr - s->scroll;
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .rows = all + s->scroll,
	                                      .nr_rows = left < height ? left : height,
	                                      .first = s->scroll,
	                                      .total = nr,
	                                      .selected = s->selected },
	                &shown, g, in);
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const void **all = calloc(m->nr_programs + 1, sizeof(*all));
	char title[128], right[96];
	struct area in;
	int nr = 0;

	if (!all)
		return;
	for (size_t i = 0; i < m->nr_programs; i++)
		if (is_shown(&m->programs[i], s))
			all[nr++] = &m->programs[i];
	title_of(m, s, nr, title);
	parts_right(s, right, sizeof(right));
	in = panel_begin(g, a, title, right);
	in = draw_cost(m, g, in);
	draw_table(all, nr, s, g, in);
	free(all);
}

static bool act(const struct machine *m, struct screen *s, enum action action)
{
	(void)m;
	if (action == ACTION_ENTER)
		s->program_scroll = 0;
	return parts_sort_act(sorts, NR_SORTS, s, action);
}

const struct view view_bpf = {
	.id = "bpf",
	.title = "BPF",
	.state = "BpfPrograms",
	.what = "BPF programs and what they cost",
	.needs = MACHINE_BPF,
	.draw = draw,
	.act = act,
	.into = "BpfProgramDetail",
	.rows = rows,
};
