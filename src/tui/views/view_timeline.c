#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_lanes.h"
#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/views.h"

#define NAME_MIN    4  /* cells of a run that has room for a name */
#define LABEL_WIDE  60 /* from here on a label says what it is of */
#define TABLE_MIN   3  /* lines of the table of waits, its title included */
#define TABLE_MOST  12
#define TALL_MOST   3 /* lines of a lane */
#define MARKS       9U
#define ENTRY_BYTES 96

_Static_assert(MACHINE_LANES_NAMES <= 26, "names have a letter each");

/* Lines of a CPU: its lane, how many waited, a blank. */
struct layout {
	int label, columns; /* cells */
	int tall;
	bool has_waiting, has_gap;
	size_t nr;         /* lanes that are shown */
	int legend, table; /* lines */
};

static int lines_of(const struct layout *l)
{
	return l->tall + l->has_waiting + l->has_gap;
}

/* The largest lanes with which all CPUs have room; else as many as there is room for. */
static void stretch(struct layout *l, size_t nr, int height)
{
	static const struct layout kinds[] = {
		{ .tall = TALL_MOST, .has_waiting = true, .has_gap = true },
		{ .tall = 2, .has_waiting = true, .has_gap = true },
		{ .tall = 1, .has_waiting = true, .has_gap = true },
		{ .tall = 1, .has_waiting = true },
		{ .tall = 1 },
	};
	size_t at = 0;

	while (at + 1 < sizeof(kinds) / sizeof(kinds[0]) &&
	       (size_t)lines_of(&kinds[at]) * nr > (size_t)height)
		at++;
	l->tall = kinds[at].tall;
	l->has_waiting = kinds[at].has_waiting;
	l->has_gap = kinds[at].has_gap;
	l->nr = (size_t)(height / lines_of(l));
	if (l->nr > nr)
		l->nr = nr;
}

static struct layout lay_out(const struct machine_lanes *lanes, struct area in)
{
	struct layout l = { .label = in.width >= LABEL_WIDE ? 8 : 4 };
	int rest = in.height - 1, table = (int)lanes->nr_waits + 1;

	l.columns = in.width - l.label;
	if (l.columns > (int)MACHINE_LANES_COLUMNS)
		l.columns = (int)MACHINE_LANES_COLUMNS;
	l.legend = rest >= 16 ? 2 : rest >= 6 ? 1 : 0;
	rest -= l.legend;
	if (table > TABLE_MOST)
		table = TABLE_MOST;
	if (table > rest / 3)
		table = rest / 3;
	l.table = table >= TABLE_MIN ? table : 0;
	stretch(&l, lanes->nr, rest - l.table);
	return l;
}

static const struct machine_lane_column *column_at(const struct machine_lanes *lanes,
                                                   const struct machine_lane *lane,
                                                   const struct layout *l, int x)
{
	/* The screen may have become wider or narrower since the machine was requested. */
	return &lane->columns[(size_t)x * lanes->nr_columns / (size_t)l->columns];
}

static void draw_run(const struct machine_lanes *lanes, uint8_t what, struct grid *g, struct area a)
{
	const char letter[] = { (char)('a' + what % 26), '\0' };
	enum style style = (enum style)(STYLE_LANE + what % LANE_COLOURS);

	if (what >= MACHINE_LANE_OTHERS) {
		grid_fill(g, a, STYLE_DIM,
		          what == MACHINE_LANE_OTHERS ? '+'
		          : what == MACHINE_LANE_IDLE ? 0xb7
		                                      : '?');
		return;
	}
	grid_fill(g, a, style, ' ');
	if (a.width < NAME_MIN)
		grid_text(g, a.x, a.y, 1, style, letter);
	else
		table_view_text(g, a.x, a.y, a.width - 1, style, lanes->names[what].comm);
}

