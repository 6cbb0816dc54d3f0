#include "tui/table_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/format.h"

#define ELLIPSIS         0x2026
#define LOCALIZED_WIDER  2
#define FRAME_MIN_WIDTH  24
#define FRAME_MIN_HEIGHT 4
#define FRAME_PADDED     40
#define GENEROUS         4
#define GROWTH           8
#define SORTED_WIDTH     12
#define DOT              0xb7
#define SHADE            0x2592
#define BLOCK            0x2588

struct layout {
	const struct table_view_column *columns[TABLE_VIEW_COLUMNS];
	int width[TABLE_VIEW_COLUMNS];
	size_t nr;
};

int table_view_height(struct area a)
{
	return a.height > 1 ? a.height - 1 : 0;
}

void table_view_scroll(struct screen *s, int total, int height)
{
	int last = total > 0 ? total - 1 : 0;

	if (s->selected > last)
		s->selected = last;
	if (s->selected < 0)
		s->selected = 0;
	if (s->scroll > s->selected)
		s->scroll = s->selected;
	if (height > 0 && s->selected >= s->scroll + height)
		s->scroll = s->selected - height + 1;
	if (s->scroll > total - height)
		s->scroll = total - height;
	if (s->scroll < 0)
		s->scroll = 0;
}

void table_view_follow(struct screen *s, const uint32_t *keys, int total, int height)
{
	if (s->selected_tid == 0) {
		s->is_following = s->selected > 0;
	} else if (!s->is_following) {
		s->selected = 0;
	} else {
		for (int i = 0; i < total; i++)
			if (keys[i] == s->selected_tid)
				s->selected = i;
	}
	table_view_scroll(s, total, height);
	s->selected_tid = total > 0 ? keys[s->selected] : 0;
}

void table_view_text(struct grid *g, int x, int y, int width, enum style style, const char *text)
{
	if (grid_cells(text) <= width) {
		grid_text(g, x, y, width, style, text);
	} else if (width > 0) {
		int taken = grid_text(g, x, y, width - 1, style, text);

		grid_fill(g, (struct area){ x + taken, y, 1, 1 }, style, ELLIPSIS);
	}
}

struct area panel_begin(struct grid *g, struct area a, const char *title, const char *right)
{
	int cells;

	/* What is being typed must be seen. */
	if (right && strncmp(right, " filter:", 8) == 0 &&
	    grid_cells(title) + grid_cells(right) + 6 > a.width)
		title = right;

	if (a.width >= FRAME_MIN_WIDTH && a.height >= FRAME_MIN_HEIGHT) {
		struct area in = grid_frame(g, a, title, right);

		if (a.width >= FRAME_PADDED) {
			in.x++;
			in.width -= 2;
		}
		return in;
	}
	if (a.width <= 0 || a.height <= 0)
		return (struct area){ a.x, a.y, 0, 0 };
	/* Blanks keep titles off a frame's line, which is not there. */
	title += strspn(title, " ");
	table_view_text(g, a.x, a.y, a.width, STYLE_TITLE, title);
	cells = grid_cells(title);
	if (right && cells + 1 + grid_cells(right) <= a.width)
		grid_right(g, a.x + cells, a.y, a.width - cells, STYLE_DIM, right);
	return (struct area){ a.x, a.y + 1, a.width, a.height - 1 };
}

void panel_note(struct grid *g, struct area a, const char *note)
{
	if (a.width >= FRAME_MIN_WIDTH && a.height >= FRAME_MIN_HEIGHT)
		table_view_text(g, a.x + 2, a.y + a.height - 1, a.width - 4, STYLE_DIM, note);
}

static bool is_sorted(const struct table_view_column *c, const struct screen *s)
{
	return c->is_sorted_by && c->sort == s->sort;
}

/* Names are not cut for columns that matter less, unless there is very little room. */
static int least_width(const struct table_view_column *c, const struct screen *s, int width)
{
	if (c->rank == 0 && c->most && width >= GENEROUS * c->most)
		return c->most;
	/* A long text that rows are sorted by is there on small screens, too. */
	if (is_sorted(c, s) && c->is_left && c->width > SORTED_WIDTH)
		return SORTED_WIDTH;
	return c->width + (c->is_count && s->is_localized ? LOCALIZED_WIDER : 0);
}

/* The column that rows are sorted by comes next after the first: an order must be visible to be understood. */
static int rank_of(const struct table_view_column *c, const struct screen *s)
{
	return is_sorted(c, s) && c->rank ? 1 : 2 * c->rank;
}

