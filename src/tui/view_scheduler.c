#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/format.h"
#include "tui/parts.h"
#include "tui/table_view.h"
#include "tui/task_list.h"
#include "tui/task_table.h"
#include "tui/views.h"

/* Bits of ids that the kernel makes (SCX_DSQ_FLAG_BUILTIN and SCX_DSQ_FLAG_LOCAL_ON). */
#define DSQ_BUILTIN    (1ULL << 63)
#define DSQ_LOCAL_ON   (1ULL << 62)
#define DSQ_GLOBAL     (DSQ_BUILTIN | 1)
#define DSQ_LOCAL      (DSQ_BUILTIN | 2)
#define TASKS_ROWS_MIN 16 /* of the view, from where on tasks are shown, too */
#define BAR_LOW_NS     1e3
#define BAR_DECADES    6 /* from 1 us to 1 s */

#define CELL(name) \
	static void name(const void *row, const struct screen *s, struct table_view_cell *out)

static void name_dsq(uint64_t id, char *out, size_t size)
{
	if (id == DSQ_GLOBAL)
		snprintf(out, size, "global");
	else if (id == DSQ_LOCAL)
		snprintf(out, size, "local");
	else if ((id & DSQ_BUILTIN) && (id & DSQ_LOCAL_ON))
		snprintf(out, size, "local cpu %" PRIu64, id & UINT32_MAX);
	else
		snprintf(out, size, "0x%" PRIx64, id);
}

static void put_ns(struct table_view_cell *out, const struct machine_dist *d, uint64_t ns)
{
	format_ns(out->text, d->count ? (double)ns : NAN);
	out->style = d->count ? STYLE_TEXT : STYLE_DIM;
}

CELL(cell_id)
{
	(void)s;
	name_dsq(((const struct machine_dsq *)row)->id, out->text, sizeof(out->text));
}

/* By the logarithm, since latencies differ by that much. */
CELL(cell_bar)
{
	const struct machine_dsq *d = row;

	(void)s;
	out->bar = 0;
	if (d->latency.count && (double)d->latency.p99_ns > BAR_LOW_NS)
		out->bar = log10((double)d->latency.p99_ns / BAR_LOW_NS) / BAR_DECADES;
}

CELL(cell_p50)
{
	const struct machine_dsq *d = row;

	(void)s;
	put_ns(out, &d->latency, d->latency.p50_ns);
}

CELL(cell_p99)
{
	const struct machine_dsq *d = row;

	(void)s;
	put_ns(out, &d->latency, d->latency.p99_ns);
}

CELL(cell_max)
{
	const struct machine_dsq *d = row;

	(void)s;
	put_ns(out, &d->latency, d->latency.max_ns);
}

CELL(cell_mean)
{
	const struct machine_dsq *d = row;

	(void)s;
	format_ns(out->text, d->latency.count ? d->latency.mean_ns : NAN);
}

CELL(cell_count)
{
	format_count(out->text, (double)((const struct machine_dsq *)row)->latency.count,
	             s->is_localized);
}

CELL(cell_depth)
{
	format_count(out->text, ((const struct machine_dsq *)row)->depth, s->is_localized);
}

CELL(cell_slice)
{
	(void)s;
	format_ns(out->text, ((const struct machine_dsq *)row)->slice_ns);
}

CELL(cell_used)
{
	(void)s;
	format_ns(out->text, ((const struct machine_dsq *)row)->used_ns);
}

CELL(cell_vtime)
{
	format_count(out->text, ((const struct machine_dsq *)row)->vtime_delta, s->is_localized);
}

CELL(cell_dispatches)
{
	format_count(out->text, ((const struct machine_dsq *)row)->dispatches_per_s,
	             s->is_localized);
}

static const struct table_view_column columns[] = {
	{ "DSQ", 10, 20, 0, true, false, true, SORT_TID, 0, cell_id },
	{ "P99, 1us..1s", 12, 30, 8, true, false, false, 0, 0, cell_bar },
	{ "P50", 6, 0, 4, false, false, true, SORT_P50, 0, cell_p50 },
	{ "P99", 6, 0, 1, false, false, true, SORT_P99, 0, cell_p99 },
	{ "MAX", 6, 0, 3, false, false, true, SORT_MAX, 0, cell_max },
	{ "MEAN", 6, 0, 9, false, false, false, 0, 0, cell_mean },
	{ "COUNT", 6, 0, 10, false, true, false, 0, 0, cell_count },
	{ "DEPTH", 5, 0, 2, false, true, false, 0, 0, cell_depth },
	{ "DISP/s", 6, 0, 5, false, true, true, SORT_SWITCHES, 0, cell_dispatches },
	{ "SLICE", 6, 0, 6, false, false, false, 0, 0, cell_slice },
	{ "USED", 6, 0, 6, false, false, false, 0, 0, cell_used },
	{ "VTIME+", 6, 0, 7, false, true, false, 0, 0, cell_vtime },
};

