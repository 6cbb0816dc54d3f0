#include "tui/views/program_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/profile_pane.h"

#define BLIND_S 2.0 /* after so long without a sample the reason is shown */

struct op {
	const struct machine_bpf *program;
	double share; /* of what the scheduler takes */
};

CELL(cell_op)
{
	const struct machine_bpf *p = ((const struct op *)row)->program;

	snprintf(out->text, sizeof(out->text), "%s", p->op ? p->op : "?");
	out->style = STYLE_KEY;
}

CELL(cell_program)
{
	const struct machine_bpf *p = ((const struct op *)row)->program;

	snprintf(out->text, sizeof(out->text), "%u %s", p->id, p->name ? p->name : "");
	out->style = STYLE_DIM;
}

#define OP(member, ...) CELL_VIA(struct op, program, struct machine_bpf, member, __VA_ARGS__)
static const struct table_view_column op_columns[] = {
	{ "OPERATION", 10, 24, 0, true, false, false, 0, 0, .cell = cell_op },
	{ "PROGRAM", 10, 24, 5, true, false, false, 0, 0, .cell = cell_program },
	{ "RUNS", 6, 0, 4, false, true, false, 0, 0, OP(runs, COUNT, NONE) },
	{ "RUNS/s", 6, 0, 2, false, true, false, 0, 0, OP(runs_per_s, COUNT, NONE) },
	{ "PER RUN", 7, 0, 3, false, false, false, 0, 0, OP(ns_per_run, NS, NONE) },
	{ "% OF IT", 7, 0, 1, false, false, false, 0, 0, CELL_OF(struct op, share, PERCENT, NONE) },
};

static bool is_with(const struct machine_bpf *a, const struct machine_bpf *b)
{
	return a->is_sched_ext && (a->id == b->id || (a->owner_id && a->owner_id == b->owner_id));
}

int program_ops_nr(const struct machine *m, const struct machine_bpf *of)
{
	int nr = 0;

	for (size_t i = 0; i < m->nr_programs; i++)
		nr += is_with(&m->programs[i], of);
	return nr;
}

static int by_share(const void *a, const void *b)
{
	const struct op *x = *(const struct op *const *)a, *y = *(const struct op *const *)b;

	if (isnan(x->share) != isnan(y->share))
		return isnan(x->share) ? 1 : -1;
	if (x->share != y->share && !isnan(x->share))
		return x->share > y->share ? -1 : 1;
	return (x->program->id > y->program->id) - (x->program->id < y->program->id);
}

/* Those that belong together, with their shares; how many. */
static int collect_ops(const struct machine *m, const struct machine_bpf *of, struct op *ops,
                       const void **rows)
{
	double sum = 0;
	int nr = 0;

	for (size_t i = 0; i < m->nr_programs; i++) {
		if (!is_with(&m->programs[i], of))
			continue;
		ops[nr].program = &m->programs[i];
		rows[nr] = &ops[nr];
		nr++;
		if (m->programs[i].cpu > 0)
			sum += m->programs[i].cpu;
	}
	for (int i = 0; i < nr; i++)
		ops[i].share = sum > 0 ? ops[i].program->cpu / sum : NAN;
	qsort(rows, (size_t)nr, sizeof(*rows), by_share);
	return nr;
}

void program_ops_draw(const struct machine *m, const struct machine_bpf *of, const struct screen *s,
                      struct grid *g, struct area a)
{
	struct op *ops = calloc(m->nr_programs + 1, sizeof(*ops));
	const void **rows = calloc(m->nr_programs + 1, sizeof(*rows));
	int nr, selected = -1;

	if (ops && rows && a.height > 1) {
		nr = collect_ops(m, of, ops, rows);
		for (int i = 0; i < nr; i++)
			if (((const struct op *)rows[i])->program->id == of->id)
				selected = i;
		grid_printf(g, a.x, a.y, a.width, STYLE_TITLE, "operations of %s",
		            of->owner ? of->owner : "sched_ext");
		table_view_draw(&(struct table_view){ .columns = op_columns,
		                                      .nr_columns = sizeof(op_columns) /
		                                                    sizeof(op_columns[0]),
		                                      .rows = rows,
		                                      .nr_rows = nr,
		                                      .total = nr,
		                                      .selected = selected },
		                s, g, (struct area){ a.x, a.y + 1, a.width, a.height - 1 });
	}
	free(ops);
	free(rows);
}

struct hot_line {
	const struct machine_hot_line *line;
	const struct machine_hot *hot;
};

CELL(cell_line_share)
{
	const struct hot_line *l = row;
	double share = l->hot->total ? (double)l->line->total / (double)l->hot->total : NAN;

	format_percent(out->text, share);
	out->style = grid_band(share);
}

CELL(cell_line_calls)
{
	const struct machine_hot_line *l = ((const struct hot_line *)row)->line;

	format_count(out->text, (double)(l->total - l->samples), s->is_localized);
}