/* Bits of the columns that fit. */
static uint64_t choose(const struct table_view *t, const struct screen *s, int width)
{
	uint64_t chosen = 0, tried = 0;
	int used = 0;

	for (size_t round = 0; round < t->nr_columns; round++) {
		size_t best = t->nr_columns;
		int wanted;

		for (size_t i = 0; i < t->nr_columns; i++) {
			const struct table_view_column *c = &t->columns[i];

			if (tried & UINT64_C(1) << i || (c->needs & ~t->has))
				continue;
			if (best == t->nr_columns || rank_of(c, s) < rank_of(&t->columns[best], s))
				best = i;
		}
		if (best == t->nr_columns)
			break;
		tried |= UINT64_C(1) << best;
		wanted = least_width(&t->columns[best], s, width) + (chosen ? 1 : 0);
		if (used + wanted > width && chosen)
			break;
		chosen |= UINT64_C(1) << best;
		used += wanted;
	}
	return chosen;
}

static double number_of(const struct table_view_field *f, const void *from, const void *at)
{
	if (f->count && !*(const uint64_t *)((const char *)from + f->count - 1))
		return NAN;
	switch (f->type) {
	case TYPE_DOUBLE:
		return *(const double *)at;
	case TYPE_U64:
		return (double)*(const uint64_t *)at;
	case TYPE_U32:
		return *(const uint32_t *)at;
	case TYPE_I32:
		return *(const int32_t *)at;
	default:
		return NAN;
	}
}

static void write_number(const struct table_view_field *f, double value, const struct screen *s,
                         struct table_view_cell *out)
{
	static char *(*const formats[])(char *, double) = {
		[CELL_NS] = format_ns,       [CELL_PERCENT] = format_percent,
		[CELL_MHZ] = format_mhz,     [CELL_WATTS] = format_watts,
		[CELL_BYTES] = format_bytes, [CELL_CELSIUS] = format_celsius,
	};

	if (f->unit == CELL_COUNT)
		format_count(out->text, value, s->is_localized);
	else if (f->unit != CELL_NUMBER)
		formats[f->unit](out->text, value);
	else if (value < 0)
		snprintf(out->text, sizeof(out->text), "?");
	else
		snprintf(out->text, sizeof(out->text), "%.0f", value);
}

static enum style tint(enum table_view_tint by, double value)
{
	bool is_any = value > 0;

	switch (by) {
	case TINT_DIM:
		return STYLE_DIM;
	case TINT_DIM_0:
		return is_any ? STYLE_TEXT : STYLE_DIM;
	case TINT_DIM_UNKNOWN:
		return isnan(value) ? STYLE_DIM : STYLE_TEXT;
	case TINT_BAND:
		return isnan(value) ? STYLE_DIM : grid_band(value);
	case TINT_WARNING:
		return is_any ? STYLE_WARNING : STYLE_DIM;
	case TINT_BAD:
		return is_any ? STYLE_BAD : STYLE_DIM;
	default:
		return STYLE_TEXT;
	}
}

static void write_field(const struct table_view_field *f, const void *row, const struct screen *s,
                        struct table_view_cell *out)
{
	const char *from = row, *text;
	double value;

	if (f->via)
		from = *(const char *const *)(const void *)(from + f->via - 1);
	value = number_of(f, from, from + f->at);
	out->style = tint(f->tint, value);
	if (f->unit != CELL_TEXT) {
		write_number(f, value, s, out);
		return;
	}
	text = f->type == TYPE_CHARS ? from + f->at
	                             : *(const char *const *)(const void *)(from + f->at);
	snprintf(out->text, sizeof(out->text), "%s", text ? text : "?");
}

static void write_cell(const struct table_view *t, const struct table_view_column *c,
                       const void *row, const struct screen *s, struct table_view_cell *out)
{
	out->text[0] = '\0';
	out->style = STYLE_TEXT;
	out->bar = NAN;
	out->spark = (struct machine_history){ 0 };
	out->spark_max = 1;
	out->split.full = NAN;
	if (t->cell)
		t->cell((size_t)(c - t->columns), row, s, out);
	else if (c->cell)
		c->cell(row, s, out);
	else
		write_field(&c->field, row, s, out);
}

/* What the rows in sight have use for, in steps, so that columns stay while rows change; -1 = it is drawn. */
static int wanted_width(const struct table_view *t, const struct table_view_column *c,
                        const struct screen *s)
{
	int wanted = 0;

	for (int i = 0; i < t->nr_rows && wanted < c->most; i++) {
		struct table_view_cell cell;

		write_cell(t, c, t->rows[i], s, &cell);
		if (!isnan(cell.bar) || !isnan(cell.split.full) || cell.spark.values)
			return -1;
		if (grid_cells(cell.text) > wanted)
			wanted = grid_cells(cell.text);
	}
	wanted = (wanted + GROWTH - 1) / GROWTH * GROWTH;
	return wanted < c->most ? wanted : c->most;
}

