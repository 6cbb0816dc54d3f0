#include "tui/task_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/dsq_name.h"
#include "base/cleanup.h"
#include "tui/format.h"
#include "tui/parts.h"
#include "tui/table_view.h"
#include "tui/task_list.h"
#include "tui/task_sort.h"

/* What a table has; columns need it. */
enum {
	HAS_LATENCY = 1,
	HAS_EXT = 2,
	OF_PROCESSES = 4,
	HAS_LAYERS = 8,
	OF_THREADS = 16,
	HAS_LLCS = 32, /* more than one: else all tasks are in it */
	HAS_NODES = 64,
};

struct row {
	const struct machine_task *task;
	const struct machine_cpu *cpu; /* that it ran on last; NULL = unknown */
};
#define TASK(row) (((const struct row *)(row))->task)

/* Waits from here on are worth a colour. */
#define WAIT_FAIR_NS 1e6
#define WAIT_HIGH_NS 1e7
#define WAIT_BAD_NS  1e8

#define CELL(name) \
	static void name(const void *row, const struct screen *s, struct table_view_cell *out)

static void put_text(struct table_view_cell *out, const char *text)
{
	if (text && text[0]) {
		snprintf(out->text, sizeof(out->text), "%s", text);
	} else {
		out->style = STYLE_DIM;
		snprintf(out->text, sizeof(out->text), "-");
	}
}

static void put_percent(struct table_view_cell *out, double part)
{
	format_percent(out->text, part);
	out->style = part > 0 ? grid_band(part) : STYLE_DIM;
}

static void put_count(struct table_view_cell *out, double value, const struct screen *s)
{
	format_count(out->text, value, s->is_localized);
	out->style = value > 0 ? STYLE_TEXT : STYLE_DIM;
}

static void put_ns(struct table_view_cell *out, const struct machine_dist *d, uint64_t ns)
{
	format_ns(out->text, d->count ? (double)ns : NAN);
	out->style = d->count ? STYLE_TEXT : STYLE_DIM;
}

static void put_wait(struct table_view_cell *out, const struct machine_dist *d, uint64_t ns)
{
	put_ns(out, d, ns);
	if (d->count && (double)ns >= WAIT_FAIR_NS)
		out->style = (double)ns >= WAIT_BAD_NS    ? STYLE_BAD
		             : (double)ns >= WAIT_HIGH_NS ? STYLE_HIGH
		                                          : STYLE_MIDDLE;
}

CELL(cell_tid)
{
	(void)s;
	snprintf(out->text, sizeof(out->text), "%u", TASK(row)->tid);
}

CELL(cell_name)
{
	(void)s;
	put_text(out, TASK(row)->comm);
}

CELL(cell_state)
{
	char state = TASK(row)->state;

	(void)s;
	snprintf(out->text, sizeof(out->text), "%c", state);
	out->style = state == 'R' ? STYLE_GOOD : state == 'D' ? STYLE_WARNING : STYLE_DIM;
}

CELL(cell_class)
{
	(void)s;
	put_text(out, TASK(row)->class_name);
}

static void put_id(struct table_view_cell *out, int64_t id)
{
	if (id < 0)
		put_text(out, NULL);
	else
		snprintf(out->text, sizeof(out->text), "%" PRId64, id);
}

CELL(cell_cpu)
{
	(void)s;
	put_id(out, TASK(row)->last_cpu);
}

CELL(cell_llc)
{
	const struct machine_cpu *cpu = ((const struct row *)row)->cpu;

	(void)s;
	put_id(out, cpu ? cpu->llc : -1);
}

CELL(cell_node)
{
	const struct machine_cpu *cpu = ((const struct row *)row)->cpu;

	(void)s;
	put_id(out, cpu ? cpu->node : -1);
}

CELL(cell_threads)
{
	put_count(out, TASK(row)->nr_threads, s);
}

CELL(cell_run)
{
	(void)s;
	put_percent(out, TASK(row)->run);
}

CELL(cell_wait)
{
	(void)s;
	put_percent(out, TASK(row)->wait);
}