static void draw_lane(const struct machine_lanes *lanes, const struct machine_lane *lane,
                      const struct layout *l, struct grid *g, struct area a)
{
	for (int x = 0, from = 0; x < l->columns; x = from) {
		uint8_t what = column_at(lanes, lane, l, x)->what;

		for (from = x; from < l->columns; from++)
			if (column_at(lanes, lane, l, from)->what != what)
				break;
		draw_run(lanes, what, g, (struct area){ a.x + x, a.y, from - x, l->tall });
	}
}

static void draw_waiting(const struct machine_lanes *lanes, const struct machine_lane *lane,
                         const struct layout *l, struct grid *g, struct area a)
{
	double max = lanes->waiting_max > 1 ? lanes->waiting_max : 1;

	for (int x = 0; x < l->columns; x++) {
		double value = column_at(lanes, lane, l, x)->waiting;

		grid_spark(g, a.x + x, a.y, 1, (struct grid_series){ &value, 1, max },
		           value >= 1 ? STYLE_BAD : STYLE_HIGH);
	}
}

/* The number of each of the longest waits, where it ended; the longest is drawn last. */
static void draw_marks(const struct machine_lanes *lanes, const struct machine_lane *lane,
                       const struct layout *l, struct grid *g, struct area a)
{
	double span = (double)(lanes->to_ns - lanes->from_ns);

	for (size_t i = lanes->nr_waits < MARKS ? lanes->nr_waits : MARKS; i-- > 0;) {
		const struct machine_lane_wait *w = &lanes->waits[i];
		int x = (int)((double)(w->end_ns - lanes->from_ns) / span * l->columns);

		if (w->cpu == lane->cpu && w->end_ns >= lanes->from_ns)
			grid_fill(g,
			          (struct area){ a.x + (x < l->columns ? x : l->columns - 1), a.y,
			                         1, 1 },
			          STYLE_WARNING, '1' + (uint32_t)i);
	}
}

static void draw_cpu(const struct machine_lanes *lanes, const struct machine_lane *lane,
                     const struct layout *l, struct grid *g, struct area a)
{
	struct area lines = { a.x + l->label, a.y, l->columns, 1 };

	grid_printf(g, a.x, a.y, l->label - 1, STYLE_DIM, l->label > 4 ? "CPU %u" : "%u",
	            lane->cpu);
	draw_lane(lanes, lane, l, g, lines);
	if (!l->has_waiting)
		return;
	lines.y += l->tall;
	if (l->label > 4)
		grid_text(g, a.x, lines.y, l->label - 1, STYLE_DIM, "waiting");
	draw_waiting(lanes, lane, l, g, lines);
	draw_marks(lanes, lane, l, g, lines);
}

/* "-5.00s" before now; in a recording the time since its start. */
static void time_text(const struct machine_lanes *lanes, uint64_t ns, char out[static 32])
{
	char text[FORMAT_BYTES];

	if (!lanes->is_live)
		(void)snprintf(out, 32, "%.4fs", (double)(ns - lanes->start_ns) / 1e9);
	else if (ns >= lanes->to_ns)
		(void)snprintf(out, 32, "now");
	else
		(void)snprintf(out, 32, "-%s", format_ns(text, (double)(lanes->to_ns - ns)));
}

static void draw_axis(const struct machine_lanes *lanes, const struct layout *l, struct grid *g,
                      struct area a)
{
	char text[32];

	time_text(lanes, lanes->from_ns, text);
	grid_text(g, a.x + l->label, a.y, l->columns, STYLE_DIM, text);
	time_text(lanes, lanes->to_ns, text);
	grid_right(g, a.x + l->label, a.y, l->columns, STYLE_DIM, text);
	if (l->columns < 50)
		return;
	time_text(lanes, lanes->from_ns + (lanes->to_ns - lanes->from_ns) / 2, text);
	grid_text(g, a.x + l->label + l->columns / 2, a.y, l->columns / 4, STYLE_DIM, text);
}

