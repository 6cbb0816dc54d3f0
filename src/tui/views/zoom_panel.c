#include "tui/views/zoom_panel.h"

#include <math.h>
#include <stdio.h>

#include "machine/machine_zoom.h"
#include "tui/format.h"
#include "tui/table_view.h"

#define ROWS_MAX    128
#define SIDE_WIDTH  40 /* of each of two tables */
#define TABLES_MIN  5  /* lines of a table with its frame */
#define TABLES_MOST 14

#define NR(columns) (sizeof(columns) / sizeof((columns)[0]))

/* A wait, and the reference time for its age. */
struct wait_row {
	const struct machine_zoom_wait *wait;
	uint64_t now_ns;
};

static const char *const sleep_names[] = {
	[MACHINE_SLEEP_S] = "S",
	[MACHINE_SLEEP_D] = "D",
	[MACHINE_SLEEP_OTHER] = "other",
};

static void put_tid(struct table_view_cell *out, uint32_t tid)
{
	if (tid)
		snprintf(out->text, sizeof(out->text), "%u", tid);
	else
		snprintf(out->text, sizeof(out->text), "-");
}

static void put_name(struct table_view_cell *out, const char *name)
{
	snprintf(out->text, sizeof(out->text), "%s", name ? name : "?");
}

static void put_ns(struct table_view_cell *out, bool is_known, double ns)
{
	format_ns(out->text, is_known ? ns : NAN);
	out->style = is_known ? STYLE_TEXT : STYLE_DIM;
}

CELL(waker_tid)
{
	put_tid(out, ((const struct machine_waker *)row)->tid);
}

CELL(waker_name)
{
	const struct machine_waker *w = row;

	if (w->from != MACHINE_FROM_THREAD)
		put_name(out, w->interrupt);
	else if (w->is_from_known)
		put_name(out, w->comm);
	else
		snprintf(out->text, sizeof(out->text), "%s ?", w->comm ? w->comm : "");
}

static const struct table_view_column waker_columns[] = {
	{ "TID", 7, 0, 4, false, false, false, 0, 0, .cell = waker_tid },
	{ "NAME", 9, 16, 0, true, false, false, 0, 0, .cell = waker_name },
	{ "WAITS", 6, 0, 1, false, true, false, 0, 0,
	  CELL_OF(struct machine_waker, wait.count, COUNT, NONE) },
	{ "MEAN", 6, 0, 5, false, false, false, 0, 0,
	  CELL_OF_DIST(struct machine_waker, wait, mean_ns, DIM_UNKNOWN) },
	{ "P99", 6, 0, 2, false, false, false, 0, 0,
	  CELL_OF_DIST(struct machine_waker, wait, p99_ns, DIM_UNKNOWN) },
	{ "MAX", 6, 0, 3, false, false, false, 0, 0,
	  CELL_OF_DIST(struct machine_waker, wait, max_ns, DIM_UNKNOWN) },
};

static const struct machine_rival *rival(const void *row)
{
	return row;
}

CELL(rival_tid)
{
	put_tid(out, rival(row)->tid);
}

CELL(rival_bar)
{
	out->bar = rival(row)->share;
	out->style = STYLE_USER;
}

static const struct table_view_column rival_columns[] = {
	{ "TID", 7, 0, 5, false, false, false, 0, 0, .cell = rival_tid },
	{ "NAME", 9, 16, 0, true, false, false, 0, 0,
	  CELL_OF(struct machine_rival, comm, TEXT, NONE) },
	{ "WAIT%", 6, 0, 1, false, false, false, 0, 0,
	  CELL_OF(struct machine_rival, share, PERCENT, NONE) },
	{ "TIME", 6, 0, 2, false, false, false, 0, 0, CELL_OF(struct machine_rival, ns, NS, NONE) },
	{ "COUNT", 6, 0, 3, false, true, false, 0, 0,
	  CELL_OF(struct machine_rival, times, COUNT, NONE) },
	{ "MAX", 6, 0, 6, false, false, false, 0, 0,
	  CELL_OF(struct machine_rival, max_ns, NS, NONE) },
	{ "PREEMPTED BY", 12, 0, 4, false, true, false, 0, 0,
	  CELL_OF(struct machine_rival, taken, COUNT, NONE) },
	{ "SHARE", 8, 40, 7, true, false, false, 0, 0, .cell = rival_bar },
};

static const struct machine_zoom_wait *wait_of(const void *row)
{
	return ((const struct wait_row *)row)->wait;
}

CELL(wait_ago)
{
	const struct wait_row *r = row;

	put_ns(out, r->now_ns >= r->wait->start_ns, (double)(r->now_ns - r->wait->start_ns));
}