CELL(cell_p50)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	put_wait(out, &t->latency, t->latency.p50_ns);
}

CELL(cell_p99)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	put_wait(out, &t->latency, t->latency.p99_ns);
}

CELL(cell_max)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	put_wait(out, &t->latency, t->latency.max_ns);
}

CELL(cell_preempted_p50)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	put_wait(out, &t->preempted, t->preempted.p50_ns);
}

CELL(cell_preempted_p99)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	put_wait(out, &t->preempted, t->preempted.p99_ns);
}

CELL(cell_preempted_max)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	put_wait(out, &t->preempted, t->preempted.max_ns);
}

CELL(cell_slice)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	put_ns(out, &t->slice, t->slice.p50_ns);
}

CELL(cell_slices)
{
	put_count(out, (double)TASK(row)->slice.count, s);
}

CELL(cell_sleep)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	put_ns(out, &t->sleep, t->sleep.p50_ns);
}

CELL(cell_switches)
{
	const struct machine_task *t = TASK(row);

	put_count(out, t->voluntary_per_s + t->involuntary_per_s, s);
}

CELL(cell_voluntary)
{
	put_count(out, TASK(row)->voluntary_per_s, s);
}

CELL(cell_involuntary)
{
	put_count(out, TASK(row)->involuntary_per_s, s);
}

CELL(cell_migrations)
{
	put_count(out, TASK(row)->migrations_per_s, s);
}

CELL(cell_llc_migrations)
{
	put_count(out, TASK(row)->llc_migrations_per_s, s);
}

CELL(cell_node_migrations)
{
	put_count(out, TASK(row)->node_migrations_per_s, s);
}

CELL(cell_layer)
{
	(void)s;
	put_id(out, TASK(row)->layer);
}

CELL(cell_dsq)
{
	const struct machine_task *t = TASK(row);

	(void)s;
	if (!t->has_dsq)
		put_text(out, NULL);
	else
		dsq_name(t->dsq, out->text);
}

CELL(cell_cgroup)
{
	(void)s;
	put_text(out, TASK(row)->cgroup);
	out->style = STYLE_DIM;
}

CELL(cell_command)
{
	(void)s;
	put_text(out, TASK(row)->cmdline);
	out->style = STYLE_DIM;
}

