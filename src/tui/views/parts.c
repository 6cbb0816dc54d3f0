#include "tui/views/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/cpu_history.h"
#include "tui/views/cpu_panel.h"

#define WIDE         130 /* from here on two halves are wider than 64 cells */
#define ROWS_FRAMES  12  /* that frames above each other need */
#define ROWS_HEAT    8   /* below them a map of heat says little */
#define ROWS_STEP    4
#define ROWS_CHART   8  /* likewise what CPUs did */
#define ROWS_HISTORY 30 /* with fewer, tables need them */
#define EIGHTHS      8

/* What CPUs did over time, the heat map and pressure, as far as there is room. */
static void fill_below(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	int heat = m->heat.nr ? heat_height(m) : 0, height;
	bool has_pressure;

	heat = heat < ROWS_HEAT && heat ? ROWS_HEAT : heat;
	/* In steps: one more of its lines must not move what is above it. */
	heat = (heat + ROWS_STEP - 1) / ROWS_STEP * ROWS_STEP;
	heat = heat > a.height / 2 ? a.height / 2 : heat;
	/* Before they are measured they have their room, too. */
	has_pressure = !m->play && a.height >= ROWS_CHART + heat + PRESSURE_LINES;
	if (!s->is_frozen)
		s->has_spare = has_pressure;
	if (has_pressure) {
		a.height -= PRESSURE_LINES;
		if (m->memory.past.cpu_some.nr)
			pressure_draw(m, s, g,
			              (struct area){ a.x, a.y + a.height, a.width,
			                             PRESSURE_LINES });
	}
	height = cpu_history_height(m, s, a.height - heat, true);
	if (height)
		cpu_history_draw(m, g, (struct area){ a.x, a.y, a.width, height });
	a.y += height;
	a.height -= height;
	if (heat && a.height >= ROWS_HEAT)
		heat_draw(m, s, g, a);
}

struct area parts_with_cpus(const struct machine *m, struct screen *s, struct grid *g,
                            struct area a)
{
	int height;

	if (!s->is_frozen)
		s->has_spare = false;
	if (a.height < ROWS_FRAMES) {
		cpu_panel_line(m, s, g, (struct area){ a.x, a.y, a.width, 1 });
		return (struct area){ a.x, a.y + 1, a.width, a.height - 1 };
	}
	if (a.width >= WIDE) {
		/* Tables have more to say than bars. */
		int left = a.width * 3 / 5;

		height = cpu_panel_height(m, s, a.width - left);
		if (height > a.height)
			height = a.height;
		cpu_panel_draw(m, s, g, (struct area){ a.x + left, a.y, a.width - left, height });
		fill_below(m, s, g,
		           (struct area){ a.x + left, a.y + height, a.width - left,
		                          a.height - height });
		return (struct area){ a.x, a.y, left, a.height };
	}
	height = cpu_panel_height(m, s, a.width);
	if (height > a.height / 2)
		height = a.height / 2;
	cpu_panel_draw(m, s, g, (struct area){ a.x, a.y, a.width, height });
	a.y += height;
	a.height -= height;
	height = a.height >= ROWS_HISTORY ? cpu_history_height(m, s, a.height / 3, false) : 0;
	if (height)
		cpu_history_draw(m, g, (struct area){ a.x, a.y, a.width, height });
	return (struct area){ a.x, a.y + height, a.width, a.height - height };
}

void parts_value(struct grid *g, struct area a, const char *name, const char *value)
{
	int cells = grid_cells(value);

	/* The value is what matters. */
	table_view_text(g, a.x, a.y, a.width - cells - 1, STYLE_DIM, name);
	grid_right(g, a.x, a.y, a.width, STYLE_TEXT, value);
}

int parts_sentence(struct grid *g, struct area a, enum style style, const char *text)
{
	char line[512];
	int y = 0;

	for (; *text && y < a.height && a.width > 0; y++) {
		size_t len = strlen(text), fits;

		if (y + 1 == a.height) {
			table_view_text(g, a.x, a.y + y, a.width, style, text);
			return a.height;
		}
		if (len > (size_t)a.width)
			len = (size_t)a.width;
		if (len >= sizeof(line))
			len = sizeof(line) - 1;
		/* Whole words, if there is one that fits. */
		for (fits = len; text[fits] && fits && text[fits] != ' '; fits--)
			;
		len = fits ? fits : len;
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		grid_text(g, a.x, a.y + y, a.width, style, line);
		text += len;
		text += strspn(text, " ");
	}
	return y;
}