static double key_of(const struct machine_dsq *d, enum view_sort sort)
{
	switch (sort) {
	case SORT_P50:
		return d->latency.count ? (double)d->latency.p50_ns : NAN;
	case SORT_MAX:
		return d->latency.count ? (double)d->latency.max_ns : NAN;
	case SORT_SWITCHES:
		return d->dispatches_per_s;
	case SORT_TID:
	case SORT_NAME:
		return 0;
	default:
		return d->latency.count ? (double)d->latency.p99_ns : NAN;
	}
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct machine_dsq *first = *(const struct machine_dsq *const *)a;
	const struct machine_dsq *second = *(const struct machine_dsq *const *)b;
	const struct screen *s = arg;
	double x = key_of(first, s->sort), y = key_of(second, s->sort);

	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (x != y && !isnan(x))
		return (x < y) == s->is_ascending ? -1 : 1;
	return (first->id > second->id) - (first->id < second->id);
}

static bool is_left(const struct machine_dsq *d, const struct screen *s)
{
	char name[32], hex[32];

	if (!s->filter[0])
		return true;
	name_dsq(d->id, name, sizeof(name));
	snprintf(hex, sizeof(hex), "0x%" PRIx64, d->id);
	return strcasestr(name, s->filter) || strcasestr(hex, s->filter);
}

static int rows(const struct machine *m, const struct screen *s)
{
	int nr = 0;

	for (size_t i = 0; i < m->nr_dsqs; i++)
		nr += is_left(&m->dsqs[i], s);
	return nr;
}

static void draw_queues(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const void **all = calloc(m->nr_dsqs + 1, sizeof(*all));
	struct screen shown;
	int height = table_view_height(a), nr = 0;

	if (!all)
		return;
	for (size_t i = 0; i < m->nr_dsqs; i++)
		if (is_left(&m->dsqs[i], s))
			all[nr++] = &m->dsqs[i];
	table_view_scroll(s, nr, height);
	shown = *s;
	if (shown.sort == SORT_RUN || shown.sort == SORT_WAIT || shown.sort == SORT_MIGRATIONS)
		shown.sort = SORT_P99; /* queues have none of these */
	qsort_r(all, (size_t)nr, sizeof(*all), by_key, &shown);
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .rows = all + s->scroll,
	                                      .nr_rows = nr - s->scroll < height ? nr - s->scroll
	                                                                         : height,
	                                      .first = s->scroll,
	                                      .total = nr,
	                                      .selected = s->selected },
	                &shown, g, a);
	if (!nr)
		grid_text(g, a.x, a.y + 1, a.width, STYLE_DIM,
		          m->nr_dsqs ? "no queue matches" : "no queue seen yet");
	free(all);
}

/* Who waits longest. */
static void draw_tasks(const struct machine *m, const struct screen *s, struct grid *g,
                       struct area a)
{
	struct screen by_wait = *s;
	struct task_list l;

	by_wait.process = 0;
	by_wait.filter[0] = '\0';
	by_wait.sort = SORT_P99;
	by_wait.is_ascending = false;
	task_list_init(&l, m, &by_wait);
	task_table_draw_list(m, &l, &by_wait, g,
	                     panel_begin(g, a, " Processes by wakeup latency ", NULL));
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	char title[160], right[160], wait[96], number[FORMAT_BYTES];
	struct area top = a;

	if (m->scheduler)
		snprintf(title, sizeof(title), " %.60s, %.20s: %s queues ", m->scheduler,
		         m->scx_state ? m->scx_state : "?",
		         format_count(number, (double)m->nr_dsqs, s->is_localized));
	else
		snprintf(title, sizeof(title), " No scheduler, sched_ext %.20s ",
		         m->scx_state ? m->scx_state : "missing");
	parts_dist(&m->wait, wait, sizeof(wait));
	snprintf(right, sizeof(right), " wakeups %s ", wait);
	if (s->is_typing || s->filter[0])
		parts_right(s, right, sizeof(right));
	if (a.height >= TASKS_ROWS_MIN) {
		int wanted = m->nr_dsqs ? (int)m->nr_dsqs + 3 : 5;

		top.height = wanted > a.height / 2 ? a.height / 2 : wanted;
		top.height = top.height < 6 ? 6 : top.height;
		draw_tasks(m, s, g,
		           (struct area){ a.x, a.y + top.height, a.width, a.height - top.height });
	}
	top = panel_begin(g, top, title, right);
	if (m->scheduler || m->nr_dsqs)
		draw_queues(m, s, g, top);
	else
		grid_text(g, top.x, top.y, top.width, STYLE_DIM,
		          m->scx_state ? "the kernel's own classes schedule: fair, rt, dl"
		                       : "this kernel has no sched_ext (Linux 6.12 and later do)");
}

const struct view view_scheduler = {
	.id = "scheduler",
	.title = "Scheduler",
	.state = "Scheduler",
	.what = "sched_ext: its state, dispatch queues and who waits longest",
	.needs = MACHINE_TASKS | MACHINE_LATENCY | MACHINE_DSQS,
	.draw = draw,
	.rows = rows,
};