CELL(cell_line_function)
{
	const struct machine_hot_line *l = ((const struct hot_line *)row)->line;

	if (l->function)
		snprintf(out->text, sizeof(out->text), "%s", l->function);
	else
		snprintf(out->text, sizeof(out->text), "0x%" PRIx64, l->address);
	out->style = STYLE_KERNEL;
}

CELL(cell_line_place)
{
	const struct machine_hot_line *l = ((const struct hot_line *)row)->line;
	char place[PROFILE_PLACE_BYTES];

	snprintf(out->text, sizeof(out->text), "%s", profile_place(l->file, l->line, place));
}

CELL(cell_line_text)
{
	const char *text = ((const struct hot_line *)row)->line->text;

	/* The indentation says nothing here. */
	snprintf(out->text, sizeof(out->text), "%s", text ? text + strspn(text, " \t") : "-");
	out->style = STYLE_DIM;
}

static const struct table_view_column line_columns[] = {
	{ "%", 6, 0, 0, false, false, false, 0, 0, .cell = cell_line_share },
	{ "SAMPLES", 7, 0, 2, false, true, false, 0, 0,
	  CELL_VIA(struct hot_line, line, struct machine_hot_line, samples, COUNT, NONE) },
	{ "IN CALLS", 8, 0, 4, false, true, false, 0, 0, .cell = cell_line_calls },
	{ "FUNCTION", 10, 24, 3, true, false, false, 0, 0, .cell = cell_line_function },
	{ "WHERE", 10, 24, 1, true, false, false, 0, 0, .cell = cell_line_place },
	{ "SOURCE", 16, 100, 5, true, false, false, 0, 0, .cell = cell_line_text },
};

static void draw_lines(const struct machine_hot *hot, struct screen *s, struct grid *g,
                       struct area a)
{
	struct hot_line *lines = calloc(hot->nr_lines + 1, sizeof(*lines));
	const void **rows = calloc(hot->nr_lines + 1, sizeof(*rows));
	int nr = (int)hot->nr_lines, height = table_view_height(a), left;

	if (s->program_scroll > nr - height)
		s->program_scroll = nr > height ? nr - height : 0;
	for (int i = 0; lines && rows && i < nr; i++) {
		lines[i] = (struct hot_line){ &hot->lines[i], hot };
		rows[i] = &lines[i];
	}
	left = nr - s->program_scroll;
	if (lines && rows)
		table_view_draw(&(struct table_view){ .columns = line_columns,
		                                      .nr_columns = sizeof(line_columns) /
		                                                    sizeof(line_columns[0]),
		                                      .rows = rows + s->program_scroll,
		                                      .nr_rows = left < height ? left : height,
		                                      .first = s->program_scroll,
		                                      .total = nr,
		                                      .selected = -1 },
		                s, g, a);
	free(lines);
	free(rows);
}

static void draw_hot_title(const struct machine_hot *hot, const struct screen *s, struct grid *g,
                           struct area a)
{
	char in[FORMAT_BYTES], calls[FORMAT_BYTES], seen[FORMAT_BYTES], lost[FORMAT_BYTES];
	int x = a.x, end = a.x + a.width;

	if (hot->lost)
		x += grid_printf(g, x, a.y, end - x, STYLE_WARNING, "LOST %s ",
		                 format_count(lost, (double)hot->lost, s->is_localized));
	grid_printf(g, x, a.y, end - x, STYLE_TITLE,
	            "%s samples in it, %s in what it calls, of %s of all CPUs; %s %.0f Hz",
	            format_count(in, (double)hot->samples, s->is_localized),
	            format_count(calls, (double)(hot->total - hot->samples), s->is_localized),
	            format_count(seen, (double)hot->seen, s->is_localized),
	            hot->event ? hot->event : "", hot->hz);
}

void program_hot_draw(const struct machine_hot *hot, struct screen *s, struct grid *g,
                      struct area a)
{
	struct area rest = { a.x, a.y + 1, a.width, a.height - 1 };

	if (a.height <= 0)
		return;
	if (!hot) {
		table_view_text(g, a.x, a.y, a.width, STYLE_DIM,
		                s->is_program_hot ? "starting to sample ..."
		                                  : "p samples the program: where its time goes");
		return;
	}
	if (hot->refusal) {
		table_view_text(g, a.x, a.y, a.width, STYLE_WARNING, hot->refusal);
		return;
	}
	draw_hot_title(hot, s, g, a);
	if (hot->nr_lines)
		draw_lines(hot, s, g, rest);
	else if (rest.height > 0 && hot->why_event && hot->seconds > BLIND_S)
		table_view_text(g, rest.x, rest.y, rest.width, STYLE_DIM,
		                "none yet; a timer does not see code that runs with interrupts off");
}