/* " service 1.23s": what follows the letter; as many as fit. */
static void draw_legend(const struct machine_lanes *lanes, const struct layout *l, struct grid *g,
                        struct area a)
{
	int x = 0, y = 0;

	for (size_t i = 0; i < lanes->nr_names; i++) {
		const char letter[] = { (char)('a' + i), '\0' };
		char text[ENTRY_BYTES], ns[FORMAT_BYTES];
		int width;

		(void)snprintf(text, sizeof(text), " %.20s %s", lanes->names[i].comm,
		               format_ns(ns, (double)lanes->names[i].run_ns));
		width = 1 + grid_cells(text);
		if (x + width > a.width) {
			x = 0;
			y++;
		}
		if (y >= l->legend)
			return;
		grid_text(g, a.x + x, a.y + y, 1, (enum style)(STYLE_LANE + i % LANE_COLOURS),
		          letter);
		grid_text(g, a.x + x + 1, a.y + y, a.width - x - 1, STYLE_TEXT, text);
		x += width + 2;
	}
	if (lanes->others_ns && a.width - x > 20) {
		char ns[FORMAT_BYTES];

		grid_printf(g, a.x + x, a.y + y, a.width - x, STYLE_DIM, "+ others %s",
		            format_ns(ns, (double)lanes->others_ns));
	}
}

struct wait_row {
	const struct machine_lanes *lanes;
	const struct machine_lane_wait *wait;
};

CELL(cell_number)
{
	const struct wait_row *r = row;

	snprintf(out->text, sizeof(out->text), "%zu", (size_t)(r->wait - r->lanes->waits) + 1);
	out->style = (size_t)(r->wait - r->lanes->waits) < MARKS ? STYLE_WARNING : STYLE_DIM;
}

CELL(cell_ended)
{
	const struct wait_row *r = row;
	char text[FORMAT_BYTES];

	if (r->wait->is_open)
		snprintf(out->text, sizeof(out->text), "not over");
	else if (!r->lanes->is_live)
		snprintf(out->text, sizeof(out->text), "at %.4fs",
		         (double)(r->wait->end_ns - r->lanes->start_ns) / 1e9);
	else
		snprintf(out->text, sizeof(out->text), "%s ago",
		         format_ns(text, (double)(r->lanes->to_ns - r->wait->end_ns)));
	out->style = r->wait->is_open ? STYLE_BAD : STYLE_TEXT;
}

#define ROW  struct wait_row
#define WAIT struct machine_lane_wait
/* clang-format off */
static const struct table_view_column columns[] = {
	{ "#", 2, 0, 0, false, false, false, 0, 0, .cell = cell_number },
	{ "LONGEST WAITS", 15, 32, 1, true, false, false, 0, 0, CELL_VIA(ROW, wait, WAIT, comm, TEXT, NONE) },
	{ "TID", 7, 0, 2, false, false, false, 0, 0, CELL_VIA(ROW, wait, WAIT, tid, NUMBER, NONE) },
	{ "WAITED", 7, 0, 1, false, false, false, 0, 0, CELL_VIA(ROW, wait, WAIT, wait_ns, NS, NONE) },
	{ "FOR CPU", 7, 0, 3, false, false, false, 0, 0, CELL_VIA(ROW, wait, WAIT, cpu, NUMBER, NONE) },
	{ "ENDED", 12, 0, 4, false, false, false, 0, 0, .cell = cell_ended },
};
/* clang-format on */

static void draw_waits(const struct machine_lanes *lanes, struct screen *s, struct grid *g,
                       struct area a)
{
	struct wait_row all[MACHINE_LANES_WAITS];
	const void *rows[MACHINE_LANES_WAITS];
	int height = table_view_height(a), nr = (int)lanes->nr_waits, left;