CELL(wait_cause)
{
	static const char *const names[] = {
		[MACHINE_WOKEN] = "woken", [MACHINE_NEW] = "new", [MACHINE_PREEMPTED] = "preempted"
	};

	put_name(out, names[wait_of(row)->cause]);
}

CELL(wait_cpus)
{
	const struct machine_zoom_wait *w = wait_of(row);

	if (w->from_cpu >= 0 && w->from_cpu != w->cpu)
		snprintf(out->text, sizeof(out->text), "%d>%d", w->from_cpu, w->cpu);
	else
		snprintf(out->text, sizeof(out->text), "%d", w->cpu);
}

CELL(wait_by)
{
	const struct machine_zoom_wait *w = wait_of(row);

	if (w->from == MACHINE_FROM_THREAD)
		snprintf(out->text, sizeof(out->text), "%s [%u]",
		         w->waker_comm ? w->waker_comm : "?", w->waker_tid);
	else
		put_name(out, w->interrupt);
}

CELL(wait_behind)
{
	const struct machine_zoom_wait *w = wait_of(row);
	char ns[FORMAT_BYTES];
	int at = 0;

	for (uint32_t i = 0; i < w->nr_holders && at < TABLE_VIEW_TEXT; i++)
		at += snprintf(out->text + at, sizeof(out->text) - (size_t)at, "%s%s %s",
		               i ? ", " : "", w->holders[i].comm,
		               format_ns(ns, (double)w->holders[i].ns));
	if (w->others_ns && at < TABLE_VIEW_TEXT)
		snprintf(out->text + at, sizeof(out->text) - (size_t)at, "%sothers %s",
		         at ? ", " : "", format_ns(ns, (double)w->others_ns));
}

CELL(wait_slept)
{
	const struct machine_zoom_wait *w = wait_of(row);
	char ns[FORMAT_BYTES];

	if (w->sleep_ns)
		snprintf(out->text, sizeof(out->text), "%.1s %s", sleep_names[w->sleep],
		         format_ns(ns, (double)w->sleep_ns));
	else
		snprintf(out->text, sizeof(out->text), "-");
}

CELL(wait_ran)
{
	const struct machine_zoom_wait *w = wait_of(row);

	put_ns(out, w->run_ns, (double)w->run_ns);
}

static const struct table_view_column wait_columns[] = {
	{ "AGO", 6, 0, 4, false, false, false, 0, 0, .cell = wait_ago },
	{ "RAN", 6, 0, 6, false, false, false, 0, 0, .cell = wait_ran },
	{ "SLEPT", 8, 0, 5, false, false, false, 0, 0, .cell = wait_slept },
	{ "CAUSE", 9, 0, 2, true, false, false, 0, 0, .cell = wait_cause },
	{ "BY", 14, 26, 3, true, false, false, 0, 0, .cell = wait_by },
	{ "WAIT", 6, 0, 0, false, false, false, 0, 0,
	  CELL_VIA(struct wait_row, wait, struct machine_zoom_wait, wait_ns, NS, NONE) },
	{ "CPU", 5, 7, 7, false, false, false, 0, 0, .cell = wait_cpus },
	{ "BEHIND", 14, 160, 1, true, false, false, 0, 0, .cell = wait_behind },
};

/* Those of its rows for which there is room; nothing is selected. */
static void draw_table(struct table_view t, const struct screen *s, struct grid *g, struct area a)
{
	int room = table_view_height(a);

	t.nr_rows = t.total < room ? t.total : room;
	t.selected = -1;
	table_view_draw(&t, s, g, a);
}

static void draw_wakers(const struct machine_zoom *z, const struct screen *s, struct grid *g,
                        struct area a)
{
	const struct machine_waker others = { .comm = "others",
		                              .is_from_known = true,
		                              .wait = z->other_wakers };
	const void *rows[ROWS_MAX];
	int nr = 0;

	for (size_t i = 0; i < z->nr_wakers && nr < ROWS_MAX - 1; i++)
		rows[nr++] = &z->wakers[i];
	if (z->other_wakers.count)
		rows[nr++] = &others;
	draw_table((struct table_view){ .columns = waker_columns,
	                                .nr_columns = NR(waker_columns),
	                                .rows = rows,
	                                .total = nr },
	           s, g, panel_begin(g, a, " Woken by ", NULL));
}

static uint64_t waited_ns(const struct machine_zoom *z)
{
	uint64_t sum = z->other_rivals_ns;

	for (size_t i = 0; i < z->nr_rivals; i++)
		sum += z->rivals[i].ns;
	return sum;
}