/* What is left then. */
static int widen(struct layout *l, size_t i, int width, int left)
{
	int more = width - l->width[i];

	if (more > left)
		more = left;
	if (more <= 0)
		return left;
	l->width[i] += more;
	return left - more;
}

/* Texts first, as far as they have use for it; then what is drawn; the rest is for the last column that may grow. */
static void grow(const struct table_view *t, const struct screen *s, struct layout *l, int left)
{
	bool is_drawn[TABLE_VIEW_COLUMNS] = { 0 };

	for (size_t i = 0; i < l->nr && left > 0; i++) {
		bool may_grow = l->columns[i]->most > l->width[i];
		int wanted = may_grow ? wanted_width(t, l->columns[i], s) : 0;

		is_drawn[i] = wanted < 0;
		left = widen(l, i, wanted, left);
	}
	for (size_t i = 0; i < l->nr; i++)
		if (is_drawn[i])
			left = widen(l, i, l->columns[i]->most, left);
	for (size_t i = l->nr; i-- > 0;)
		left = widen(l, i, l->columns[i]->most, left);
}

static void lay_out(const struct table_view *t, const struct screen *s, int width, struct layout *l)
{
	uint64_t chosen = choose(t, s, width);
	int used = 0;

	l->nr = 0;
	for (size_t i = 0; i < t->nr_columns; i++) {
		if (!(chosen & UINT64_C(1) << i))
			continue;
		l->columns[l->nr] = &t->columns[i];
		l->width[l->nr] = least_width(&t->columns[i], s, width);
		used += l->width[l->nr] + (l->nr ? 1 : 0);
		l->nr++;
	}
	if (l->nr == 1 && used > width)
		l->width[0] = width;
	grow(t, s, l, width - used);
}

static void draw_titles(const struct layout *l, const struct screen *s, struct grid *g,
                        struct area a)
{
	int x = a.x;

	grid_fill(g, (struct area){ a.x, a.y, a.width, 1 }, STYLE_HEAD, ' ');
	for (size_t i = 0; i < l->nr; i++) {
		const struct table_view_column *c = l->columns[i];
		enum style style = is_sorted(c, s) ? STYLE_SORTED : STYLE_HEAD;
		char title[TABLE_VIEW_TEXT];

		snprintf(title, sizeof(title), "%s", c->title);
		if (is_sorted(c, s))
			grid_paint(g, (struct area){ x, a.y, l->width[i], 1 }, STYLE_SORTED);
		if (c->is_left)
			table_view_text(g, x, a.y, l->width[i], style, title);
		else
			grid_right(g, x, a.y, l->width[i], style, title);
		/* The mark is in the gap before a number, after a text: columns need not be wider for it. */
		if (is_sorted(c, s)) {
			int mark = c->is_left ? x + grid_cells(title)
			                      : x + l->width[i] - grid_cells(title) - 1;

			if (mark >= a.x && mark < a.x + a.width)
				grid_fill(g, (struct area){ mark, a.y, 1, 1 }, STYLE_SORTED,
				          s->is_ascending ? 0x25b2 : 0x25bc);
		}
		x += l->width[i] + 1;
	}
}

/* Over the columns of a heading that follow each other, as many as are shown. */
static void draw_headings(const struct layout *l, struct grid *g, struct area a)
{
	int x = a.x;

	for (size_t i = 0; i < l->nr;) {
		const char *heading = l->columns[i]->heading;
		int from = x;

		do
			x += l->width[i++] + 1;
		while (heading && i < l->nr && l->columns[i]->heading == heading);
		if (heading) {
			int width = x - 1 - from, cells = grid_cells(heading);

			grid_fill(g, (struct area){ from, a.y, width, 1 }, STYLE_FRAME, 0x2500);
			if (cells < width)
				table_view_text(g, from + (width - cells) / 2, a.y, width,
				                STYLE_HEAD, heading);
			else
				table_view_text(g, from, a.y, width, STYLE_HEAD, heading);
		}
	}
}

/* Columns that rows can be sorted by, in their order, also those without room: choosing one gives it room. */
static void mark_titles(const struct table_view *t, const struct layout *l, struct grid *g,
                        struct area a)
{
	int x = a.x;
	size_t shown = 0;

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct table_view_column *c = &t->columns[i];
		bool is_shown = shown < l->nr && l->columns[shown] == c;