	for (int i = 0; i < nr; i++) {
		all[i] = (struct wait_row){ lanes, &lanes->waits[i] };
		rows[i] = &all[i];
	}
	table_view_scroll(s, nr, height);
	left = nr - s->scroll;
	table_view_draw(&(struct table_view){ .columns = columns,
	                                      .nr_columns = sizeof(columns) / sizeof(columns[0]),
	                                      .rows = rows + s->scroll,
	                                      .nr_rows = left < height ? left : height,
	                                      .first = s->scroll,
	                                      .total = nr,
	                                      .selected = s->selected },
	                s, g, a);
}

static void draw_all(const struct machine_lanes *lanes, struct screen *s, struct grid *g,
                     struct area in)
{
	struct layout l = lay_out(lanes, in);
	int y = in.y;

	for (size_t i = 0; i < l.nr; i++, y += lines_of(&l))
		draw_cpu(lanes, &lanes->lanes[i], &l, g,
		         (struct area){ in.x, y, in.width, lines_of(&l) });
	y -= l.has_gap;
	draw_axis(lanes, &l, g, (struct area){ in.x, y++, in.width, 1 });
	draw_legend(lanes, &l, g, (struct area){ in.x, y, in.width, l.legend });
	y += l.legend;
	y += in.y + in.height - y > l.table; /* a blank line, if there is one */
	if (l.table)
		draw_waits(lanes, s, g, (struct area){ in.x, y, in.width, in.y + in.height - y });
}

static void title_of(const struct machine_lanes *lanes, const struct layout *l, char *out,
                     size_t size)
{
	char span[FORMAT_BYTES], cpus[32] = "";
	double waiting = 0;

	for (size_t i = 0; i < lanes->nr; i++)
		waiting += lanes->lanes[i].waiting;
	if (l->nr < lanes->nr)
		(void)snprintf(cpus, sizeof(cpus), "%zu of ", l->nr);
	(void)snprintf(
		out, size,
		" Timeline: %s, %s%zu CPU%s, %.2f tasks waiting on average, at most %.1f for a CPU ",
		format_ns(span, (double)(lanes->to_ns - lanes->from_ns)), cpus, lanes->nr,
		lanes->nr == 1 ? "" : "s", waiting, lanes->waiting_max);
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	const struct machine_lanes *lanes = m->lanes;
	bool has_data = lanes && lanes->nr && lanes->from_ns < lanes->to_ns;
	char title[160] = " Timeline ", right[64] = "";
	struct area in, frame = { a.x, a.y, a.width - 4, a.height - 2 };

	if (has_data) {
		struct layout l = lay_out(lanes, frame);

		title_of(lanes, &l, title, sizeof(title));
	}
	if (lanes && lanes->lost)
		snprintf(right, sizeof(right), " %" PRIu64 " events lost ", lanes->lost);
	in = panel_begin(g, a, title, right);
	s->nr_columns = in.width > 8 ? (uint32_t)in.width - (in.width >= LABEL_WIDE ? 8 : 4) : 1;
	s->selected_tid = 0;
	if (in.width < 12 || in.height < 2)
		return;
	if (has_data)
		draw_all(lanes, s, g, in);
	else
		table_view_text(g, in.x, in.y, in.width,
		                lanes && lanes->note ? STYLE_WARNING : STYLE_DIM,
		                lanes && lanes->note ? lanes->note : "nothing measured yet");
	if (has_data && s->selected >= 0 && (size_t)s->selected < lanes->nr_waits)
		s->selected_tid = lanes->waits[s->selected].tid;
}

static int rows(const struct machine *m, const struct screen *s)
{
	(void)s;
	return m->lanes ? (int)m->lanes->nr_waits : 0;
}

static void request(const struct screen *s, struct machine_request *r)
{
	r->nr_columns = s->nr_columns;
}

const struct view view_timeline = {
	.id = "timeline",
	.title = "Timeline",
	.state = "Timeline",
	.what = "which task each CPU ran over time, and how many waited",
	.needs = MACHINE_LANES,
	.draw = draw,
	.request = request,
	.into = "Task",
	.rows = rows,
};