static void draw_rivals(const struct machine_zoom *z, const struct screen *s, struct grid *g,
                        struct area a)
{
	uint64_t sum = waited_ns(z);
	const struct machine_rival others = {
		.comm = "others",
		.ns = z->other_rivals_ns,
		.share = sum ? (double)z->other_rivals_ns / (double)sum : 0,
	};
	char right[48], ns[FORMAT_BYTES];
	const void *rows[ROWS_MAX];
	int nr = 0;

	for (size_t i = 0; i < z->nr_rivals && nr < ROWS_MAX - 1; i++)
		rows[nr++] = &z->rivals[i];
	if (z->other_rivals_ns)
		rows[nr++] = &others;
	snprintf(right, sizeof(right), " %s ", format_ns(ns, (double)sum));
	draw_table((struct table_view){ .columns = rival_columns,
	                                .nr_columns = NR(rival_columns),
	                                .rows = rows,
	                                .total = nr },
	           s, g, panel_begin(g, a, " Waited for ", right));
}

static void draw_waits(const struct machine_zoom *z, const struct screen *s, struct grid *g,
                       struct area a)
{
	struct wait_row waits[ROWS_MAX];
	char right[96], over[FORMAT_BYTES], count[FORMAT_BYTES];
	const void *rows[ROWS_MAX];
	int nr = 0;

	for (size_t i = 0; i < z->nr_last && nr < ROWS_MAX; i++) {
		waits[nr] = (struct wait_row){ &z->last[i], z->now_ns };
		rows[nr] = &waits[nr];
		nr++;
	}
	format_ns(over, z->seconds * 1e9);
	if (z->missed)
		snprintf(right, sizeof(right), " %s events missed in %s ",
		         format_count(count, (double)z->missed, s->is_localized), over);
	else
		snprintf(right, sizeof(right), " thread %u, for %s, %s migrations ", z->tid, over,
		         format_count(count, (double)z->migrations, s->is_localized));
	draw_table((struct table_view){ .columns = wait_columns,
	                                .nr_columns = NR(wait_columns),
	                                .rows = rows,
	                                .total = nr },
	           s, g, panel_begin(g, a, " Last waits ", right));
}

void zoom_panel_draw(const struct machine_zoom *z, const struct screen *s, struct grid *g,
                     struct area a)
{
	int tables = a.height * 2 / 5, left = a.width / 2;
	/* A thread that nothing wakes is preempted only: an empty table would take half of the screen. */
	bool has_wakers = z->nr_wakers || z->other_wakers.count;

	tables = tables > TABLES_MOST ? TABLES_MOST : tables;
	if (a.height < ZOOM_PANEL_LEAST)
		return;
	if (a.height < 2 * TABLES_MIN) {
		left = has_wakers ? left : 0;
		if (left)
			draw_wakers(z, s, g, (struct area){ a.x, a.y, left, a.height });
		draw_waits(z, s, g, (struct area){ a.x + left, a.y, a.width - left, a.height });
		return;
	}
	if (a.width < 2 * SIDE_WIDTH || tables < TABLES_MIN) {
		/* One above the other; the waits need most of the lines. */
		tables = a.height / 3;
		if (has_wakers)
			draw_wakers(z, s, g, (struct area){ a.x, a.y, a.width, tables });
		else
			a = (struct area){ a.x, a.y - tables, a.width, a.height + tables };
		draw_rivals(z, s, g, (struct area){ a.x, a.y + tables, a.width, tables });
		draw_waits(z, s, g,
		           (struct area){ a.x, a.y + 2 * tables, a.width, a.height - 2 * tables });
		return;
	}
	left = has_wakers ? left : 0;
	if (left)
		draw_wakers(z, s, g, (struct area){ a.x, a.y, left, tables });
	draw_rivals(z, s, g, (struct area){ a.x + left, a.y, a.width - left, tables });
	draw_waits(z, s, g, (struct area){ a.x, a.y + tables, a.width, a.height - tables });
}

void zoom_panel_sleeps(const struct machine_zoom *z, char *out, size_t size)
{
	char count[FORMAT_BYTES], mean[FORMAT_BYTES];
	size_t at = 0;

	out[0] = '\0';
	for (int i = 0; i < MACHINE_SLEEPS && at < size; i++) {
		const struct machine_zoom_sleep *sleep = &z->sleeps[i];

		if (!sleep->count)
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s%s %s x %s", at ? ", " : "",
		                       sleep_names[i],
		                       format_count(count, (double)sleep->count, false),
		                       format_ns(mean, (double)sleep->ns / (double)sleep->count));
	}
}