void parts_dist(const struct machine_dist *d, char *out, size_t size)
{
	char p50[FORMAT_BYTES], p99[FORMAT_BYTES], max[FORMAT_BYTES];

	if (!d->count)
		snprintf(out, size, "none");
	else
		snprintf(out, size, "p50 %s  p99 %s  max %s", format_ns(p50, (double)d->p50_ns),
		         format_ns(p99, (double)d->p99_ns), format_ns(max, (double)d->max_ns));
}

static size_t place_of_sort(const struct parts_sort *sorts, size_t nr, enum view_sort sort)
{
	for (size_t i = 0; i < nr; i++)
		if (sorts[i].sort == sort)
			return i;
	return 0;
}

enum view_sort parts_sort_of(const struct parts_sort *sorts, size_t nr, const struct screen *s)
{
	return sorts[place_of_sort(sorts, nr, s->sort)].sort;
}

bool parts_sort_act(const struct parts_sort *sorts, size_t nr, struct screen *s, enum action action)
{
	size_t at = place_of_sort(sorts, nr, s->sort);

	if (action != ACTION_SORT_NEXT && action != ACTION_SORT_PREVIOUS)
		return false;
	at = (at + (action == ACTION_SORT_NEXT ? 1 : nr - 1)) % nr;
	s->sort = sorts[at].sort;
	s->is_ascending = s->sort == SORT_TID || s->sort == SORT_NAME;
	s->selected = 0;
	s->selected_tid = 0;
	snprintf(s->message, sizeof(s->message), "sorted by %s", sorts[at].name);
	return true;
}

bool parts_rate_act(const struct parts_rate *r, double *hz, struct screen *s, enum action action)
{
	double now = *hz > 0 ? *hz : r->usual;
	double next = action == ACTION_SAMPLE_LESS ? now / 2 : now * 2;

	if (action != ACTION_SAMPLE_LESS && action != ACTION_SAMPLE_MORE)
		return false;
	if (next < r->min || next > r->max) {
		snprintf(s->message, sizeof(s->message), "%.0f samples a second are the %s here",
		         (double)(uint64_t)now, next < r->min ? "fewest" : "most");
		return true;
	}
	*hz = next;
	snprintf(s->message, sizeof(s->message),
	         "%.0f samples a second of each CPU; the samples start again",
	         (double)(uint64_t)next);
	return true;
}

void parts_right(const struct screen *s, char *out, size_t size)
{
	out[0] = '\0';
	if (s->is_typing)
		snprintf(out, size, " filter: %s_ ", s->filter);
	else if (s->filter[0])
		snprintf(out, size, " filter: %s ", s->filter);
}

double parts_largest(const struct machine_history *h, int cells)
{
	double max = 0;

	for (int i = 0; i < cells && (uint32_t)i < h->nr; i++)
		max = fmax(max, h->values[h->nr - 1 - (uint32_t)i]);
	return max;
}

/* A column of a chart: part is of its height. What is not 0 has an eighth of a cell. */
static void draw_column(double part, enum style style, struct grid *g, struct area a)
{
	int eighths = part < 1 ? (int)(part * a.height * EIGHTHS + 0.5) : a.height * EIGHTHS;

	if (eighths == 0)
		eighths = 1;
	for (int row = 0; row < a.height && eighths > row * EIGHTHS; row++) {
		int here = eighths - row * EIGHTHS;

		grid_fill(g, (struct area){ a.x, a.y + a.height - 1 - row, 1, 1 },
		          style == STYLE_TEXT ? grid_band(part) : style,
		          (uint32_t)(0x2580 + (here > EIGHTHS ? EIGHTHS : here)));
	}
}

void parts_chart(const struct machine *m, const struct parts_chart *c, struct grid *g,
                 struct area a)
{
	const struct machine_history *h = &c->of;
	int inside = a.width > 4 ? a.width - 4 : 0;
	int shown = h->nr < (uint32_t)inside ? (int)h->nr : inside;
	char right[FORMAT_BYTES + 16], span[FORMAT_BYTES];
	double max = c->max;
	struct area in;

	(void)snprintf(right, sizeof(right), " last %s ",
	               format_ns(span, m->interval_s * shown * 1e9));
	in = panel_begin(g, a, c->title, shown ? right : NULL);
	if (!(max > 0))
		max = parts_largest(h, in.width);
	for (int i = 0; i < in.width && (uint32_t)i < h->nr; i++) {
		double part = h->values[h->nr - 1 - (uint32_t)i] / max;

		if (part > 0)
			draw_column(part, c->style, g,
			            (struct area){ in.x + in.width - 1 - i, in.y, 1, in.height });
	}
}
