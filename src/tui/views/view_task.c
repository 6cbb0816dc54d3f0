#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "machine/machine_ledger.h"
#include "machine/machine_zoom.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/task_list.h"
#include "tui/views/ledger_panel.h"
#include "tui/views/parts.h"
#include "tui/views/task_table.h"
#include "tui/views/views.h"
#include "tui/views/zoom_panel.h"

#define FACT_CELLS  11
#define BAR_LOW_NS  1e3
#define BAR_DECADES 6 /* from 1 us to 1 s */
#define CHART_MIN   3
#define CHART_MOST  8
#define OTHERS_MIN  7
#define FACTS_LINES 17 /* facts, counts and distributions, with a frame; a zoom has one more */
#define SHORT_LINES 9  /* distributions and what is most important */
#define LEAST_LINES 7  /* distributions */
#define WIDE        160
#define SIDE_MIN    30 /* cells that tables need */

static const struct machine_task *find(const struct machine_task *tasks, size_t nr, uint32_t tid)
{
	for (size_t i = 0; i < nr; i++)
		if (tasks[i].tid == tid)
			return &tasks[i];
	return NULL;
}

/* Where processes are listed, that is what was selected; else a thread. */
static const struct machine_task *task_of(const struct machine *m, const struct screen *s)
{
	const struct machine_task *t = NULL;

	if (!s->process)
		t = find(m->processes, m->nr_processes, s->selected_tid);
	return t ? t : find(m->threads, m->nr_threads, s->selected_tid);
}

static int draw_fact(struct grid *g, struct area a, int line, const char *name, const char *value)
{
	if (line >= a.height || !value || !value[0])
		return line;
	grid_text(g, a.x, a.y + line, FACT_CELLS, STYLE_DIM, name);
	table_view_text(g, a.x + FACT_CELLS, a.y + line, a.width - FACT_CELLS, STYLE_TEXT, value);
	return line + 1;
}

/* As the table of tasks has it in NI. */
static const char *priority_of(const struct machine_task *t, char out[static FORMAT_BYTES])
{
	if (t->prio == MACHINE_NO_PRIO)
		snprintf(out, FORMAT_BYTES, "priority ?");
	else if (t->prio < 0)
		snprintf(out, FORMAT_BYTES, "deadline");
	else if (t->prio < 100)
		snprintf(out, FORMAT_BYTES, "real-time priority %d", 99 - t->prio);
	else
		snprintf(out, FORMAT_BYTES, "nice %d", t->prio - 120);
	return out;
}

static int draw_facts(const struct machine_task *t, struct grid *g, struct area a)
{
	char text[160], priority[FORMAT_BYTES], run[FORMAT_BYTES], wait[FORMAT_BYTES];
	int line = 0;

	snprintf(text, sizeof(text), "%c, %s, %s, %u thread%s", t->state,
	         t->class_name ? t->class_name : "class ?", priority_of(t, priority), t->nr_threads,
	         t->nr_threads == 1 ? "" : "s");
	line = draw_fact(g, a, line, "state", text);
	snprintf(text, sizeof(text), "run %s%s  wait %s%s", format_percent(run, t->run),
	         isnan(t->run) ? "" : "%", format_percent(wait, t->wait),
	         isnan(t->wait) ? "" : "%");
	line = draw_fact(g, a, line, "time", text);
	if (t->last_cpu >= 0)
		snprintf(text, sizeof(text), "%d", t->last_cpu);
	else
		snprintf(text, sizeof(text), "-");
	line = draw_fact(g, a, line, "last CPU", text);
	if (t->has_dsq) {
		snprintf(text, sizeof(text), "0x%" PRIx64, t->dsq);
		line = draw_fact(g, a, line, "queue", text);
	}
	if (t->layer >= 0) {
		snprintf(text, sizeof(text), "%" PRId64, t->layer);
		line = draw_fact(g, a, line, "layer", text);
	}
	line = draw_fact(g, a, line, "cgroup", t->cgroup);
	return draw_fact(g, a, line, "command", t->cmdline);
}

static int draw_counts(const struct machine_task *t, const struct screen *s, struct grid *g,
                       struct area a)
{
	char text[160], first[FORMAT_BYTES], second[FORMAT_BYTES], third[FORMAT_BYTES];
	int line;

	snprintf(text, sizeof(text), "%s voluntary, %s involuntary /s",
	         format_count(first, t->voluntary_per_s, s->is_localized),
	         format_count(second, t->involuntary_per_s, s->is_localized));
	line = draw_fact(g, a, 0, "switches", text);
	snprintf(text, sizeof(text), "%s, across LLCs %s, nodes %s /s",
	         format_count(first, t->migrations_per_s, s->is_localized),
	         format_count(second, t->llc_migrations_per_s, s->is_localized),
	         format_count(third, t->node_migrations_per_s, s->is_localized));
	return draw_fact(g, a, line, "migrations", text);
}

struct dist_row {
	const char *name;
	const struct machine_dist *dist;
};