/* As they stand on the screen; rank says which of them go first where there is no room. */
static const struct table_view_column columns[] = {
	{ "PID", 7, 0, 2, false, false, true, SORT_TID, OF_PROCESSES, cell_tid },
	{ "TID", 7, 0, 2, false, false, true, SORT_TID, OF_THREADS, cell_tid },
	{ "NAME", 9, 15, 0, true, false, true, SORT_NAME, 0, cell_name },
	{ "S", 1, 0, 7, true, false, true, SORT_STATE, 0, cell_state },
	{ "CLASS", 5, 0, 9, true, false, true, SORT_CLASS, 0, cell_class },
	{ "CPU", 3, 0, 8, false, false, true, SORT_CPU, 0, cell_cpu },
	{ "LLC", 3, 0, 25, false, false, true, SORT_LLC, HAS_LLCS, cell_llc },
	{ "NUMA", 4, 0, 26, false, false, true, SORT_NODE, HAS_NODES, cell_node },
	{ "RUN%", 6, 0, 1, false, false, true, SORT_RUN, 0, cell_run },
	{ "WAIT%", 6, 0, 4, false, false, true, SORT_WAIT, 0, cell_wait },
	{ "P50", 6, 0, 6, false, false, true, SORT_P50, HAS_LATENCY, cell_p50 },
	{ "P99", 6, 0, 3, false, false, true, SORT_P99, HAS_LATENCY, cell_p99 },
	{ "MAX", 6, 0, 5, false, false, true, SORT_MAX, HAS_LATENCY, cell_max },
	{ "PRE50", 6, 0, 22, false, false, true, SORT_PREEMPTED_P50, HAS_LATENCY,
	  cell_preempted_p50 },
	{ "PRE99", 6, 0, 13, false, false, true, SORT_PREEMPTED_P99, HAS_LATENCY,
	  cell_preempted_p99 },
	{ "PREMAX", 6, 0, 17, false, false, true, SORT_PREEMPTED_MAX, HAS_LATENCY,
	  cell_preempted_max },
	{ "SLICE", 6, 0, 14, false, false, true, SORT_SLICE, HAS_LATENCY, cell_slice },
	{ "SLICES", 6, 0, 23, false, true, true, SORT_SLICES, HAS_LATENCY, cell_slices },
	{ "SLEEP", 6, 0, 16, false, false, true, SORT_SLEEP, HAS_LATENCY, cell_sleep },
	{ "SW/s", 5, 0, 21, false, true, true, SORT_SWITCHES, 0, cell_switches },
	{ "VOL/s", 5, 0, 11, false, true, true, SORT_VOLUNTARY, 0, cell_voluntary },
	{ "INV/s", 5, 0, 10, false, true, true, SORT_INVOLUNTARY, 0, cell_involuntary },
	{ "MIG/s", 5, 0, 12, false, true, true, SORT_MIGRATIONS, 0, cell_migrations },
	{ "LLC/s", 5, 0, 18, false, true, true, SORT_LLC_MIGRATIONS, HAS_LATENCY,
	  cell_llc_migrations },
	{ "NODE/s", 6, 0, 20, false, true, true, SORT_NODE_MIGRATIONS, HAS_LATENCY,
	  cell_node_migrations },
	{ "THR", 4, 0, 15, false, true, true, SORT_THREADS, OF_PROCESSES, cell_threads },
	{ "LAYER", 5, 0, 14, false, false, true, SORT_LAYER, HAS_LAYERS, cell_layer },
	{ "DSQ", 10, 18, 13, true, false, true, SORT_DSQ, HAS_EXT, cell_dsq },
	{ "CGROUP", 12, 40, 19, true, false, true, SORT_CGROUP, 0, cell_cgroup },
	{ "COMMAND", 12, 255, 24, true, false, true, SORT_COMMAND, 0, cell_command },
};

_Static_assert(sizeof(columns) / sizeof(columns[0]) <= TABLE_VIEW_COLUMNS, "bits of choose()");

/* Layers of any process: columns must not come and go with the rows in sight. */
static bool has_layers(const struct machine *m)
{
	for (size_t i = 0; m->scheduler && i < m->nr_processes; i++)
		if (m->processes[i].layer >= 0)
			return true;
	return false;
}

static unsigned int has_places(const struct machine *m)
{
	unsigned int has = 0;

	for (size_t i = 1; i < m->nr_cpus; i++) {
		has |= m->cpus[i].llc != m->cpus[0].llc ? HAS_LLCS : 0;
		has |= m->cpus[i].node != m->cpus[0].node ? HAS_NODES : 0;
	}
	return has;
}

static unsigned int what_it_has(const struct machine *m, bool is_threads)
{
	bool has_latency = !m->source || strcmp(m->source, "proc") != 0;

	return (is_threads ? OF_THREADS : OF_PROCESSES) | (has_latency ? HAS_LATENCY : 0) |
	       (m->scheduler ? HAS_EXT : 0) | (has_layers(m) ? HAS_LAYERS : 0) | has_places(m);
}

/* Rows of that window below titles. */
static void draw_window(const struct machine *m, const struct task_list *l,
                        const struct task_window *w, const struct screen *s, struct grid *g,
                        struct area a)
{
	SCOPED(scoped_free) struct row *rows = calloc((size_t)w->nr + 1, sizeof(*rows));
	SCOPED(scoped_free) const void **places = calloc((size_t)w->nr + 1, sizeof(*places));
	struct table_view t = {
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.has = what_it_has(m, l->tasks == m->threads),
		.rows = places,
		.nr_rows = w->nr,
		.first = s->scroll,
		.total = w->total,
		.selected = s->selected,
	};

	for (int i = 0; rows && places && i < w->nr; i++) {
		rows[i].task = w->rows[i];
		rows[i].cpu = task_sort_cpu(m, rows[i].task->last_cpu);
		places[i] = &rows[i];
	}
	if (rows && places)
		table_view_draw(&t, s, g, a);
}

