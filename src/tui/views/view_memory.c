#include <math.h>
#include <stdio.h>

#include "tui/format.h"
#include "tui/table_view.h"
#include "tui/views/parts.h"
#include "tui/views/views.h"

#define TWO_COLUMNS   90
#define SUMMARY_BAR   26 /* cells before the bar of a line */
#define RATES_LINES   12
#define CHART_LINES   6 /* at least */
#define CHART_WIDTH   60
#define ROWS_MAX      40
#define SPARKLINE_MAX 256
#define NR_PRESSURES  5 /* the first rates */

enum whole { OF_MEMORY, OF_SWAP, OF_LIMIT, OF_SLAB };

struct memory_row {
	const char *name;
	double bytes, part;
	enum style style;
};

struct rate_row {
	const char *name;
	double value;
	struct machine_history past;
	bool is_share;
};

/* What is most important first: small screens show no more. */
static const struct {
	const char *name;
	size_t at;
	enum whole of;
	enum style style;
} sizes[] = {
#define SIZE(name, member, of, style)                                          \
	{                                                                      \
		name, offsetof(struct machine_memory, member##_kib), of, style \
	}
	SIZE("available", available, OF_MEMORY, STYLE_GOOD),
	SIZE("free", free, OF_MEMORY, STYLE_GOOD),
	SIZE("swap free", swap_free, OF_SWAP, STYLE_GOOD),
	SIZE("cached", cached, OF_MEMORY, STYLE_USER),
	SIZE("buffers", buffers, OF_MEMORY, STYLE_USER),
	SIZE("anonymous", anonymous, OF_MEMORY, STYLE_USER),
	SIZE("mapped", mapped, OF_MEMORY, STYLE_USER),
	SIZE("shared", shared, OF_MEMORY, STYLE_USER),
	SIZE("active", active, OF_MEMORY, STYLE_USER),
	SIZE("active anonymous", active_anonymous, OF_MEMORY, STYLE_USER),
	SIZE("active files", active_file, OF_MEMORY, STYLE_USER),
	SIZE("inactive", inactive, OF_MEMORY, STYLE_USER),
	SIZE("inactive anonymous", inactive_anonymous, OF_MEMORY, STYLE_USER),
	SIZE("inactive files", inactive_file, OF_MEMORY, STYLE_USER),
	SIZE("unevictable", unevictable, OF_MEMORY, STYLE_USER),
	SIZE("locked", locked, OF_MEMORY, STYLE_USER),
	SIZE("slab", slab, OF_MEMORY, STYLE_KERNEL),
	SIZE("slab reclaimable", slab_reclaimable, OF_SLAB, STYLE_KERNEL),
	SIZE("slab unreclaimable", slab_unreclaimable, OF_SLAB, STYLE_KERNEL),
	SIZE("kernel stacks", kernel_stacks, OF_MEMORY, STYLE_KERNEL),
	SIZE("page tables", page_tables, OF_MEMORY, STYLE_KERNEL),
	SIZE("dirty", dirty, OF_MEMORY, STYLE_MIDDLE),
	SIZE("writeback", writeback, OF_MEMORY, STYLE_MIDDLE),
	SIZE("writeback buffers", writeback_temporary, OF_MEMORY, STYLE_MIDDLE),
	SIZE("NFS unstable", nfs_unstable, OF_MEMORY, STYLE_MIDDLE),
	SIZE("bounce buffers", bounce, OF_MEMORY, STYLE_MIDDLE),
	SIZE("committed", committed, OF_LIMIT, STYLE_USER),
	SIZE("commit limit", commit_limit, OF_LIMIT, STYLE_DIM),
	SIZE("swap cached", swap_cached, OF_SWAP, STYLE_USER),
	SIZE("memory", total, OF_MEMORY, STYLE_DIM),
	SIZE("swap", swap_total, OF_SWAP, STYLE_DIM),
#undef SIZE
};
#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static double bytes_of(uint64_t kib)
{
	return kib == MACHINE_NO_KIB ? NAN : (double)kib * 1024;
}

static double used_of(uint64_t whole, uint64_t left)
{
	double used = bytes_of(whole) - bytes_of(left);

	return used < 0 ? 0 : used;
}

static double whole_of(const struct machine_memory *m, enum whole of)
{
	const uint64_t wholes[] = { [OF_MEMORY] = m->total_kib,
		                    [OF_SWAP] = m->swap_total_kib,
		                    [OF_LIMIT] = m->commit_limit_kib,
		                    [OF_SLAB] = m->slab_kib };

	return bytes_of(wholes[of]);
}

static struct memory_row row_of(const char *name, double bytes, double whole, enum style style)
{
	return (struct memory_row){ name, bytes, whole > 0 ? bytes / whole : NAN, style };
}

/* What this kernel does not report has no row. */
static int list_sizes(const struct machine_memory *m, struct memory_row out[ROWS_MAX])
{
	int nr = 0;

	out[nr++] = row_of("used", used_of(m->total_kib, m->available_kib), whole_of(m, OF_MEMORY),
	                   STYLE_TEXT);
	out[nr++] = row_of("swap used", used_of(m->swap_total_kib, m->swap_free_kib),
	                   whole_of(m, OF_SWAP), STYLE_TEXT);
	for (size_t i = 0; i < NR_SIZES; i++) {
		double bytes = bytes_of(
			*(const uint64_t *)(const void *)((const char *)m + sizes[i].at));

		if (!isnan(bytes))
			out[nr++] = row_of(sizes[i].name, bytes, whole_of(m, sizes[i].of),
			                   sizes[i].style);
	}
	return nr;
}

static int list_rates(const struct machine_memory *m, struct rate_row out[ROWS_MAX])
{
	const struct machine_memory_past *p = &m->past;
	const struct rate_row rows[] = {
		{ "CPU pressure, some %", m->cpu_some, p->cpu_some, true },
		{ "memory pressure, some %", m->memory_some, p->memory_some, true },
		{ "memory pressure, full %", m->memory_full, p->memory_full, true },
		{ "I/O pressure, some %", m->io_some, p->io_some, true },
		{ "I/O pressure, full %", m->io_full, p->io_full, true },
		{ "major faults/s", m->major_faults_per_s, p->major_faults_per_s, false },
		{ "minor faults/s", m->minor_faults_per_s, p->minor_faults_per_s, false },
		{ "pages swapped in/s", m->swap_in_per_s, p->swap_in_per_s, false },
		{ "pages swapped out/s", m->swap_out_per_s, p->swap_out_per_s, false },
	};
	int nr = sizeof(rows) / sizeof(rows[0]);

	for (int i = 0; i < nr; i++)
		out[i] = rows[i];
	return nr;
}

CELL(size_bar)
{
	const struct memory_row *r = row;

	out->bar = r->part;
	out->style = r->style;
}

static const struct table_view_column size_columns[] = {
	{ "MEMORY", 11, 18, 0, true, false, false, 0, 0,
	  CELL_OF(struct memory_row, name, TEXT, DIM) },
	{ "SIZE", 6, 0, 1, false, false, false, 0, 0,
	  CELL_OF(struct memory_row, bytes, BYTES, NONE) },
	{ "%", 6, 0, 2, false, false, false, 0, 0,
	  CELL_OF(struct memory_row, part, PERCENT, DIM_UNKNOWN) },
	{ "", 6, 200, 3, true, false, false, 0, 0, .cell = size_bar },
};

static void put_rate(const struct rate_row *r, double value, const struct screen *s,
                     struct table_view_cell *out)
{
	if (r->is_share)
		format_percent(out->text, value);
	else
		format_count(out->text, value, s->is_localized);
	out->style = value > 0 ? STYLE_TEXT : STYLE_DIM;
}

CELL(rate_now)
{
	const struct rate_row *r = row;

	put_rate(r, r->value, s, out);
}

CELL(rate_most)
{
	const struct rate_row *r = row;

	put_rate(r, r->past.nr ? parts_largest(&r->past, SPARKLINE_MAX) : NAN, s, out);
}

CELL(rate_past)
{
	const struct rate_row *r = row;

	out->spark = r->past;
	out->spark_max = 0;
	out->style = STYLE_MIDDLE;
}

static const struct table_view_column rate_columns[] = {
	{ "", 15, 23, 0, true, false, false, 0, 0, CELL_OF(struct rate_row, name, TEXT, DIM) },
	{ "NOW", 6, 0, 1, false, true, false, 0, 0, .cell = rate_now },
	{ "MAX", 6, 0, 3, false, true, false, 0, 0, .cell = rate_most },
	{ "BEFORE", 8, 200, 2, true, false, false, 0, 0, .cell = rate_past },
};

static void draw_sizes(const struct machine_memory *m, struct screen *s, struct grid *g,
                       struct area a)
{
	struct memory_row rows[ROWS_MAX];
	const void *places[ROWS_MAX];
	int nr = list_sizes(m, rows), height = table_view_height(a);

	for (int i = 0; i < nr; i++)
		places[i] = &rows[i];
	table_view_scroll(s, nr, height);
	table_view_draw(
		&(struct table_view){ .columns = size_columns,
	                              .nr_columns = sizeof(size_columns) / sizeof(size_columns[0]),
	                              .rows = places + s->scroll,
	                              .nr_rows = nr - s->scroll < height ? nr - s->scroll : height,
	                              .first = s->scroll,
	                              .total = nr,
	                              .selected = s->selected },
		s, g, a);
}

static void draw_rates(const struct machine_memory *m, int most, const struct screen *s,
                       struct grid *g, struct area a)
{
	struct rate_row rows[ROWS_MAX];
	const void *places[ROWS_MAX];
	int nr = list_rates(m, rows), height = table_view_height(a);

	nr = nr < most ? nr : most;
	for (int i = 0; i < nr; i++)
		places[i] = &rows[i];
	table_view_draw(&(struct table_view){ .columns = rate_columns,
	                                      .nr_columns = sizeof(rate_columns) /
	                                                    sizeof(rate_columns[0]),
	                                      .rows = places,
	                                      .nr_rows = nr < height ? nr : height,
	                                      .total = nr < height ? nr : height,
	                                      .selected = -1 },
	                s, g, a);
}

static void title_of(const struct machine_memory *m, char title[static 96])
{
	char used[FORMAT_BYTES], total[FORMAT_BYTES];

	snprintf(title, 96, " Memory %s/%s used ",
	         format_bytes(used, used_of(m->total_kib, m->available_kib)),
	         format_bytes(total, bytes_of(m->total_kib)));
}

static void title_of_rate(const struct rate_row *r, double max, const struct screen *s,
                          char title[static 96])
{
	struct table_view_cell now, most;

	put_rate(r, r->value, s, &now);
	put_rate(r, max, s, &most);
	if (max > 0)
		snprintf(title, 96, " %s: %.16s, up to %.16s ", r->name, now.text, most.text);
	else
		snprintf(title, 96, " %s: %.16s ", r->name, now.text);
}

/* A chart of each, in as many columns as there is width for; without room for all, the first ones. */
static void draw_charts(const struct machine *m, const struct screen *s, struct grid *g,
                        struct area a)
{
	const struct machine_memory *mem = &m->memory;
	struct rate_row rows[ROWS_MAX];
	int nr = list_rates(mem, rows) + 1, columns = a.width / CHART_WIDTH, lines;

	columns = columns < 1 ? 1 : columns;
	if (nr > columns * (a.height / CHART_LINES))
		nr = columns * (a.height / CHART_LINES);
	lines = (nr + columns - 1) / columns;
	for (int i = 0; i < nr; i++) {
		const struct rate_row *r = &rows[i ? i - 1 : 0];
		int x = i % columns * a.width / columns, to = (i % columns + 1) * a.width / columns;
		int y = i / columns * a.height / lines, end = (i / columns + 1) * a.height / lines;
		struct area box = { a.x + x, a.y + y, to - x, end - y };
		struct parts_chart c = { .max = 1, .style = STYLE_TEXT };
		char title[96];

		if (i == 0) {
			title_of(mem, title);
			c.of = mem->past.used;
		} else {
			title_of_rate(r, parts_largest(&r->past, box.width - 4), s, title);
			c = (struct parts_chart){ .of = r->past, .style = STYLE_MIDDLE };
		}
		c.title = title;
		parts_chart(m, &c, g, box);
	}
}

/* All numbers without bars, in as many columns as it takes. */
static void draw_numbers(const struct machine_memory *m, const struct screen *s, struct grid *g,
                         struct area a)
{
	struct memory_row sizes_[ROWS_MAX];
	struct rate_row rates[ROWS_MAX];
	int nr = list_sizes(m, sizes_), all = nr + list_rates(m, rates);
	int columns = a.height > 0 ? (all + a.height - 1) / a.height : 0, width;

	if (columns < 1)
		return;
	width = a.width / columns;
	for (int i = 0; i < all; i++) {
		struct area line = { a.x + i / a.height * width, a.y + i % a.height,
			             width < 42 ? width - 2 : 40, 1 };
		struct table_view_cell cell = { .text = "" };

		if (i < nr)
			format_bytes(cell.text, sizes_[i].bytes);
		else
			put_rate(&rates[i - nr], rates[i - nr].value, s, &cell);
		parts_value(g, line, i < nr ? sizes_[i].name : rates[i - nr].name, cell.text);
	}
}

static void draw_bars(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	struct area left = a, right = a;
	char title[96];

	title_of(&m->memory, title);
	if (a.width >= TWO_COLUMNS) {
		left.width = a.width / 2;
		right.x += left.width;
		right.width -= left.width;
		right.height = a.height < RATES_LINES ? a.height : RATES_LINES;
	} else {
		left.height = a.height >= 2 * RATES_LINES - 2 ? a.height - RATES_LINES
		              : a.height > 4                  ? a.height * 3 / 5
		                                              : a.height;
		right.y += left.height;
		right.height -= left.height;
	}
	draw_sizes(&m->memory, s, g, panel_begin(g, left, title, NULL));
	if (right.height > 0)
		draw_rates(&m->memory, ROWS_MAX, s, g,
		           panel_begin(g, right, " Pressure and faults ", NULL));
	if (a.width >= TWO_COLUMNS)
		draw_charts(m, s, g,
		            (struct area){ right.x, right.y + right.height, right.width,
		                           a.height - right.height });
}

static void draw(const struct machine *m, struct screen *s, struct grid *g, struct area a)
{
	char title[96];

	if (s->shape == SHAPE_SPARKS && a.height >= CHART_LINES) {
		draw_charts(m, s, g, a);
	} else if (s->shape == SHAPE_TABLE) {
		/* Without a frame all of them have room on 80x24. */
		title_of(&m->memory, title);
		grid_text(g, a.x, a.y, a.width, STYLE_TITLE, title);
		draw_numbers(&m->memory, s, g,
		             (struct area){ a.x + 1, a.y + 1, a.width - 1, a.height - 1 });
	} else {
		draw_bars(m, s, g, a);
	}
}

static int rows(const struct machine *m, const struct screen *s)
{
	struct memory_row all[ROWS_MAX];

	return s->shape == SHAPE_BARS ? list_sizes(&m->memory, all) : 0;
}

/* A name, how much, a bar of the whole. */
static void draw_share(const struct memory_row *r, struct grid *g, struct area a)
{
	char value[FORMAT_BYTES];

	parts_value(g, (struct area){ a.x, a.y, SUMMARY_BAR - 7, 1 }, r->name,
	            format_bytes(value, r->bytes));
	grid_right(g, a.x + SUMMARY_BAR - 7, a.y, 6, STYLE_TEXT, format_percent(value, r->part));
	grid_text(g, a.x + SUMMARY_BAR - 1, a.y, 1, STYLE_DIM, "%");
	grid_bar(g, a.x + SUMMARY_BAR + 1, a.y, a.width - SUMMARY_BAR - 1, r->part, r->style);
}

void pressure_draw(const struct machine *m, const struct screen *s, struct grid *g, struct area a)
{
	draw_rates(&m->memory, NR_PRESSURES, s, g,
	           panel_begin(g, a, " Pressure: time that some or all tasks stood still ", NULL));
}

void memory_summary_draw(const struct machine *m, struct grid *g, struct area a)
{
	struct memory_row all[ROWS_MAX];
	int nr = list_sizes(&m->memory, all);
	char title[96];
	struct area in;

	title_of(&m->memory, title);
	in = panel_begin(g, a, title, NULL);
	for (int i = 0; i < nr && i < in.height; i++)
		draw_share(&all[i], g, (struct area){ in.x, in.y + i, in.width, 1 });
}

const struct view view_memory = {
	.id = "memory",
	.title = "Memory",
	.state = "Memory",
	.what = "memory, swap, faults and pressure",
	.needs = MACHINE_MEMORY,
	.draw = draw,
	.rows = rows,
};