CELL(cell_bar)
{
	const struct machine_dist *d = ((const struct dist_row *)row)->dist;

	out->bar = 0;
	out->style = STYLE_USER;
	if (d->count && (double)d->p99_ns > BAR_LOW_NS)
		out->bar = log10((double)d->p99_ns / BAR_LOW_NS) / BAR_DECADES;
}

static const struct table_view_column columns[] = {
	{ "", 9, 13, 0, true, false, false, 0, 0, CELL_OF(struct dist_row, name, TEXT, DIM) },
	{ "P50", 6, 0, 3, false, false, false, 0, 0,
	  CELL_VIA_DIST(struct dist_row, dist, p50_ns, DIM_UNKNOWN) },
	{ "P99", 6, 0, 1, false, false, false, 0, 0,
	  CELL_VIA_DIST(struct dist_row, dist, p99_ns, DIM_UNKNOWN) },
	{ "MAX", 6, 0, 2, false, false, false, 0, 0,
	  CELL_VIA_DIST(struct dist_row, dist, max_ns, DIM_UNKNOWN) },
	{ "MEAN", 6, 0, 5, false, false, false, 0, 0,
	  CELL_VIA_DIST(struct dist_row, dist, mean_ns, DIM_UNKNOWN) },
	{ "COUNT", 6, 0, 4, false, true, false, 0, 0,
	  CELL_VIA(struct dist_row, dist, struct machine_dist, count, COUNT, NONE) },
	{ "P99, 1us..1s", 12, 60, 6, true, false, false, 0, 0, .cell = cell_bar },
};

static void draw_dists(const struct machine_task *t, const struct screen *s, struct grid *g,
                       struct area a)
{
	const struct dist_row dists[] = {
		{ "wakeup wait", &t->latency },
		{ "preempt wait", &t->preempted },
		{ "slice", &t->slice },
		{ "sleep", &t->sleep },
	};
	const void *rows[] = { &dists[0], &dists[1], &dists[2], &dists[3] };

	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .rows = rows,
	                                      .nr_rows = 4,
	                                      .selected = -1 },
	                s, g, (struct area){ a.x, a.y, a.width, a.height < 5 ? a.height : 5 });
}

static void draw_history(const struct machine *m, const struct machine_task *t, struct grid *g,
                         struct area a)
{
	char title[64], most[FORMAT_BYTES];
	double max = 1;

	/* A process may run on several CPUs. */
	for (uint32_t i = 0; i < t->run_history.nr; i++)
		if (t->run_history.values[i] > max)
			max = ceil(t->run_history.values[i]);
	snprintf(title, sizeof(title), " Run, up to %s%% ", format_percent(most, max));
	parts_chart(m, &(struct parts_chart){ title, t->run_history, max, STYLE_TEXT }, g, a);
}

/* Threads that last ran where it did: it may have waited for them. */
static void draw_others(const struct machine *m, const struct machine_task *t,
                        const struct screen *s, struct grid *g, struct area a)
{
	struct screen others = *s;
	struct task_list l;
	char title[64];

	if (t->last_cpu < 0)
		return;
	others.process = 0;
	others.sort = SORT_RUN;
	others.is_ascending = false;
	snprintf(others.filter, sizeof(others.filter), "cpu:%d", t->last_cpu);
	snprintf(title, sizeof(title), " Threads that last ran on CPU %d ", t->last_cpu);
	task_list_init_threads(&l, m, &others);
	task_table_draw_list(m, &l, &others, g, panel_begin(g, a, title, NULL));
}

static struct area below(struct area a, int used)
{
	return (struct area){ a.x, a.y + used, a.width, a.height > used ? a.height - used : 0 };
}

/* What there is to say of the task itself. */
static void draw_self(const struct machine_task *t, const struct machine_zoom *z,
                      const struct screen *s, struct grid *g, struct area a)
{
	bool is_ended = z && z->is_ended;
	char title[96], slept[96];
	struct area in;
	int used;

	snprintf(title, sizeof(title), " %s%.40s [%u] of process %u ", is_ended ? "ended: " : "",
	         t->comm ? t->comm : "?", t->tid, t->tgid);
	in = panel_begin(g, a, title, is_ended ? " last known values " : NULL);
	slept[0] = '\0';
	if (z)
		zoom_panel_sleeps(z, slept, sizeof(slept));
	if (in.height >= 14) {
		used = draw_facts(t, g, in);
		used += draw_counts(t, s, g, below(in, used));
		used += draw_fact(g, below(in, used), 0, "slept", slept);
		draw_dists(t, s, g, below(in, used + 1));
		return;
	}
	/* The waits are what matters most here. */
	used = in.height < 5 ? in.height : 5;
	draw_dists(t, s, g, (struct area){ in.x, in.y, in.width, used });
	used += draw_fact(g, below(in, used), 0, "slept", slept);
	used += draw_facts(t, g, below(in, used));
	draw_counts(t, s, g, below(in, used));
}