/* Follows the selected task, or takes the one at the selected row; view.h has the rules. */
static void settle(const struct task_list *l, struct screen *s, int total, int height)
{
	int place = -1;

	if (s->selected_tid == 0)
		s->is_following = s->selected > 0;
	else if (s->is_following)
		place = task_list_place(l, s, s->selected_tid);
	else
		place = 0;
	if (place >= 0)
		s->selected = place;
	table_view_scroll(s, total, height);
}

static void title_of(const struct machine *m, const struct task_list *l, const struct screen *s,
                     int total, char title[static 128])
{
	char number[FORMAT_BYTES], all[FORMAT_BYTES];
	bool is_threads = l->tasks == m->threads;
	const char *what = is_threads ? "Threads" : "Processes";

	format_count(number, total, s->is_localized);
	format_count(all, (double)l->nr, s->is_localized);
	if (s->process && is_threads) {
		const struct machine_task *p = task_list_find_process(m, s->process);

		snprintf(title, 128, " %.32s [%u]: %s threads ", p && p->comm ? p->comm : "?",
		         s->process, number);
	} else if (l->filter.nr) {
		snprintf(title, 128, " %s %s of %s ", what, number, all);
	} else {
		snprintf(title, 128, " %s %s ", what, number);
	}
}

static void nothing_to_show(const struct screen *s, struct grid *g, struct area a)
{
	if (s->filter[0])
		grid_printf(g, a.x, a.y, a.width, STYLE_DIM, "nothing matches '%s'", s->filter);
	else if (s->process)
		grid_printf(g, a.x, a.y, a.width, STYLE_WARNING, "process %u has ended",
		            s->process);
	else
		grid_text(g, a.x, a.y, a.width, STYLE_DIM, "no tasks");
}

static void draw(const struct machine *m, const struct task_list *l, struct screen *s,
                 struct grid *g, struct area a)
{
	struct task_window w = { 0 };
	char title[128], right[128];
	struct area in;
	int height, total = task_list_count(l);

	title_of(m, l, s, total, title);
	parts_right(s, right, sizeof(right));
	in = panel_begin(g, a, title, right);
	height = table_view_height(in);
	settle(l, s, total, height);
	if (task_list_window(l, s, s->scroll, height, &w)) {
		grid_text(g, in.x, in.y, in.width, STYLE_WARNING, "out of memory");
		return;
	}
	draw_window(m, l, &w, s, g, in);
	if (!w.total)
		nothing_to_show(s, g, (struct area){ in.x, in.y + 1, in.width, in.height - 1 });
	if (s->selected >= s->scroll && s->selected - s->scroll < w.nr)
		s->selected_tid =
			((const struct machine_task *)w.rows[s->selected - s->scroll])->tid;
	free(w.rows);
}

void task_table_draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	struct task_list l;

	task_list_init(&l, m, s);
	draw(m, &l, s, g, a);
}

void task_table_draw_threads(const struct machine *m, struct screen *s, struct grid *g,
                             struct area a)
{
	struct task_list l;

	task_list_init_threads(&l, m, s);
	draw(m, &l, s, g, a);
}

int task_table_rows(const struct machine *m, const struct screen *s)
{
	struct task_list l;

	task_list_init(&l, m, s);
	return task_list_count(&l);
}

int task_table_thread_rows(const struct machine *m, const struct screen *s)
{
	struct task_list l;

	task_list_init_threads(&l, m, s);
	return task_list_count(&l);
}

void task_table_draw_list(const struct machine *m, const struct task_list *l,
                          const struct screen *s, struct grid *g, struct area a)
{
	struct screen still = *s;
	struct task_window w = { 0 };

	still.scroll = 0;
	still.selected = -1;
	if (task_list_window(l, &still, 0, table_view_height(a), &w))
		return;
	w.total = w.nr;
	draw_window(m, l, &w, &still, g, a);
	free(w.rows);
}