		if (c->is_sorted_by && !(c->needs & ~t->has))
			grid_mark(g, (struct grid_mark){ .x = x,
			                                 .y = a.y,
			                                 .width = is_shown ? l->width[shown] : 0,
			                                 .value = (int)c->sort,
			                                 .text = c->title,
			                                 .is_main = t->selected != -1 });
		if (is_shown)
			x += l->width[shown++] + 1;
	}
}
/* A share that can be drawn: unknown and impossible ones are none. */
static double drawable(double share)
{
	return isfinite(share) && share > 0 ? fmin(share, 1e6) : 0;
}

/* In shapes as well as in colours. What is not 0 has a cell, if there are three. */
static void draw_split(const struct table_view_split *of, struct grid *g, struct area a)
{
	double filled = drawable(of->full), shaded = drawable(of->shaded);
	double whole = filled + shaded > 1 ? filled + shaded : 1;
	int full = (int)(filled / whole * a.width + 0.5);
	int both = (int)((filled + shaded) / whole * a.width + 0.5);

	if (full == 0 && filled > 0 && a.width > 2)
		full = 1;
	if (both <= full && shaded > 0 && a.width > 2)
		both = full + 1;
	if (both > a.width) {
		both = a.width;
		full -= full == both && shaded > 0;
	}
	grid_fill(g, (struct area){ a.x, a.y, a.width, 1 }, STYLE_DIM, DOT);
	if (both > full)
		grid_fill(g, (struct area){ a.x + full, a.y, both - full, 1 }, STYLE_BAD, SHADE);
	if (full > 0)
		grid_fill(g, (struct area){ a.x, a.y, full, 1 }, STYLE_GOOD, BLOCK);
}

static void draw_cell(const struct table_view_column *c, const struct table_view_cell *cell,
                      struct grid *g, struct area a)
{
	if (!isnan(cell->split.full))
		draw_split(&cell->split, g, a);
	else if (!isnan(cell->bar))
		grid_bar(g, a.x, a.y, a.width, cell->bar, cell->style);
	else if (cell->spark.values)
		grid_spark(g, a.x, a.y, a.width,
		           (struct grid_series){ cell->spark.values, cell->spark.nr,
		                                 cell->spark_max },
		           cell->style);
	else if (c->is_left)
		table_view_text(g, a.x, a.y, a.width, cell->style, cell->text);
	else
		grid_right(g, a.x, a.y, a.width, cell->style, cell->text);
}

static void draw_row(const struct table_view *t, const struct layout *l, const void *row,
                     const struct screen *s, struct grid *g, struct area a)
{
	for (size_t i = 0; i < l->nr; i++) {
		struct table_view_cell cell;

		write_cell(t, l->columns[i], row, s, &cell);
		draw_cell(l->columns[i], &cell, g, (struct area){ a.x, a.y, l->width[i], 1 });
		a.x += l->width[i] + 1;
	}
}

/* A thumb in the last column, only where there is more than is seen. */
static void draw_thumb(const struct table_view *t, struct grid *g, struct area a)
{
	int64_t height = a.height;
	int64_t size = height * height / t->total;
	int64_t at = height * t->first / t->total;

	if (size < 1)
		size = 1;
	if (at + size > height || t->first + t->nr_rows >= t->total)
		at = height - size;
	grid_fill(g, (struct area){ a.x, a.y, 1, a.height }, STYLE_DIM, 0x2502);
	grid_fill(g, (struct area){ a.x, a.y + (int)at, 1, (int)size }, STYLE_FRAME, 0x2503);
}

void table_view_draw(const struct table_view *t, const struct screen *s, struct grid *g,
                     struct area a)
{
	struct layout l;
	struct area rows;
	bool has_thumb;

	a.y += t->has_headings;
	a.height -= t->has_headings;
	has_thumb = t->total > table_view_height(a) && a.width > 10 && a.height > 3;
	rows = (struct area){ a.x, a.y + 1, a.width - (has_thumb ? 2 : 0), table_view_height(a) };
	if (a.width <= 0 || a.height <= 0)
		return;
	lay_out(t, s, rows.width, &l);
	if (t->has_headings)
		draw_headings(&l, g, (struct area){ a.x, a.y - 1, a.width, 1 });
	draw_titles(&l, s, g, (struct area){ a.x, a.y, a.width, 1 });
	mark_titles(t, &l, g, a);
	for (int i = 0; i < t->nr_rows && i < rows.height; i++) {
		struct area line = { rows.x, rows.y + i, rows.width, 1 };

		draw_row(t, &l, t->rows[i], s, g, line);
		if (t->first + i == t->selected)
			grid_select(g, line);
	}
	if (has_thumb)
		draw_thumb(t, g, (struct area){ a.x + a.width - 1, rows.y, 1, rows.height });
}
