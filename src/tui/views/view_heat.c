#include <math.h>
#include <stdio.h>

#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/views.h"

#define LABEL_CELLS 7
#define COUNT_CELLS 6
#define NS_PER_US   1000.0
#define FRAME_LINES 3 /* the times, too */

/* Shades besides colours: heat is seen without them, too. */
static const uint32_t shades[HEAT_LEVELS] = { 0xb7,   0x2591, 0x2591, 0x2592, 0x2592,
	                                      0x2593, 0x2593, 0x2588, 0x2588 };

/* Rows of the machine that are shown: those in use and one on each side, joined if there is no room for all. */
struct scale {
	uint32_t low, high; /* both included */
	uint32_t joined;    /* that share a line */
	int lines;
	int tall, wide; /* cells of a square: a map fills its frame */
};

static bool is_used(const struct machine_heat *h, uint32_t row)
{
	for (uint32_t i = 0; i < h->nr; i++)
		if (h->columns[i][row])
			return true;
	return false;
}

static struct scale scale_of(const struct machine_heat *h, int width, int height)
{
	struct scale s = { MACHINE_HEAT_ROWS, 0, 1, 0, 1, 1 };
	uint32_t nr;

	for (uint32_t row = 0; row < MACHINE_HEAT_ROWS; row++) {
		if (!is_used(h, row))
			continue;
		if (s.low == MACHINE_HEAT_ROWS)
			s.low = row;
		s.high = row;
	}
	if (s.low == MACHINE_HEAT_ROWS)
		return (struct scale){ 0, 0, 1, 0, 1, 1 };
	s.low -= s.low > 0;
	s.high += s.high + 1 < MACHINE_HEAT_ROWS;
	nr = s.high - s.low + 1;
	if (height > 0)
		s.joined = (nr + (uint32_t)height - 1) / (uint32_t)height;
	s.lines = (int)((nr + s.joined - 1) / s.joined);
	if (height >= 2 * s.lines)
		s.tall = height / s.lines;
	if (width >= 2 * (int)h->nr)
		s.wide = width / (int)h->nr;
	return s;
}

static uint64_t count_of(const uint32_t *column, uint32_t from, uint32_t nr)
{
	uint64_t sum = 0;

	for (uint32_t row = from; row < from + nr && row < MACHINE_HEAT_ROWS; row++)
		sum += column[row];
	return sum;
}

/* 0 is nothing, 1 is one; larger values by the logarithm, up to the largest. */
static int level_of(uint64_t count, uint64_t max)
{
	int level;

	if (!count)
		return 0;
	if (count >= max)
		return HEAT_LEVELS - 1;
	level = 1 + (int)(log2((double)count) / log2((double)max) * (HEAT_LEVELS - 2));
	return level < HEAT_LEVELS ? level : HEAT_LEVELS - 1;
}

static void draw_label(uint32_t row, struct grid *g, struct area a)
{
	char text[FORMAT_BYTES];

	if (row == 0)
		grid_right(g, a.x, a.y, a.width, STYLE_DIM, "< 1us");
	else
		grid_right(g, a.x, a.y, a.width, STYLE_DIM,
		           format_ns(text, ldexp(NS_PER_US, (int)row - 1)));
}

/* Seconds back, every 40 cells. */
static void draw_times(const struct machine *m, const struct scale *scale, struct grid *g,
                       struct area a)
{
	int known = (int)m->heat.nr * scale->wide;
	char text[FORMAT_BYTES + 8], span[FORMAT_BYTES];

	grid_right(g, a.x, a.y, a.width, STYLE_DIM, "now");
	for (int back = 40; back <= known && back < a.width; back += 40) {
		format_ns(span, m->interval_s * back / scale->wide * 1e9);
		snprintf(text, sizeof(text), "-%s", span);
		grid_text(g, a.x + a.width - back, a.y, 8, STYLE_DIM, text);
	}
}

static uint64_t draw_line(const struct machine_heat *h, uint32_t from, const struct scale *scale,
                          struct grid *g, struct area a)
{
	uint64_t max = (uint64_t)h->max * scale->joined, sum = 0;

	for (int i = 0; (i + 1) * scale->wide <= a.width && (uint32_t)i < h->nr; i++) {
		uint64_t count = count_of(h->columns[h->nr - 1 - (uint32_t)i], from, scale->joined);
		int level = level_of(count, max);

		grid_fill(g,
		          (struct area){ a.x + a.width - (i + 1) * scale->wide, a.y, scale->wide,
		                         scale->tall },
		          (enum style)(STYLE_HEAT + level), shades[level]);
		sum += count;
	}
	return sum;
}

static void draw_map(const struct machine *m, const struct screen *s, struct grid *g, struct area a)
{
	bool has_counts = a.width >= 40;
	int width = a.width - LABEL_CELLS - 1 - (has_counts ? COUNT_CELLS + 3 : 0);
	struct scale scale = scale_of(&m->heat, width, a.height - 1);
	int height = scale.lines * scale.tall;

	for (int line = 0; line < scale.lines; line++) {
		/* Long waits are on top. */
		uint32_t from = scale.low + (uint32_t)(scale.lines - 1 - line) * scale.joined;
		int y = a.y + line * scale.tall;
		uint64_t sum;

		draw_label(from, g, (struct area){ a.x, y, LABEL_CELLS, 1 });
		sum = draw_line(&m->heat, from, &scale, g,
		                (struct area){ a.x + LABEL_CELLS + 1, y, width, 1 });
		if (has_counts) {
			char text[FORMAT_BYTES];

			grid_right(g, a.x + a.width - COUNT_CELLS - 2, y, COUNT_CELLS + 2,
			           sum ? STYLE_TEXT : STYLE_DIM,
			           format_count(text, (double)sum, s->is_localized));
		}
	}
	if (a.height > height)
		draw_times(m, &scale, g,
		           (struct area){ a.x + LABEL_CELLS + 1, a.y + height, width, 1 });
}

int heat_height(const struct machine *m)
{
	struct scale scale = scale_of(&m->heat, 0, 0);

	return scale.lines + FRAME_LINES;
}

void heat_draw(const struct machine *m, const struct screen *s, struct grid *g, struct area a)
{
	char right[128], dist[96];
	struct area in;

	parts_dist(&m->wait, dist, sizeof(dist));
	snprintf(right, sizeof(right), " %s ", dist);
	in = panel_begin(g, a, " Wakeup latency over time ", right);
	if (!m->heat.nr || !m->heat.max)
		grid_text(g, in.x, in.y, in.width, STYLE_DIM,
		          m->heat.nr ? "no wakeups yet" : "not measured: needs BPF");
	else
		draw_map(m, s, g, in);
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	heat_draw(m, s, g, a);
}

const struct view view_heat = {
	.id = "heat",
	.title = "Latency",
	.state = "Heat",
	.what = "wakeup latency over time, as a heat map",
	.needs = MACHINE_LATENCY | MACHINE_HEAT,
	.draw = draw,
};
