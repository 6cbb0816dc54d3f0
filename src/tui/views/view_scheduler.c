#include <stdio.h>

#include "machine/machine_scx.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/task_list.h"
#include "tui/views/dsq_chart.h"
#include "tui/views/dsq_list.h"
#include "tui/views/dsq_table.h"
#include "tui/views/parts.h"
#include "tui/views/scx_pane.h"
#include "tui/views/task_table.h"
#include "tui/views/views.h"

/* What the arrows move, and what has the most room. */
enum page { PAGE_QUEUES, PAGE_PROCESSES, PAGE_DETAILS, PAGES };

#define TASKS_ROWS_MIN 16 /* of the view, from where on there is more than the table of queues */
#define CHART_ROWS_MIN 20 /* from where on there are bars, too */
#define TWO_COLUMNS    70 /* cells */

/* Whether there is anything of sched_ext to be shown. */
static bool is_on(const struct machine *m)
{
	return m->scheduler || m->nr_dsqs;
}

static enum page page_of(const struct machine *m, const struct screen *s)
{
	return is_on(m) && m->scx ? (enum page)(s->scheduler_page % PAGES) : PAGE_QUEUES;
}

static int rows(const struct machine *m, const struct screen *s)
{
	switch (page_of(m, s)) {
	case PAGE_PROCESSES:
		return dsq_table_nr_tasks(m, s);
	case PAGE_DETAILS:
		return scx_pane_lines(m);
	default:
		return dsq_list_count(m, s);
	}
}

static bool act(const struct machine *m, struct screen *s, enum action action)
{
	static const char *const words[PAGES] = {
		[PAGE_QUEUES] = "queues",
		[PAGE_PROCESSES] = "processes by dispatch queue",
		[PAGE_DETAILS] = "details, and the scheduler's own statistics",
	};

	if (action != ACTION_GROUP || !is_on(m) || !m->scx)
		return false;
	s->scheduler_page = (uint8_t)((page_of(m, s) + 1) % PAGES);
	s->selected = s->scroll = 0;
	snprintf(s->message, sizeof(s->message), "%s", words[s->scheduler_page]);
	return true;
}

