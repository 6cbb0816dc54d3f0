#include "tui/grid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"

#define EIGHTHS 8

int grid_init(struct grid *g, uint16_t width, uint16_t height)
{
	*g = (struct grid){ 0 };
	return grid_reset(g, width, height);
}

void grid_done(struct grid *g)
{
	free(g->cells);
	*g = (struct grid){ 0 };
}

int grid_reset(struct grid *g, uint16_t width, uint16_t height)
{
	size_t nr = (size_t)width * height;

	if (width != g->width || height != g->height || !g->cells) {
		struct cell *cells = realloc(g->cells, (nr ? nr : 1) * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		g->cells = cells;
		g->width = width;
		g->height = height;
	}
	for (size_t i = 0; i < nr; i++)
		g->cells[i] = (struct cell){ ' ', STYLE_TEXT, false };
	g->nr_marks = 0;
	return 0;
}

void grid_mark(struct grid *g, struct grid_mark mark)
{
	if (g->nr_marks < GRID_MARKS)
		g->marks[g->nr_marks++] = mark;
}

static struct cell *cell_at(struct grid *g, int x, int y)
{
	if (x < 0 || y < 0 || x >= g->width || y >= g->height)
		return NULL;
	return &g->cells[(size_t)y * g->width + (size_t)x];
}

static void put(struct grid *g, int x, int y, enum style style, uint32_t code)
{
	struct cell *c = cell_at(g, x, y);

	if (!c)
		return;
	/* Half of a wide character would move all that follows in its row. */
	if (c->code == 0 && code != 0 && x > 0)
		c[-1].code = ' ';
	if (x + 1 < g->width && c[1].code == 0)
		c[1].code = ' ';
	*c = (struct cell){ code, (uint8_t)style, false };
}

/* Cells that a code point takes: control characters and unknown ones are shown as '?'. */
static int width_of(uint32_t *code)
{
	int width;

	if (*code < 0x20 || (*code >= 0x7f && *code < 0xa0) || *code == UTF8_INVALID) {
		*code = '?';
		return 1;
	}
	if (*code < 0x7f)
		return 1;
	width = wcwidth((wchar_t)*code);
	if (width < 0)
		*code = '?';
	return width < 0 ? 1 : width;
}

int grid_text(struct grid *g, int x, int y, int max, enum style style, const char *text)
{
	size_t len = strlen(text), at = 0;
	int taken = 0;

	while (at < len) {
		uint32_t code;
		int width;

		at += utf8_next(text + at, len - at, &code);
		width = width_of(&code);
		if (taken + width > max || (width == 2 && x + taken + 1 >= g->width))
			break;
		if (width == 0)
			continue;
		put(g, x + taken, y, style, code);
		if (width == 2)
			put(g, x + taken + 1, y, style, 0);
		taken += width;
	}
	return taken;
}

int grid_printf(struct grid *g, int x, int y, int max, enum style style, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return grid_text(g, x, y, max, style, text);
}

int grid_cells(const char *text)
{
	size_t len = strlen(text), at = 0;
	int cells = 0;

	while (at < len) {
		uint32_t code;

		at += utf8_next(text + at, len - at, &code);
		cells += width_of(&code);
	}
	return cells;
}

void grid_right(struct grid *g, int x, int y, int max, enum style style, const char *text)
{
	int cells = grid_cells(text);

	grid_text(g, cells < max ? x + max - cells : x, y, max, style, text);
}

void grid_fill(struct grid *g, struct area a, enum style style, uint32_t code)
{
	for (int y = a.y; y < a.y + a.height; y++)
		for (int x = a.x; x < a.x + a.width; x++)
			put(g, x, y, style, code);
}

void grid_paint(struct grid *g, struct area a, enum style style)
{
	for (int y = a.y; y < a.y + a.height; y++) {
		for (int x = a.x; x < a.x + a.width; x++) {
			struct cell *c = cell_at(g, x, y);

			if (c)
				c->style = (uint8_t)style;
		}
	}
}

void grid_select(struct grid *g, struct area a)
{
	for (int y = a.y; y < a.y + a.height; y++) {
		for (int x = a.x; x < a.x + a.width; x++) {
			struct cell *c = cell_at(g, x, y);

			if (!c)
				continue;
			c->is_selected = true;
			if ((c->style < STYLE_GOOD || c->style > STYLE_WARNING) || c->code == ' ')
				c->style = STYLE_SELECTED;
		}
	}
}

struct area grid_frame(struct grid *g, struct area a, const char *title, const char *right)
{
	int last_x = a.x + a.width - 1, last_y = a.y + a.height - 1;

	if (a.width < 2 || a.height < 2)
		return (struct area){ a.x, a.y, 0, 0 };
	for (int x = a.x + 1; x < last_x; x++) {
		put(g, x, a.y, STYLE_FRAME, 0x2500);
		put(g, x, last_y, STYLE_FRAME, 0x2500);
	}
	for (int y = a.y + 1; y < last_y; y++) {
		put(g, a.x, y, STYLE_FRAME, 0x2502);
		put(g, last_x, y, STYLE_FRAME, 0x2502);
	}
	put(g, a.x, a.y, STYLE_FRAME, 0x250c);
	put(g, last_x, a.y, STYLE_FRAME, 0x2510);
	put(g, a.x, last_y, STYLE_FRAME, 0x2514);
	put(g, last_x, last_y, STYLE_FRAME, 0x2518);
	if (title && a.width > 4)
		grid_text(g, a.x + 2, a.y, a.width - 4, STYLE_TITLE, title);
	if (right && a.width > 4 &&
	    grid_cells(right) + (title ? grid_cells(title) : 0) + 6 <= a.width)
		grid_right(g, a.x + 2, a.y, a.width - 4, STYLE_DIM, right);
	return (struct area){ a.x + 1, a.y + 1, a.width - 2, a.height - 2 };
}

enum style grid_band(double part)
{
	if (part < 0.2)
		return STYLE_GOOD;
	if (part < 0.4)
		return STYLE_FAIR;
	if (part < 0.6)
		return STYLE_MIDDLE;
	return part < 0.8 ? STYLE_HIGH : STYLE_BAD;
}

void grid_bar(struct grid *g, int x, int y, int width, double part, enum style style)
{
	/* U+2588 is the whole block, U+258F the thinnest. */
	double whole = (double)width * EIGHTHS;
	double wanted = part > 0 ? part * whole + 0.5 : 0;
	int eighths = wanted < whole ? (int)wanted : (int)whole;

	/* Something is never shown as nothing. */
	if (eighths == 0 && part > 0)
		eighths = 1;
	if (style == STYLE_TEXT)
		style = grid_band(part);
	for (int i = 0; i < width; i++) {
		int here = eighths - i * EIGHTHS;

		if (here >= EIGHTHS)
			put(g, x + i, y, style, 0x2588);
		else if (here > 0)
			put(g, x + i, y, style, (uint32_t)(0x2590 - here));
	}
}

void grid_spark(struct grid *g, int x, int y, int width, struct grid_series of, enum style style)
{
	const double *values = of.values;
	size_t nr = of.nr;
	double max = of.max > 0 ? of.max : 0;

	for (size_t i = 0; !(of.max > 0) && i < nr; i++)
		max = values[i] > max ? values[i] : max;
	for (int i = 0; i < width && (size_t)i < nr; i++) {
		double part = max > 0 ? values[nr - 1 - (size_t)i] / max : 0;
		int level = 0;

		if (part > 0)
			level = part < 1 ? (int)(part * EIGHTHS + 0.5) : EIGHTHS;
		if (level == 0 && part > 0)
			level = 1;
		if (level > 0)
			put(g, x + width - 1 - i, y, style == STYLE_TEXT ? grid_band(part) : style,
			    (uint32_t)(0x2580 + level));
	}
}

uint32_t grid_braille(unsigned int left, unsigned int right)
{
	static const uint32_t lefts[] = { 0x40, 0x04, 0x02, 0x01 };
	static const uint32_t rights[] = { 0x80, 0x20, 0x10, 0x08 };
	uint32_t code = 0x2800;

	for (unsigned int i = 0; i < 4; i++)
		code |= (left >> i & 1 ? lefts[i] : 0) | (right >> i & 1 ? rights[i] : 0);
	return code;
}

static void print_code(uint32_t code, FILE *out)
{
	char bytes[4];
	size_t len = 1;

	if (code < 0x80) {
		bytes[0] = (char)code;
	} else if (code < 0x800) {
		bytes[0] = (char)(0xc0 | code >> 6);
		bytes[1] = (char)(0x80 | (code & 0x3f));
		len = 2;
	} else if (code < 0x10000) {
		bytes[0] = (char)(0xe0 | code >> 12);
		bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (code & 0x3f));
		len = 3;
	} else {
		bytes[0] = (char)(0xf0 | code >> 18);
		bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
		bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[3] = (char)(0x80 | (code & 0x3f));
		len = 4;
	}
	fwrite(bytes, 1, len, out);
}

void grid_print(const struct grid *g, FILE *out)
{
	for (int y = 0; y < g->height; y++) {
		const struct cell *row = &g->cells[(size_t)y * g->width];
		int end = g->width;

		while (end && (row[end - 1].code == ' ' || row[end - 1].code == 0))
			end--;
		for (int x = 0; x < end; x++)
			if (row[x].code)
				print_code(row[x].code, out);
		fputc('\n', out);
	}
}
