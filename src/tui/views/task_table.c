#include "tui/views/task_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/task_list.h"
#include "tui/task_metrics.h"
#include "tui/views/parts.h"

#define HEADINGS_MIN   14 /* lines of a table */
#define HEADINGS_WIDTH 70

struct task_row {
	const struct machine *m;
	const struct machine_task *task;
};

static void draw_cell(size_t column, const void *row, const struct screen *s,
                      struct table_view_cell *out)
{
	const struct task_row *r = row;

	task_metric_cell(&task_metrics_of(s)->items[column], r->m, r->task, s, out);
}

/* Without headings the titles have to say of what they are. */
static size_t make_columns(const struct task_list *l, const struct screen *s, bool has_headings,
                           struct table_view_column out[TABLE_VIEW_COLUMNS])
{
	const struct task_metrics *of = task_metrics_of(s);
	size_t nr = of->nr < TABLE_VIEW_COLUMNS ? of->nr : TABLE_VIEW_COLUMNS;

	for (size_t i = 0; i < nr; i++) {
		const struct task_metric *x = &of->items[i];

		out[i] = (struct table_view_column){
			.title = has_headings && x->short_title ? x->short_title : x->title,
			.heading = x->heading,
			.width = x->width,
			.most = x->most,
			.rank = x->rank,
			.is_left = x->unit >= METRIC_STATE,
			.is_count = x->unit == METRIC_COUNT,
			.is_sorted_by = true,
			.sort = task_metric_sort(of, i),
			.needs = x->needs,
		};
		/* A path, or a place in a tree. */
		if (x->sort == SORT_NAME && (l->is_grouped || l->is_ordered))
			out[i].most = 28;
		if (out[i].width < strlen(out[i].title) && x->short_title)
			out[i].width = (uint8_t)strlen(out[i].title);
	}
	return nr;
}

/* Layers of any process: columns must not come and go with the rows in sight. */
static bool has_layers(const struct machine *m)
{
	for (size_t i = 0; m->scheduler && i < m->nr_processes; i++)
		if (m->processes[i].layer >= 0)
			return true;
	return false;
}

/* The task that has been waiting longest, if any stalls; how many do. Only tasks that are active can. */
static const struct machine_task *longest_stall(const struct machine_task *tasks, size_t nr,
                                                const struct machine_order *order, size_t *count)
{
	const struct machine_task *worst = NULL;

	*count = 0;
	for (size_t i = 0; i < (order ? order->nr_active : nr); i++) {
		const struct machine_task *t = &tasks[order ? order->active[i] : i];

		if (!t->stall_ns)
			continue;
		++*count;
		if (!worst || t->stall_ns > worst->stall_ns)
			worst = t;
	}
	return worst;
}

/* A task that gets no CPU is worth a column that comes for it. */
static bool has_stalls(const struct machine *m)
{
	size_t nr;

	return longest_stall(m->processes, m->nr_processes, m->process_order, &nr) != NULL;
}

static unsigned int has_places(const struct machine *m)
{
	unsigned int has = 0;

	for (size_t i = 1; i < m->nr_cpus; i++) {
		has |= m->cpus[i].llc != m->cpus[0].llc ? METRIC_HAS_LLCS : 0;
		has |= m->cpus[i].node != m->cpus[0].node ? METRIC_HAS_NODES : 0;
	}
	return has;
}

static bool has_latency(const struct machine *m)
{
	return !m->source || strcmp(m->source, "proc") != 0;
}

static unsigned int what_rows_are(const struct task_list *l, const struct screen *s)
{
	unsigned int has = s->by == TASKS_BY_CGROUP && l->is_grouped ? 0 : METRIC_HAS_CGROUPS;

	if (l->tasks == l->m->threads)
		return has | METRIC_OF_THREADS | METRIC_HAS_CPUS;
	/* A recording knows neither. */
	has |= METRIC_OF_PROCESSES | (l->m->play ? 0 : METRIC_HAS_MEMORY);
	return has | (l->is_grouped ? METRIC_OF_GROUPS : METRIC_HAS_PIDS | METRIC_HAS_CPUS);
}

static unsigned int what_it_has(const struct task_list *l, const struct screen *s)
{
	const struct machine *m = l->m;

	return what_rows_are(l, s) | (m->play || l->is_grouped ? 0 : METRIC_HAS_PAST) |
	       (has_latency(m) ? METRIC_HAS_LATENCY : 0) | (m->scheduler ? METRIC_HAS_EXT : 0) |
	       (has_layers(m) ? METRIC_HAS_LAYERS : 0) | (has_stalls(m) ? METRIC_HAS_STALLS : 0) |
	       has_places(m);
}

/* They are about latencies. */
static bool has_room_for_headings(const struct machine *m, struct area a)
{
	return a.height >= HEADINGS_MIN && a.width >= HEADINGS_WIDTH && has_latency(m);
}