/* The longest waits, with any scheduler. */
static void draw_all_tasks(const struct machine *m, const struct screen *s, struct grid *g,
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

static void draw_tasks(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	char title[96], number[FORMAT_BYTES];

	if (!is_on(m) || !m->scx || !m->scx->is_counting) {
		draw_all_tasks(m, s, g, a);
		return;
	}
	snprintf(title, sizeof(title), " Process scheduling latency: %s processes ",
	         format_count(number, (double)m->scx->nr_tasks, s->is_localized));
	dsq_table_draw_tasks(m, s, page_of(m, s) == PAGE_PROCESSES, g,
	                     panel_begin(g, a, title, NULL));
}

static const char *no_queues(const struct machine *m)
{
	if (m->nr_dsqs)
		return "no queue matches";
	if (m->scx && m->scx->reason)
		return m->scx->reason;
	return m->scx && !m->scx->is_counting ? "attaching" : "no queue seen yet";
}

static void draw_queues(const struct machine *m, const struct dsq_list *l, struct screen *s,
                        struct grid *g, struct area a)
{
	if (is_on(m)) {
		dsq_table_draw(l, s, page_of(m, s) == PAGE_QUEUES, g, a);
		if (!l->nr)
			grid_text(g, a.x, a.y + 1, a.width, STYLE_DIM, no_queues(m));
		return;
	}
	grid_text(
		g, a.x, a.y, a.width, STYLE_DIM,
		m->scx_state
			? "the kernel's own classes schedule: fair, rt, dl"
			: "this kernel has no sched_ext: Linux 6.12 and later have it, if built with CONFIG_SCHED_CLASS_EXT");
	if (m->scx)
		(void)scx_pane_counters(m, s, g,
		                        (struct area){ a.x, a.y + 1, a.width, a.height - 1 });
}

static void titles_of(const struct machine *m, const struct screen *s, char title[160],
                      char right[160])
{
	char wait[96], number[FORMAT_BYTES];

	if (m->scheduler)
		snprintf(title, 160, " %.60s, %.20s: %s queues ", m->scheduler,
		         m->scx_state ? m->scx_state : "?",
		         format_count(number, (double)m->nr_dsqs, s->is_localized));
	else
		snprintf(title, 160, " The kernel's own classes, sched_ext %.20s ",
		         m->scx_state ? m->scx_state : "missing");
	parts_dist(&m->wait, wait, sizeof(wait));
	snprintf(right, 160, " wakeups %s ", wait);
	if (s->is_typing || s->filter[0])
		parts_right(s, right, 160);
}

static struct area take_top(struct area *a, int height)
{
	struct area top = { a->x, a->y, a->width, height };

	a->y += height;
	a->height -= height;
	return top;
}

/* Goes along with the table of queues. */
static void draw_chart(enum dsq_chart chart, const struct dsq_list *l, const struct screen *s,
                       struct grid *g, struct area a)
{
	char title[64];
	int first = s->scheduler_page == PAGE_QUEUES ? s->scroll : 0;

	snprintf(title, sizeof(title), " %s ", dsq_chart_title(chart));
	a = panel_begin(g, a, title, NULL);
	if (first > l->nr - a.height)
		first = l->nr > a.height ? l->nr - a.height : 0;
	dsq_chart_draw(chart, l, first, s, g, a);
}

/* Latency on top, then the table of queues, then processes; the one with the arrows gets the most. */
static void draw_lists(const struct machine *m, const struct dsq_list *l, struct screen *s,
                       struct grid *g, struct area a)
{
	bool has_chart = is_on(m) && s->shape != SHAPE_TABLE && a.height >= CHART_ROWS_MIN && l->nr;
	int wanted = l->nr ? l->nr + 3 : 5, most = a.height / 2;
	char title[160], right[160];
	struct area top;

	if (has_chart) {
		int third = a.height / 3, lines = l->nr + 2;

		draw_chart(CHART_LATENCY, l, s, g, take_top(&a, lines < third ? lines : third));
		most = a.height / 2;
	}
	if (page_of(m, s) == PAGE_PROCESSES)
		most = a.height / 3;
	wanted = wanted > most ? most : wanted;
	wanted = wanted < 6 ? 6 : wanted;
	titles_of(m, s, title, right);
	if (a.height < TASKS_ROWS_MIN)
		wanted = page_of(m, s) == PAGE_PROCESSES ? 0 : a.height;
	if (wanted > 0) {
		top = panel_begin(g, take_top(&a, wanted), title, right);
		draw_queues(m, l, s, g, top);
	}
	if (a.height > 0)
		draw_tasks(m, s, g, a);
}

static void draw_said(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	char title[160], right[64];

	snprintf(title, sizeof(title), " %.60s ",
	         m->scheduler ? m->scheduler : "The kernel's own classes");
	parts_right(s, right, sizeof(right));
	scx_pane_draw(m, s, g, panel_begin(g, a, title, right));
}

/* The other layout: what moves on the left, what the scheduler says and how deep its queues are on the right. */
static void draw_details(const struct machine *m, const struct dsq_list *l, struct screen *s,
                         struct grid *g, struct area a)
{
	static const enum dsq_chart left_charts[] = { CHART_LATENCY, CHART_USED, CHART_VTIME };
	struct area left = a, right = a;

	if (a.width < TWO_COLUMNS || a.height < TASKS_ROWS_MIN) {
		draw_said(m, s, g, a);
		return;
	}
	left.width = a.width / 2;
	right.x += left.width;
	right.width -= left.width;
	if (s->shape == SHAPE_TABLE)
		draw_queues(m, l, s, g, panel_begin(g, left, " Dispatch queues ", NULL));
	for (int i = 0; s->shape != SHAPE_TABLE && i < 3; i++)
		draw_chart(left_charts[i], l, s, g, take_top(&left, left.height / (3 - i)));
	draw_said(m, s, g, take_top(&right, right.height * 2 / 3));
	draw_chart(CHART_DEPTH, l, s, g, right);
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	struct dsq_list l;

	if (dsq_list_init(&l, m, s))
		return;
	if (page_of(m, s) == PAGE_DETAILS)
		draw_details(m, &l, s, g, a);
	else
		draw_lists(m, &l, s, g, a);
	dsq_list_done(&l);
}

const struct view view_scheduler = {
	.id = "scheduler",
	.title = "Scheduler",
	.state = "Scheduler",
	.what = "sched_ext: dispatch queues, the tasks in them, the scheduler's statistics; c "
		"switches tables",
	.needs = MACHINE_TASKS | MACHINE_LATENCY | MACHINE_DSQS,
	.draw = draw,
	.act = act,
	.rows = rows,
};