/* The task, and where there is room its history and its neighbours. */
static void draw_task(const struct machine *m, const struct machine_task *t, const struct screen *s,
                      struct grid *g, struct area a)
{
	int top = a.height < FACTS_LINES + CHART_MIN + 2 ? a.height : FACTS_LINES, chart;

	draw_self(t, m->zoom, s, g, (struct area){ a.x, a.y, a.width, top });
	a = below(a, top);
	chart = a.height - OTHERS_MIN < CHART_MIN + 2 ? a.height : a.height / 2;
	chart = chart > CHART_MOST + 2 ? CHART_MOST + 2 : chart;
	if (chart >= CHART_MIN + 2)
		draw_history(m, t, g, (struct area){ a.x, a.y, a.width, chart });
	a = below(a, chart);
	if (a.height >= OTHERS_MIN)
		draw_others(m, t, s, g, a);
}

/* What analyses know of the thread that is selected; NULL = nothing, or of another one. */
static const struct machine_ledger *ledger_of(const struct machine *m, const struct screen *s)
{
	return m->ledger && m->ledger->tid == s->selected_tid ? m->ledger : NULL;
}

/* Lines of the task itself and of its ledger, which the zoom leaves. */
static void divide(int height, bool has_ledger, int *top, int *ledger)
{
	int most = has_ledger ? LEDGER_PANEL_MOST : 0;

	*ledger = most;
	*top = FACTS_LINES + 1;
	if (height >= *top + most + 2 * ZOOM_PANEL_MIN)
		return;
	*top = SHORT_LINES;
	if (height >= *top + most + ZOOM_PANEL_MIN)
		return;
	*top = LEAST_LINES;
	*ledger = height < LEAST_LINES + LEDGER_PANEL_MIN + ZOOM_PANEL_LEAST ? height - LEAST_LINES
	                                                                     : LEDGER_PANEL_MIN;
}

/* The task above, its history beside it on wide screens, then where its waits went, and what the zoom knows. */
static void draw_zoomed(const struct machine *m, const struct machine_task *t,
                        const struct screen *s, struct grid *g, struct area a)
{
	const struct machine_ledger *l = ledger_of(m, s);
	int left = a.width < WIDE ? a.width : a.width / 2, top, ledger;
	struct area zoom;

	divide(a.height, l != NULL, &top, &ledger);
	zoom = below(a, top + ledger);
	if (l)
		ledger_panel_draw(l, g, (struct area){ a.x, a.y + top, a.width, ledger });

	draw_self(t, m->zoom, s, g, (struct area){ a.x, a.y, left, top });
	if (left < a.width)
		draw_history(m, t, g, (struct area){ a.x + left, a.y, a.width - left, top });
	if (zoom.height >= 2 * ZOOM_PANEL_MIN + OTHERS_MIN) {
		int others = zoom.height / 4 > OTHERS_MIN ? zoom.height / 4 : OTHERS_MIN;

		draw_others(m, t, s, g, below(zoom, zoom.height - others));
		zoom.height -= others;
	}
	zoom_panel_draw(m->zoom, s, g, zoom);
}

static const struct machine_task *last_row(const struct machine *m, const struct screen *s)
{
	return m->zoom && m->zoom->tid == s->selected_tid ? m->zoom->row : NULL;
}

static void draw_any(const struct machine *m, const struct machine_task *t, const struct screen *s,
                     struct grid *g, struct area a)
{
	const char *missing = m->zoom ? m->zoom->missing : NULL;
	int least = ledger_of(m, s) ? LEAST_LINES + LEDGER_PANEL_MIN : SHORT_LINES + ZOOM_PANEL_MIN;

	if (missing && a.height > SHORT_LINES)
		table_view_text(g, a.x, a.y + --a.height, a.width, STYLE_WARNING, missing);
	if (m->zoom && !missing && m->zoom->tid == s->selected_tid && a.height >= least &&
	    a.width >= SIDE_MIN)
		draw_zoomed(m, t, s, g, a);
	else
		draw_task(m, t, s, g, a);
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_task *t = s->selected_tid ? task_of(m, s) : NULL;

	if (!t && s->selected_tid)
		t = last_row(m, s);
	if (t)
		draw_any(m, t, s, g, a);
	else if (s->selected_tid)
		grid_printf(g, a.x, a.y, a.width, STYLE_WARNING, "task %u has ended",
		            s->selected_tid);
	else
		grid_text(g, a.x, a.y, a.width, STYLE_DIM, "no task is selected");
}

static void request(const struct screen *s, struct machine_request *r)
{
	r->tid = s->selected_tid;
}

const struct view view_task = {
	.id = "task",
	.title = "Task",
	.state = "Task",
	.what = "one task: where its waits went, what wakes it, what it sleeps for",
	.needs = MACHINE_TASKS | MACHINE_LATENCY | MACHINE_ZOOM | MACHINE_LEDGER,
	.draw = draw,
	.request = request,
};