/* Rows of that window below titles. */
static void draw_window(const struct machine *m, const struct task_list *l,
                        const struct task_window *w, const struct screen *s, struct grid *g,
                        struct area a)
{
	unsigned int has = what_it_has(l, s);
	bool has_headings = has_room_for_headings(m, a);
	SCOPED(scoped_free) struct task_row *rows = calloc((size_t)w->nr + 1, sizeof(*rows));
	SCOPED(scoped_free) const void **places = calloc((size_t)w->nr + 1, sizeof(*places));
	struct table_view_column columns[TABLE_VIEW_COLUMNS];
	struct table_view t = {
		.columns = columns,
		.cell = draw_cell,
		.nr_columns = make_columns(l, s, has_headings, columns),
		.has = has,
		.has_headings = has_headings,
		.rows = places,
		.nr_rows = w->nr,
		.first = s->scroll,
		.total = w->total,
		.selected = s->is_unselected ? TABLE_VIEW_NOT_NOW : s->selected,
	};

	for (int i = 0; rows && places && i < w->nr; i++) {
		rows[i] = (struct task_row){ m, w->rows[i] };
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

/* The longest wait that lasts, in the title, wherever its row is: it does not run, so it is rarely at the top. */
static void add_stall(const struct task_list *l, char title[static 128])
{
	size_t nr, len = strlen(title);
	bool is_threads = l->tasks == l->m->threads;
	const struct machine_task *worst =
		longest_stall(is_threads ? l->m->threads : l->m->processes,
	                      is_threads ? l->m->nr_threads : l->m->nr_processes,
	                      is_threads ? l->m->thread_order : l->m->process_order, &nr);
	char age[FORMAT_BYTES];

	if (worst)
		snprintf(title + len, 128 - len, "STALLED %zu: %.16s [%u] for %s ", nr,
		         worst->comm ? worst->comm : "?", worst->tid,
		         format_ns(age, (double)worst->stall_ns));
}

/* "Processes 5 of 40", "Names 3 of 40 processes". */
static void title_of_rows(const struct task_list *l, const struct screen *s, int total,
                          char title[static 128])
{
	static const char *const whats[TASKS_BYS] = { "Processes", "Names", "Cgroups",
		                                      "Process tree" };
	const char *what = l->tasks == l->m->threads        ? "Threads"
	                   : l->is_grouped || l->is_ordered ? whats[s->by]
	                                                    : whats[TASKS_BY_PROCESS];
	size_t all_rows = l->is_grouped || l->is_ordered ? l->m->nr_processes : l->nr;
	char number[FORMAT_BYTES], all[FORMAT_BYTES];

	format_count(number, total, s->is_localized);
	format_count(all, (double)all_rows, s->is_localized);
	if (l->is_grouped)
		snprintf(title, 128, " %s %s of %s processes%s ", what, number, all,
		         l->is_filtered ? ", filtered" : "");
	else if (l->filter.name || l->filter.cgroup)
		snprintf(title, 128, " %s of %.64s: %s ", what, s->members_of, number);
	else if (l->is_filtered)
		snprintf(title, 128, " %s %s of %s ", what, number, all);
	else
		snprintf(title, 128, " %s %s ", what, number);
}

static void title_of(const struct machine *m, const struct task_list *l, const struct screen *s,
                     int total, char title[static 128])
{
	char number[FORMAT_BYTES];

	if (s->process && l->tasks == m->threads) {
		const struct machine_task *p = task_list_find_process(m, s->process);

		format_count(number, total, s->is_localized);
		snprintf(title, 128, " %.32s [%u]: %s thread%s ", p && p->comm ? p->comm : "?",
		         s->process, number, total == 1 ? "" : "s");
	} else {
		title_of_rows(l, s, total, title);
	}
	add_stall(l, title);
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
	const struct task_metric *by = task_metric_sorted(s);
	char title[128], right[128], note[192] = "";
	struct area in;
	int height, total = task_list_count(l);

	title_of(m, l, s, total, title);
	parts_right(s, right, sizeof(right));
	in = panel_begin(g, a, title, right);
	height = table_view_height(in) - has_room_for_headings(m, in);
	settle(l, s, total, height);
	if (by)
		snprintf(note, sizeof(note), " %s: %s ", by->title, by->definition);
	panel_note(g, a, note);
	if (task_list_window(l, s, s->scroll, height, &w)) {
		grid_text(g, in.x, in.y, in.width, STYLE_WARNING, "out of memory");
		return;
	}
	draw_window(m, l, &w, s, g, in);
	if (!w.total && height > 0)
		nothing_to_show(s, g,
		                (struct area){ in.x, in.y + in.height - height, in.width, height });
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
